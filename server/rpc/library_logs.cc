#include "server/rpc/library_logs.h"

#include "google/protobuf/stubs/common.h"
#include "grpcpp/grpcpp.h"
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
void LogForGrpc(gpr_log_func_args* args) {
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
