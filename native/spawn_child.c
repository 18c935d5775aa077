/* What a target is made of before its program: group, descriptors, directory, attributes, signals. */
#include "spawn_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"

_Noreturn void spawn_fail(struct child *child, enum wire_step step, int error, const char *subject) {
  child->result->step = (uint8_t)step;
  child->result->error = error;
  if (subject != NULL) {
    size_t n = strnlen(subject, SPAWN_SUBJECT_BYTES - 1);
    memcpy(child->result->subject, subject, n);
    child->result->subject[n] = '\0';
  }
  _exit(127);
}

static _Noreturn void fail_number(struct child *child, enum wire_step step, int error, uint64_t number) {
  char digits[24], *at = digits + sizeof digits - 1;
  *at = '\0';
  do *--at = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  spawn_fail(child, step, error, at);
}

static bool is_passed(const struct spawn_request *r, uint32_t number) {
  for (size_t i = 0; i < r->fd_count; i++)
    if (r->numbers[i] == number) return true;
  return false;
}

/* Moves every passed descriptor to its number. A source whose own number is wanted is first moved to one that is not, so that
 * no dup2 can overwrite a source still needed (0 and 1 swapped, and so on). Copies that land on a wanted number are overwritten. */
static void place_descriptors(struct child *child, int *sources) {
  const struct spawn_request *r = child->request;
  for (size_t i = 0; i < r->fd_count; i++)
    for (sources[i] = r->fds[i]; is_passed(r, (uint32_t)sources[i]);) {
      sources[i] = FAULT(fcntl) ? -1 : fcntl(r->fds[i], F_DUPFD_CLOEXEC, sources[i] + 1);
      if (sources[i] == -1) fail_number(child, STEP_DESCRIPTOR, errno, r->numbers[i]);
    }
  for (size_t i = 0; i < r->fd_count; i++) /* dup2 clears CLOEXEC on the copy */
    if (FAULT(dup2) || dup2(sources[i], (int)r->numbers[i]) == -1) fail_number(child, STEP_DESCRIPTOR, errno, r->numbers[i]);
}

/* Closes all descriptors but the passed ones: 0-2 one by one, then the gaps between the passed numbers. */
static void close_others(struct child *child) {
  const struct spawn_request *r = child->request;
  for (uint32_t number = 0; number <= 2; number++)
    if (!is_passed(r, number)) close((int)number);
  for (uint32_t from = 3;;) {
    uint32_t next = UINT32_MAX; /* the lowest passed number at or above `from` */
    for (size_t i = 0; i < r->fd_count; i++)
      if (r->numbers[i] >= from && r->numbers[i] < next) next = r->numbers[i];
    if (next > from && (FAULT(close_range) || syscall(SYS_close_range, from, next == UINT32_MAX ? UINT32_MAX : next - 1, 0) == -1))
      spawn_fail(child, STEP_DESCRIPTOR, errno, "close_range");
    if (next == UINT32_MAX) return;
    from = next + 1;
  }
}

static void join_group(struct child *child) {
  const struct spawn_request *r = child->request;
  if (r->terminal == WIRE_TERMINAL_PLAIN) {
    /* setpgid, not setsid: a group without a session of its own can still be stopped by SIGTSTP. */
    if (FAULT(setpgid) || setpgid(0, 0) == -1) spawn_fail(child, STEP_GROUP, errno, "setpgid");
    return;
  }
  if (FAULT(setsid) || setsid() == -1) spawn_fail(child, STEP_SESSION, errno, "setsid");
}

static void set_attributes(struct child *child) {
  const struct spawn_request *r = child->request;
  if (!r->inherited) umask((mode_t)r->umask);
  for (size_t i = 0; i < r->limit_count; i++) {
    const struct spawn_limit *limit = &r->limits[i];
    struct rlimit value = {
        .rlim_cur = limit->soft == UINT64_MAX ? RLIM_INFINITY : limit->soft,
        .rlim_max = limit->hard == UINT64_MAX ? RLIM_INFINITY : limit->hard,
    };
    if (FAULT(setrlimit) || syscall(SYS_prlimit64, 0, limit->resource, &value, NULL) == -1)
      fail_number(child, STEP_LIMIT, errno, (uint64_t)limit->resource);
  }
  if (r->nice_set && (FAULT(setpriority) || setpriority(PRIO_PROCESS, 0, r->nice) == -1))
    fail_number(child, STEP_NICE, errno, (uint64_t)(r->nice < 0 ? -r->nice : r->nice));
}

static void set_signals(const struct child *child) {
  struct disposition action;
  memset(&action, 0, sizeof action);
  for (int signal = 1; signal <= LAST_SIGNAL; signal++) {
    if (((child->disposed >> (signal - 1)) & 1) == 0) continue;
    action.handler = (child->request->ignored >> (signal - 1)) & 1 ? SIG_IGN : SIG_DFL;
    syscall(SYS_rt_sigaction, signal, &action, NULL, sizeof action.mask);
  }
  uint64_t none = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}

int spawn_child(void *argument) {
  struct child *child = argument;
  const struct spawn_request *r = child->request;
  int sources[SPAWN_MAX_FDS];

  /* The agent's death is the target's. It may have died before the call took hold, hence the look at the parent. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != child->parent) _exit(127);
  join_group(child);
  if (!r->inherited && r->cwd == NULL && (FAULT(fchdir) || fchdir(r->cwd_fd) == -1)) spawn_fail(child, STEP_DIRECTORY, errno, "");
  if (!r->inherited) place_descriptors(child, sources);
  if (!r->inherited) close_others(child);
  if (r->terminal != WIRE_TERMINAL_PLAIN && (FAULT(ioctl) || ioctl((int)r->terminal_fd, TIOCSCTTY, 0) == -1))
    fail_number(child, STEP_TERMINAL, errno, r->terminal_fd);
  /* After close_others: no path through /proc/self/fd can reach a descriptor of the agent. */
  if (!r->inherited && r->cwd != NULL && (FAULT(chdir) || chdir(r->cwd) == -1) && !(r->cwd_or_root && chdir("/") == 0))
    spawn_fail(child, STEP_DIRECTORY, errno, r->cwd);
  set_attributes(child);
  set_signals(child);
  spawn_program(child);
}
