/* Descriptors and Unix sockets: one syscall a function, no JS, no policy.
 * Each returns >= 0, or -errno. EINTR is retried here and nowhere else. Every descriptor made here is CLOEXEC from birth. */
#ifndef HOLDFAST_FD_H
#define HOLDFAST_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "protocol.h"

/* Closes `fd` once; errno is kept. EINTR is not retried: Linux has freed the number by then (close(2), NOTES). */
void fd_close(int fd);

/* A bound and listening SOCK_STREAM socket, non-blocking. The caller owns it. `path` must be free. */
int fd_listen(const char *path, int backlog);
/* A bound SOCK_DGRAM socket, non-blocking, that receives what fd_notify() sends. */
int fd_bind_datagram(const char *path);
/* The next connection, non-blocking; -EAGAIN when there is none. The caller owns it. */
int fd_accept(int listener);
/* A connected socket, non-blocking from the moment it is connected. -EAGAIN: the backlog is full. */
int fd_connect(const char *path);

/* One recvmsg(2), and the only one in this addon. Returns bytes read, 0 at end of stream.
 * On success the caller owns fds[0..*nfds). On failure *nfds is 0 and nothing is left open; -EMSGSIZE: descriptors were lost
 * on the way (truncated), so which is which is no longer known. */
ssize_t fd_receive(int sock, void *into, size_t bytes, int fds[WIRE_MAX_FDS], size_t *nfds);
/* One sendmsg(2). Returns bytes taken; `fds` ride on the first byte and stay the caller's. Never raises SIGPIPE. */
ssize_t fd_send(int sock, const void *from, size_t bytes, const int *fds, size_t nfds);

struct fd_peer { pid_t pid; uid_t uid; gid_t gid; };
int fd_peer(int sock, struct fd_peer *out);

/* One sd_notify(3) datagram to a path or an "@abstract" address. */
int fd_notify(const char *address, const void *message, size_t bytes);

/* Opens or makes `path` (0600, never through a link) and takes flock(LOCK_EX). -EWOULDBLOCK when `wait` is false and it is held.
 * Closing the descriptor gives the lock back. */
int fd_lock(const char *path, bool wait);
/* A directory as a place to start from: O_PATH, never through a link. */
int fd_directory(const char *path);
/* Marks every descriptor from `first` up as CLOEXEC (close_range(2)). */
int fd_cloexec_from(unsigned first);

#endif
