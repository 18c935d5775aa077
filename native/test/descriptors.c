/* fd.c under the sanitizers: 0 to WIRE_MAX_FDS descriptors pass and none is left; with one too many, or truncated, all are closed.
 * A kernel sends no 254th, so scripts/sanitize.sh also builds this with a WIRE_MAX_FDS of 5, whose padding admits a 6th. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "fd.h"

enum { SCM_MAX = 253 };

static void pass(int from, int to, size_t count) {
  int sent[WIRE_MAX_FDS], got[WIRE_MAX_FDS];
  struct stat one, other;
  size_t received = 99;
  char byte = 'x', into[8];
  for (size_t i = 0; i < count; i++) CHECK((sent[i] = open(i % 2 ? "/dev/null" : "/dev/zero", O_RDONLY | O_CLOEXEC)) >= 0);
  CHECK(fd_send(from, &byte, 1, sent, count) == 1);
  CHECK(fd_receive(to, into, sizeof into, got, &received) == 1);
  CHECK(received == count && into[0] == 'x');
  for (size_t i = 0; i < count; i++) {
    CHECK(fstat(sent[i], &one) == 0 && fstat(got[i], &other) == 0 && one.st_ino == other.st_ino);
    CHECK(fcntl(got[i], F_GETFD) == FD_CLOEXEC);
    fd_close(sent[i]);
    fd_close(got[i]);
  }
}

/* Past fd_send(), which would refuse it. */
static void send_raw(int from, size_t count) {
  union { struct cmsghdr align; char bytes[CMSG_SPACE(SCM_MAX * sizeof(int))]; } control;
  struct iovec iov = {.iov_base = (char[]){"x"}, .iov_len = 1};
  struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(count * sizeof(int))};
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  memset(&control, 0, sizeof control);
  struct cmsghdr *c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(count * sizeof(int));
  for (size_t i = 0; i < count; i++) memcpy(CMSG_DATA(c) + i * sizeof fd, &fd, sizeof fd);
  CHECK(sendmsg(from, &message, 0) == 1);
  close(fd);
}

static void too_many(int from, int to) {
  int got[WIRE_MAX_FDS];
  char into[8];
  for (size_t count = WIRE_MAX_FDS + 1; count <= SCM_MAX && count < WIRE_MAX_FDS + 9; count++) {
    size_t received = 99;
    send_raw(from, count);
    CHECK(fd_receive(to, into, sizeof into, got, &received) == -EMSGSIZE);
    CHECK(received == 0);
  }
}

int main(void) {
  int pair[2], got[WIRE_MAX_FDS], many[WIRE_MAX_FDS + 1] = {0};
  size_t received;
  char into[8];
  int before = open_descriptors();
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
  int with_pair = open_descriptors();
  for (size_t count = 0; count <= WIRE_MAX_FDS; count++) {
    pass(pair[0], pair[1], count);
    CHECK(open_descriptors() == with_pair);
  }
  too_many(pair[0], pair[1]);
  CHECK(open_descriptors() == with_pair);
  CHECK(fd_send(pair[0], "x", 1, many, WIRE_MAX_FDS + 1) == -EINVAL);
  CHECK(fd_receive(pair[1], into, sizeof into, got, &received) == -EAGAIN && received == 0);
  fd_close(pair[0]);
  CHECK(fd_receive(pair[1], into, sizeof into, got, &received) == 0 && received == 0);
  fd_close(pair[1]);
  fd_close(-1);
  CHECK(open_descriptors() == before);
  printf("descriptors: 0 to %d passed, none left\n", WIRE_MAX_FDS);
  return 0;
}
