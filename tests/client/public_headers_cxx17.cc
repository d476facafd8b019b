// Compiled as C++17, and linked into a test, so that the public headers stay
// usable from there.
#include "client/client.h"
#include "client/decision.h"
#include "client/http_headers.h"
#include "client/options.h"
#include "client/request.h"
#include "client/stats.h"
#include "client/tls.h"

static_assert(__cplusplus < 202002L);

namespace tollgate::client {

bool AskFromCxx17(Client& client) {
  const Request request{"shop", {{{"user", "ana"}}}, 1};
  return client.ShouldAllow(request).allowed && client.stats().backstop == 1;
}

}  // namespace tollgate::client
