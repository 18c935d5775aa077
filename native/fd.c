#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "fault.h"

void fd_close(int fd) {
  int kept = errno;
  if (fd >= 0) close(fd);
  errno = kept;
}

/* -ENAMETOOLONG rather than a cut name: two long names must never become one socket. */
static int address_of(const char *path, struct sockaddr_un *out, socklen_t *bytes) {
  size_t length = strlen(path);
  if (length == 0) return -EINVAL;
  if (length >= sizeof out->sun_path) return -ENAMETOOLONG;
  memset(out, 0, sizeof *out);
  out->sun_family = AF_UNIX;
  memcpy(out->sun_path, path, length);
  *bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
  if (path[0] == '@') { /* abstract: a NUL in front, and no end (unix(7)) */
    out->sun_path[0] = '\0';
    *bytes -= 1;
  }
  return 0;
}

static int socket_at(int type, const char *path, int (*attach)(int, const struct sockaddr *, socklen_t)) {
  struct sockaddr_un address;
  socklen_t bytes;
  int fd, error = address_of(path, &address, &bytes);
  if (error < 0) return error;
  if (FAULT(socket)) return -errno;
  fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd == -1) return -errno;
  do error = attach(fd, (const struct sockaddr *)&address, bytes) == -1 ? -errno : 0;
  while (error == -EINTR);
  if (error == 0) return fd;
  fd_close(fd);
  return error;
}

/* The file must never be open to others, not even between bind(2) and chmod(2): the mode comes from the mask. */
static int bind_private(int fd, const struct sockaddr *address, socklen_t bytes) {
  mode_t mask = umask(0177);
  int result = FAULT(bind) ? -1 : bind(fd, address, bytes);
  umask(mask);
  return result;
}

static int connect_once(int fd, const struct sockaddr *address, socklen_t bytes) {
  return FAULT(connect) ? -1 : connect(fd, address, bytes);
}

int fd_listen(const char *path, int backlog) {
  int fd = socket_at(SOCK_STREAM | SOCK_NONBLOCK, path, bind_private);
  if (fd < 0) return fd;
  if (!FAULT(listen) && listen(fd, backlog) == 0) return fd;
  int error = -errno;
  unlink(path);
  fd_close(fd);
  return error;
}

int fd_bind_datagram(const char *path) { return socket_at(SOCK_DGRAM | SOCK_NONBLOCK, path, bind_private); }

int fd_connect(const char *path) { return socket_at(SOCK_STREAM | SOCK_NONBLOCK, path, connect_once); }

int fd_accept(int listener) {
  int fd;
  do fd = FAULT(accept) ? -1 : accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  while (fd == -1 && errno == EINTR);
  return fd == -1 ? -errno : fd;
}

union control { struct cmsghdr align; char bytes[CMSG_SPACE(WIRE_MAX_FDS * sizeof(int))]; };

/* Takes the descriptors out of one message; true when all that were sent arrived. */
static bool take_descriptors(struct msghdr *message, int fds[WIRE_MAX_FDS], size_t *nfds) {
  bool whole = !(message->msg_flags & MSG_CTRUNC);
  for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      if (*nfds < WIRE_MAX_FDS) {
        fds[(*nfds)++] = fd;
      } else { /* the padding of `control` admits one too many */
        fd_close(fd);
        whole = false;
      }
    }
  }
  return whole;
}

ssize_t fd_receive(int sock, void *into, size_t bytes, int fds[WIRE_MAX_FDS], size_t *nfds) {
  union control control;
  struct iovec iov = {.iov_base = into, .iov_len = bytes};
  struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t n;

  *nfds = 0;
  do n = FAULT(recvmsg) ? -1 : recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
  while (n == -1 && errno == EINTR);
  if (n == -1) return -errno;
  if (take_descriptors(&message, fds, nfds)) return n;
  while (*nfds > 0) fd_close(fds[--*nfds]);
  return -EMSGSIZE;
}

ssize_t fd_send(int sock, const void *from, size_t bytes, const int *fds, size_t nfds) {
  union control control;
  struct iovec iov = {.iov_base = (void *)(size_t)from, .iov_len = bytes};
  struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
  ssize_t n;

  if (nfds > WIRE_MAX_FDS) return -EINVAL;
  if (nfds > 0) {
    size_t fd_bytes = nfds * sizeof(int);
    memset(&control, 0, CMSG_SPACE(fd_bytes));
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(fd_bytes);
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fd_bytes);
    memcpy(CMSG_DATA(c), fds, fd_bytes);
  }
  do n = FAULT(sendmsg) ? -1 : sendmsg(sock, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (n == -1 && errno == EINTR);
  return n == -1 ? -errno : n;
}

int fd_peer(int sock, struct fd_peer *out) {
  struct ucred credentials;
  socklen_t bytes = sizeof credentials;
  if (FAULT(getsockopt) || getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) == -1) return -errno;
  *out = (struct fd_peer){.pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid};
  return 0;
}

int fd_notify(const char *address, const void *message, size_t bytes) {
  int fd = socket_at(SOCK_DGRAM, address, connect_once);
  if (fd < 0) return fd;
  ssize_t sent = fd_send(fd, message, bytes, NULL, 0);
  fd_close(fd);
  return sent < 0 ? (int)sent : 0;
}

int fd_lock(const char *path, bool wait) {
  int result, fd = FAULT(open) ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd == -1) return -errno;
  do result = FAULT(flock) ? -1 : flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB));
  while (result == -1 && errno == EINTR);
  if (result == 0) return fd;
  result = -errno;
  fd_close(fd);
  return result;
}

int fd_directory(const char *path) {
  int fd = FAULT(open) ? -1 : open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return fd == -1 ? -errno : fd;
}

int fd_cloexec_from(unsigned first) {
  return syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == -1 ? -errno : 0; /* Linux 5.11 */
}
