#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

static int change_fd = -1;

static void on_sigchld(int signal) {
  int kept = errno;
  uint64_t one = 1;
  (void)signal;
  if (write(change_fd, &one, sizeof one) == -1) {} /* EAGAIN: the counter is full, so it is readable already */
  errno = kept;
}

int process_watch_children(void) {
  if (change_fd >= 0) return change_fd;
  if (FAULT(eventfd)) return -errno;
  change_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (change_fd == -1) return -errno;
  struct sigaction action = {.sa_handler = on_sigchld, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  return sigaction(SIGCHLD, &action, NULL) == -1 ? -errno : change_fd;
}

static int wait_status_of(const siginfo_t *info) {
  switch (info->si_code) {
    case CLD_EXITED: return (info->si_status & 0xff) << 8;
    case CLD_KILLED: return info->si_status;
    case CLD_DUMPED: return info->si_status | 0x80;
    case CLD_CONTINUED: return 0xffff;
    default: return (info->si_status << 8) | 0x7f; /* CLD_STOPPED, CLD_TRAPPED */
  }
}

static uint64_t microseconds(struct timeval t) { return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec; }

/* The raw call: the C library's waitid() gives no rusage. __WALL: also children whose exit signal is not SIGCHLD. False: no change. */
static bool wait_for(pid_t which, int more, siginfo_t *info, struct rusage *usage) {
  int options = WEXITED | WSTOPPED | WCONTINUED | WNOHANG | __WALL | more;
  info->si_pid = 0;
  errno = 0;
  return !FAULT(waitid) && syscall(SYS_waitid, which == 0 ? P_ALL : P_PID, which, info, options, usage) == 0 && info->si_pid != 0;
}

int process_next_change(pid_t which, bool leaves_failed, struct process_change *out) {
  siginfo_t info;
  struct rusage usage;
  uint64_t drained;
  /* Drained before the look, so that a change after the look makes it readable again. */
  if (change_fd >= 0 && which == 0 && read(change_fd, &drained, sizeof drained) == -1) {}
  bool found = wait_for(which, leaves_failed ? WNOWAIT : 0, &info, &usage);
  bool is_left = found && leaves_failed && info.si_code == CLD_EXITED && info.si_status != 0;
  if (found && leaves_failed && !is_left) found = wait_for(info.si_pid, 0, &info, &usage);
  if (!found) {
    if (errno == 0 || errno == ECHILD) return 0;
    int error = errno;
    on_sigchld(SIGCHLD); /* the change that was not seen must make it readable again */
    return -error;
  }
  *out = (struct process_change){
      .pid = info.si_pid,
      .wait_status = wait_status_of(&info),
      .user_us = microseconds(usage.ru_utime),
      .system_us = microseconds(usage.ru_stime),
      .max_rss_kib = (uint64_t)usage.ru_maxrss,
      .minor_faults = (uint64_t)usage.ru_minflt,
      .major_faults = (uint64_t)usage.ru_majflt,
      .blocks_in = (uint64_t)usage.ru_inblock,
      .blocks_out = (uint64_t)usage.ru_oublock,
      .voluntary_switches = (uint64_t)usage.ru_nvcsw,
      .involuntary_switches = (uint64_t)usage.ru_nivcsw,
  };
  return is_left ? 2 : 1;
}

/* 0, 1 and negative numbers mean "everybody" or "a group" to kill(2): never from here. */
int process_kill(pid_t pid, int signal) {
  if (pid <= 1) return -EINVAL;
  return FAULT(kill) || kill(pid, signal) == -1 ? -errno : 0;
}

int process_kill_group(pid_t pgid, int signal) {
  if (pgid <= 1) return -EINVAL;
  return FAULT(kill) || kill(-pgid, signal) == -1 ? -errno : 0;
}

int64_t process_start_ticks(pid_t pid) {
  char path[32], line[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd == -1) return -errno;
  ssize_t n = read(fd, line, sizeof line - 1);
  close(fd);
  if (n <= 0) return -ESRCH;
  line[n] = '\0';
  char *at = strrchr(line, ')'); /* the name in field 2 may hold anything, blanks and brackets too */
  for (int field = 2; at != NULL && field < 22; field++) at = strchr(at + 1, ' ');
  return at == NULL ? -EPROTO : strtoll(at + 1, NULL, 10);
}

void process_die_by(int signal_number) {
  struct rlimit none = {0, 0};
  sigset_t only;
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0); /* a core_pattern with a pipe does not look at the limit (core(5)) */
  signal(signal_number, SIG_DFL);
  sigemptyset(&only);
  sigaddset(&only, signal_number);
  sigprocmask(SIG_UNBLOCK, &only, NULL);
  kill(getpid(), signal_number);
}

int process_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1) == -1 ? -errno : 0; }

int process_follow_parent(int signal) { return prctl(PR_SET_PDEATHSIG, signal) == -1 ? -errno : 0; }

/* kernfs counts a directory's links as on a disk: two, and one for each directory in it (fs/kernfs/inode.c). */
int process_cgroup_state(int directory, int events) {
  static const char empty[] = "populated 0";
  char text[64];
  struct statx facts; /* the call itself: fstat(2)'s symbol needs a newer C library than Node does, and older ones of musl have no statx(2) */
  ssize_t bytes = FAULT(pread) ? -1 : pread(events, text, sizeof text, 0);
  if (bytes == -1 || syscall(SYS_statx, directory, "", AT_EMPTY_PATH, STATX_NLINK, &facts) == -1) return -errno;
  if (bytes < (ssize_t)sizeof empty - 1 || memcmp(text, empty, sizeof empty - 1) != 0) return 2;
  return facts.stx_nlink > 2 ? 1 : 0;
}
