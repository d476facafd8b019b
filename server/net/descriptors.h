#ifndef TOLLGATE_SERVER_NET_DESCRIPTORS_H_
#define TOLLGATE_SERVER_NET_DESCRIPTORS_H_

namespace tollgate::net {

// `max_connections` (0: any number), or as many as the process's limit on
// descriptors allows, if that is fewer. 1 or more.
[[nodiscard]] int AffordableConnections(int max_connections);

// A descriptor to give up when there is no other; -1 if there is none.
[[nodiscard]] int OpenSpare();

// Closes a connection without a handshake, so that nothing of it stays in the
// kernel.
void CloseWithReset(int fd);

}  // namespace tollgate::net

#endif  // TOLLGATE_SERVER_NET_DESCRIPTORS_H_
