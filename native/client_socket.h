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

/* Bytes received, 0 at the end, or -errno. *given is a descriptor that rode along and is now the caller's, or is left alone.
 * More than one, or a truncated message: -EPROTO, with nothing left open. */
ssize_t socket_receive(int fd, void *into, size_t bytes, int *given);

#endif
