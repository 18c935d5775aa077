#include "client_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol.h"

int socket_open(void) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return fd < 0 ? -errno : fd;
}

int socket_connect(int fd, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(path);
  int result;
  if (length >= sizeof address.sun_path) return -ENAMETOOLONG;
  memcpy(address.sun_path, path, length + 1);
  do result = connect(fd, (const struct sockaddr *)&address, sizeof address);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

int socket_peer_uid(int fd, uid_t *uid) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -errno;
  *uid = peer.uid;
  return 0;
}

ssize_t socket_send(int fd, const void *data, size_t bytes, const int *fds, size_t fd_count) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(WIRE_MAX_FDS * sizeof(int))];
  } control;
  union { const void *in; void *out; } base = {.in = data}; /* sendmsg(2) takes what it only reads as void * */
  struct iovec part = {.iov_base = base.out, .iov_len = bytes};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  ssize_t sent;

  if (fd_count > WIRE_MAX_FDS) return -E2BIG;
  if (fd_count > 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = (socklen_t)CMSG_SPACE(fd_count * sizeof(int));
    memset(&control, 0, sizeof control.align);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = (socklen_t)CMSG_LEN(fd_count * sizeof(int));
    memcpy(CMSG_DATA(header), fds, fd_count * sizeof(int));
  }
  /* The call itself: musl's sendmsg(3) has room for 1 KiB of control data, which is less than 253 descriptors take. What it does
   * besides is to clear the padding of both structs, and that is done above. */
  do sent = syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : sent;
}

/* Takes every descriptor out of `message`; keeps the first when it is the only one. The control buffer holds one header. */
static int take_descriptor(struct msghdr *message, int *given) {
  struct cmsghdr *c = CMSG_FIRSTHDR(message);
  size_t arrived = 0;
  int kept = -1;
  if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      if (arrived++ == 0) kept = fd;
      else close(fd); /* padding of the control buffer can admit one too many */
    }
  }
  if (arrived == 0 && (message->msg_flags & MSG_CTRUNC) == 0) return 0;
  if (arrived == 0 && *given == GIVEN_NONE) return *given = GIVEN_LOST, 0;
  if (arrived == 1 && (message->msg_flags & MSG_CTRUNC) == 0 && *given == GIVEN_NONE) return *given = kept, 0;
  if (kept >= 0) close(kept);
  return -EPROTO;
}

ssize_t socket_receive(int fd, void *into, size_t bytes, int *given) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {.iov_base = into, .iov_len = bytes};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t got;

  do got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) return -errno;
  int result = take_descriptor(&message, given);
  return result < 0 ? result : got;
}
