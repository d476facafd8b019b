// Asks Tollgate before doing some work, as any service would. Run it with and
// without a server: it answers either way.
//
//   tollgate-example [HOST:PORT]
#include <iostream>

#include "absl/time/time.h"
#include "client/client.h"

namespace {

void Print(const tollgate::client::Decision& decision) {
  std::cout << tollgate::client::OutcomeName(decision.outcome) << " by "
            << tollgate::client::SourceName(decision.source);
  if (!decision.error.ok()) std::cout << " (" << decision.error << ")";
  std::cout << "\n";
  for (const auto& status : decision.statuses) {
    std::cout << "  " << status.rule << ": " << status.remaining << " of "
              << status.burst << " left\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  // One client for the whole process. Each option is described in
  // client/options.h; these are the ones that most services look at.
  tollgate::client::ClientOptions options;
  if (argc > 1) options.target = argv[1];
  options.timeout = absl::Milliseconds(20);  // the most a request may wait
  options.backstop_tokens = 100;             // while the service is gone

  auto client = tollgate::client::Client::Create(options);
  if (!client.ok()) {
    std::cerr << client.status() << "\n";  // names the option that is wrong
    return 2;
  }

  // Who asks for what. The rules of the domain decide what of it matters.
  tollgate::client::Request request;
  request.domain = "shop";
  request.descriptors = {{{"user", "ana"}, {"endpoint", "/search"}}};

  // Three requests in a row. With no server each is answered at once by the
  // backstop, here in the client: the work goes on, and is still limited.
  bool all_allowed = true;
  for (int i = 0; i < 3; ++i) {
    const tollgate::client::Decision decision = (*client)->ShouldAllow(request);
    Print(decision);
    if (!decision.allowed) {
      all_allowed = false;
      std::cout << "  try again in " << decision.retry_after << "\n";
    }
  }
  return all_allowed ? 0 : 1;
}
