#ifndef TOLLGATE_SERVER_APP_RUN_SERVER_H_
#define TOLLGATE_SERVER_APP_RUN_SERVER_H_

namespace tollgate {

// The whole life of tollgate-server. Returns its exit status: 0 after a drain
// that SIGTERM or SIGINT asked for, 1 if it cannot serve, 2 for bad flags or
// rules. A second signal ends the process with 1 at once. SIGHUP reloads the
// rules. Call it before there is any other thread.
int RunServer(int argc, const char* const* argv);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_RUN_SERVER_H_
