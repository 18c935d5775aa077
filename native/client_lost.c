#include "client_lost.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

enum { END_WAIT_MS = 1000, REAP_WAIT_MS = 200, NAP_MS = 5, INFO_EXIT = 1 << 3 };

/* struct pidfd_info of include/uapi/linux/pidfd.h, first version (Linux 6.13; PIDFD_INFO_EXIT since 6.15). */
struct pidfd_info_v0 {
  uint64_t mask, cgroup;
  uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
  int32_t exit_code;
};
_Static_assert(sizeof(struct pidfd_info_v0) == 64, "PIDFD_INFO_SIZE_VER0");

/* By syscall(2): the C libraries disagree on the type of a request. */
static const unsigned long get_info = _IOWR(0xFF, 11, struct pidfd_info_v0);

static bool has_ended(int pidfd, int wait_ms) {
  struct pollfd end = {.fd = pidfd, .events = POLLIN};
  return poll(&end, 1, wait_ms) > 0;
}

/* The kernel knows the status once somebody has reaped the target: that is now the reaper of orphans, and may take it a moment. */
static bool read_status(int pidfd, uint32_t *wait_status) {
  for (int waited_ms = 0; waited_ms <= REAP_WAIT_MS; waited_ms += NAP_MS) {
    struct pidfd_info_v0 info = {.mask = INFO_EXIT};
    struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    if (syscall(SYS_ioctl, pidfd, get_info, &info) < 0 && errno != ESRCH) return false;
    if ((info.mask & INFO_EXIT) != 0) return *wait_status = (uint32_t)info.exit_code, true;
    nanosleep(&nap, NULL);
  }
  return false;
}

void lost_settle(struct ending *ending) {
  if (!ending->spawned || ending->pidfd < 0) return;
  bool was_alive = !has_ended(ending->pidfd, 0);
  /* While the pidfd's process has not been reaped its number, and that of its group, belongs to nobody else. */
  if (was_alive && syscall(SYS_pidfd_send_signal, ending->pidfd, SIGKILL, NULL, 0) == 0) {
    kill(-(pid_t)ending->pid, SIGKILL);
    has_ended(ending->pidfd, END_WAIT_MS);
    return; /* its status would only tell of our own blow */
  }
  ending->status_known = read_status(ending->pidfd, &ending->wait_status);
}
