#include "client_signals.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LAST_SIGNAL = 64, KERNEL_SIGSET_BYTES = 8, FIRST_REALTIME = 34 };

/* Those that are told come first. */
static const int watched[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT, SIGPIPE, SIGTTIN, SIGTTOU};
enum { TOLD = 9, WATCHED = sizeof watched / sizeof *watched };

static sigset_t set_of(const int *signals, size_t count) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < count; i++) sigaddset(&set, signals[i]);
  return set;
}

/* The system call itself: both C libraries hide signals 32 and 33 (musl 34 too), which a caller can ignore as well as any. Only the
 * first word of the kernel's struct is read, and that is the handler on every architecture Node runs on. */
uint64_t signals_ignored(void) {
  uint64_t ignored = 0;
  for (int signal = 1; signal <= LAST_SIGNAL; signal++) {
    uintptr_t action[8] = {0};
    if (signal == SIGKILL || signal == SIGSTOP) continue;
    if (syscall(SYS_rt_sigaction, signal, NULL, action, KERNEL_SIGSET_BYTES) == 0 && action[0] == 1 /* SIG_IGN */) ignored |= 1ULL << (signal - 1);
  }
  return ignored;
}

/* Blocked signals wait in the kernel even while they are ignored: which of them count is for the reader to decide. */
int signals_watch(void) {
  sigset_t told = set_of(watched, TOLD), all = set_of(watched, WATCHED);
  sigprocmask(SIG_BLOCK, &all, NULL);
  int fd = signalfd(-1, &told, SFD_NONBLOCK | SFD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

void signals_unwatch(int fd) {
  sigset_t all = set_of(watched, WATCHED);
  close(fd);
  sigprocmask(SIG_UNBLOCK, &all, NULL);
}

void signals_let_in(void) {
  sigset_t told = set_of(watched, TOLD);
  sigprocmask(SIG_UNBLOCK, &told, NULL);
}

int signals_next(int fd) {
  struct signalfd_siginfo info;
  ssize_t got;
  do got = read(fd, &info, sizeof info);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

bool signals_stop_self(int signal) {
  struct sigaction plain = {.sa_handler = SIG_DFL}, before;
  sigset_t one = set_of(&signal, 1), mask, pending;
  if (signal == SIGSTOP) return kill(getpid(), SIGSTOP) == 0;
  sigaction(signal, &plain, &before);
  kill(getpid(), signal); /* still blocked: it takes effect with the next line, and only once */
  sigprocmask(SIG_UNBLOCK, &one, &mask);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  sigaction(signal, &before, NULL);
  /* Only SIGCONT ends a stop, and it is blocked: where none waits now, there was no stop. */
  return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

_Noreturn void signals_die(int signal) {
  struct rlimit none = {0, 0};
  struct sigaction plain = {.sa_handler = SIG_DFL};
  sigset_t one = set_of(&signal, 1);
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0); /* a core_pattern that is a pipe ignores the limit */
  sigaction(signal, &plain, NULL);
  kill(getpid(), signal);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  _exit(128 + signal); /* reached where the signal cannot kill: init of a container, a number that is not known here */
}

const char *signal_name(int signal, char out[16]) {
  static const char *const names[] = {
    NULL, "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT",
    "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
  };
  if (signal > 0 && signal < (int)(sizeof names / sizeof *names)) snprintf(out, 16, "SIG%s", names[signal]);
  else if (signal >= FIRST_REALTIME) snprintf(out, 16, "SIGRTMIN+%d", (signal - FIRST_REALTIME) % 100);
  else snprintf(out, 16, "SIG%d", signal % 1000);
  return out;
}
