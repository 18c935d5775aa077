#include "client_lost.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client_process.h"

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

enum { END_WAIT_MS = 1000, REAP_WAIT_MS = 200, NAP_MS = 5, INFO_EXIT = 1 << 3, WHOLE_GROUP = 1 << 2 /* PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9 */ };

/* struct pidfd_info of include/uapi/linux/pidfd.h, first version (Linux 6.13; PIDFD_INFO_EXIT since 6.15). */
struct pidfd_info_v0 {
  uint64_t mask, cgroup;
  uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
  int32_t exit_code;
};
_Static_assert(sizeof(struct pidfd_info_v0) == 64, "PIDFD_INFO_SIZE_VER0");

/* By syscall(2): the C libraries disagree on the type of a request. */
static const unsigned long get_info = _IOWR(0xFF, 11, struct pidfd_info_v0);

static int send_to(int pidfd, int signal, unsigned flags) { return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, flags); }

static bool has_ended(int pidfd, int wait_ms) {
  struct pollfd end = {.fd = pidfd, .events = POLLIN};
  return poll(&end, 1, wait_ms) > 0;
}

/* Where nobody reaps it (an init that does not), the zombie's last field has the status. */
static bool read_zombie(int pidfd, uint32_t *wait_status) {
  char path[64], text[2048];
  pid_t number = process_number(pidfd);
  if (number == 0) return false;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)number);
  if (process_read_file(path, text, sizeof text) == 0 || send_to(pidfd, 0, 0) < 0) return false; /* reaped meanwhile: it may be another's */
  const char *state = strrchr(text, ')'), *last = strrchr(text, ' ');
  if (state == NULL || strncmp(state, ") Z", 3) != 0 || last == NULL) return false;
  *wait_status = (uint32_t)strtoul(last + 1, NULL, 10);
  return true;
}

/* The kernel tells once somebody has reaped the target: that is now the reaper of orphans, and may take it a moment. */
static bool read_status(int pidfd, uint32_t *wait_status) {
  for (int waited_ms = 0; waited_ms <= REAP_WAIT_MS; waited_ms += NAP_MS) {
    struct pidfd_info_v0 info = {.mask = INFO_EXIT};
    struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    bool told = syscall(SYS_ioctl, pidfd, get_info, &info) == 0;
    if (told && (info.mask & INFO_EXIT) != 0) return *wait_status = (uint32_t)info.exit_code, true;
    if (read_zombie(pidfd, wait_status)) return true;
    if (!told && errno != ESRCH) return false;
    nanosleep(&nap, NULL);
  }
  return false;
}

static void kill_group(int pidfd) {
  if (send_to(pidfd, SIGKILL, WHOLE_GROUP) == 0) return;
  pid_t number = process_number(pidfd);
  /* While the pidfd's process is there, its number and that of its group belong to nobody else. */
  if (send_to(pidfd, SIGKILL, 0) == 0 && number != 0) kill(-number, SIGKILL);
}

void lost_settle(struct ending *ending) {
  if (!ending->spawned || ending->pidfd < 0) return;
  if (has_ended(ending->pidfd, 0)) {
    ending->status_known = read_status(ending->pidfd, &ending->wait_status);
    /* What it has left in its group. By number that would not be safe any more: the group may be gone, and the number another's. */
    send_to(ending->pidfd, SIGKILL, WHOLE_GROUP);
    return;
  }
  kill_group(ending->pidfd);
  has_ended(ending->pidfd, END_WAIT_MS); /* how it ended would only tell of our own blow */
}
