#include "server/app/run_server.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX signals
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/app/logging.h"
#include "server/app/server_app.h"
#include "server/app/server_options.h"
#include "server/base/heap.h"
#include "spdlog/spdlog.h"

namespace tollgate {
namespace {

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

// The signals that end us, blocked in every thread that is started from now
// on, so that only this one meets them, when it wants to.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);  // a peer that leaves is no reason
  // Nor is a state file above the limit for files: writing it says so too.
  sigaction(SIGXFSZ, &ignore, nullptr);
  return signals;
}

// From here on a signal ends the process wherever it stands; rules no longer
// matter.
void ExitOnSignal(const sigset_t& signals) {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGHUP, &ignore, nullptr);
  struct sigaction exit {};
  exit.sa_handler = [](int) { _exit(kExitFailure); };
  sigaction(SIGTERM, &exit, nullptr);
  sigaction(SIGINT, &exit, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

// Whether a signal that ends us came within `wait`.
bool SignalWithin(sigset_t signals, absl::Duration wait) {
  sigdelset(&signals, SIGHUP);
  const timespec timeout = absl::ToTimespec(wait);
  return sigtimedwait(&signals, nullptr, &timeout) > 0;
}

// Serves until a signal ends that, which it returns.
int ServeUntilSignal(const sigset_t& signals, ServerApp& app) {
  int signal = 0;
  sigwait(&signals, &signal);
  while (signal == SIGHUP) {
    spdlog::info("SIGHUP: reloading the rules");
    app.ReloadRules();
    sigwait(&signals, &signal);
  }
  return signal;
}

// Appears complete or not at all, because others wait for it.
absl::Status WritePortFile(const std::string& path, const ServerApp& app) {
  std::string text =
      absl::StrCat("grpc=", app.grpc_port(), "\nhttp=", app.http_port(), "\n");
  if (app.health_port() != 0) {
    absl::StrAppend(&text, "health=", app.health_port(), "\n");
  }
  const std::string temporary = absl::StrCat(path, ".", getpid());
  std::FILE* const file = std::fopen(temporary.c_str(), "we");
  bool written = file != nullptr &&
                 std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr && std::fclose(file) != 0) written = false;
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0) {
    return absl::OkStatus();
  }
  if (file != nullptr) unlink(temporary.c_str());
  return absl::UnavailableError(absl::StrCat(
      "--port-file: got \"", path, "\", want a path that can be written"));
}

// The host of `listen` with the port that was bound.
std::string BoundAddress(const std::string& listen, int port) {
  if (port == 0) return "off";
  return absl::StrCat(listen.substr(0, listen.rfind(':')), ":", port);
}

int Fail(const absl::Status& status) {
  spdlog::error("cannot start: {}", std::string(status.message()));
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailure;
}

// Shells give few descriptors unless asked, and a connection takes two.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Serve(const ServerOptions& options) {
  JoinFreedBlocksAtOnce();
  RaiseDescriptorLimit();
  const sigset_t signals = BlockSignals();
  // A file of an earlier run must not look like ours.
  if (!options.port_file.empty()) unlink(options.port_file.c_str());
  auto app = StartServerApp(options);
  if (!app.ok()) return Fail(app.status());
  if (!options.port_file.empty()) {
    const absl::Status status = WritePortFile(options.port_file, **app);
    if (!status.ok()) return Fail(status);
  }
  spdlog::info("tollgate-server {} ready: gRPC on {}, HTTP on {}",
               ServerVersion(),
               BoundAddress(options.listen, (*app)->grpc_port()),
               BoundAddress(options.http_listen, (*app)->http_port()));

  const int signal = ServeUntilSignal(signals, **app);
  (*app)->AnnounceShutdown();
  spdlog::info("{}: draining, a second signal exits at once",
               signal == SIGINT ? "SIGINT" : "SIGTERM");
  if (SignalWithin(signals, options.drain_delay)) _exit(kExitFailure);
  ExitOnSignal(signals);
  (*app)->Drain();
  spdlog::info("drained");
  return 0;
}

}  // namespace

int RunServer(int argc, const char* const* argv) {
  const absl::StatusOr<ParsedFlags> flags = ParseServerFlags(argc, argv);
  if (!flags.ok()) {
    const std::string message(flags.status().message());
    std::fprintf(stderr, "tollgate-server: %s\n", message.c_str());
    return kExitUsage;
  }
  if (!flags->text.empty()) {
    std::fputs(flags->text.c_str(), stdout);
    return 0;
  }
  StartLogging(flags->options.log_level, flags->options.log_format);
  return Serve(flags->options);
}

}  // namespace tollgate
