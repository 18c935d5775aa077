/* System calls on the client's one socket. Each retries EINTR and returns >= 0 or -errno. */
#ifndef HOLDFAST_CLIENT_SOCKET_H
#define HOLDFAST_CLIENT_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

/* A non-blocking, CLOEXEC stream socket; the caller owns it. */
int socket_open(void);

/* 0 or -errno. -ENAMETOOLONG: `path` does not fit into a socket address. */
int socket_connect(int fd, const char *path);

/* Effective user id of whoever listens on the other side. */
int socket_peer_uid(int fd, uid_t *uid);

/* Bytes sent, or -errno. Descriptors go with the first byte and stay the caller's. */
ssize_t socket_send(int fd, const void *data, size_t bytes, const int *fds, size_t fd_count);

/* What stands for a descriptor that was given: there was none, or our table had no room for it. */
enum { GIVEN_NONE = -1, GIVEN_LOST = -2 };

/* Bytes received, 0 at the end, or -errno. *given is a descriptor that rode along and is now the caller's, or GIVEN_LOST, or is left
 * alone. More than one: -EPROTO, with nothing left open. */
ssize_t socket_receive(int fd, void *into, size_t bytes, int *given);

#endif
