#ifndef TOLLGATE_SERVER_RPC_LIBRARY_LOGS_H_
#define TOLLGATE_SERVER_RPC_LIBRARY_LOGS_H_

namespace tollgate {

// Sends what gRPC logs to our own log, about ten lines a second at most, and
// keeps protobuf quiet, which would write a line for every message that is not
// UTF-8: any peer could fill a disk with them. For the whole process.
// Thread-safe.
void TakeOverLibraryLogs();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_LIBRARY_LOGS_H_
