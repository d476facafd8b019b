#include "absl/synchronization/mutex.h"
#include "server/app/run_server.h"

int main(int argc, char** argv) {
  // Debian's Abseil has the detector on: it slows every lock inside gRPC and
  // would abort the process where it suspects a cycle.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return tollgate::RunServer(argc, argv);
}
