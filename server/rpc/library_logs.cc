#include "server/rpc/library_logs.h"

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "google/protobuf/stubs/common.h"
#include "grpcpp/grpcpp.h"
#include "server/base/clock.h"
#include "spdlog/spdlog.h"

// Later releases of both log through Abseil, where these hooks are gone.
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include "google/protobuf/stubs/logging.h"
#define TOLLGATE_HAS_PROTOBUF_LOG_HANDLER
#endif
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 65
#include "grpc/support/log.h"
#define TOLLGATE_HAS_GRPC_LOG_FUNCTION
#endif

namespace tollgate {
namespace {

#ifdef TOLLGATE_HAS_GRPC_LOG_FUNCTION
// A peer can cause lines, such as of handshakes that fail: so many a second,
// about, and the others are dropped.
constexpr int kLinesASecond = 10;

bool MayLog() {
  static std::atomic<int64_t> last_second{0};
  static std::atomic<int> lines{0};
  const int64_t second =
      SteadyClock().NowNs() / absl::ToInt64Nanoseconds(absl::Seconds(1));
  if (last_second.exchange(second) != second) lines = 0;
  return ++lines <= kLinesASecond;
}

void LogForGrpc(gpr_log_func_args* args) {
  if (!MayLog()) return;
  switch (args->severity) {
    case GPR_LOG_SEVERITY_DEBUG:
      return spdlog::debug("grpc: {}", args->message);
    case GPR_LOG_SEVERITY_INFO:
      return spdlog::info("grpc: {}", args->message);
    case GPR_LOG_SEVERITY_ERROR:
      return spdlog::error("grpc: {}", args->message);
  }
}
#endif

}  // namespace

void TakeOverLibraryLogs() {
#ifdef TOLLGATE_HAS_PROTOBUF_LOG_HANDLER
  google::protobuf::SetLogHandler(nullptr);
#endif
#ifdef TOLLGATE_HAS_GRPC_LOG_FUNCTION
  gpr_set_log_function(LogForGrpc);
#endif
}

}  // namespace tollgate
