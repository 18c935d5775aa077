#include "spawn.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "spawn_child.h"

enum { CHILD_STACK_BYTES = 64 * 1024 };

/* Signals that this process ignores. Asked once: nothing here changes from handled to ignored later. */
static uint64_t own_ignored(void) {
  static uint64_t ignored;
  static bool known;
  for (int signal = 1; signal <= LAST_SIGNAL && !known; signal++) {
    struct disposition action = {0};
    if (syscall(SYS_rt_sigaction, signal, NULL, &action, sizeof action.mask) == 0 && action.handler == SIG_IGN) ignored |= UINT64_C(1) << (signal - 1);
  }
  known = true;
  return ignored;
}

/* clone3(2) with a stack of its own has no wrapper in the C library. The child never returns here: it calls spawn_child. */
static long clone3_call(struct clone_args *arguments, struct child *child) {
  long result;
#if defined(__x86_64__)
  register int (*entry)(void *) __asm__("r12") = spawn_child;
  register struct child *argument __asm__("r13") = child;
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "hlt\n"
      "1:"
      : "=a"(result)
      : "0"((long)SYS_clone3), "D"(arguments), "S"(sizeof *arguments), "r"(entry), "r"(argument)
      : "rcx", "r11", "rdx", "memory");
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = SYS_clone3;
  register long x0 __asm__("x0") = (long)arguments;
  register long x1 __asm__("x1") = (long)sizeof *arguments;
  register int (*entry)(void *) __asm__("x9") = spawn_child;
  register struct child *argument __asm__("x10") = child;
  __asm__ volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x10\n\t"
      "blr x9\n\t"
      "brk #0\n"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(entry), "r"(argument)
      : "memory", "x30");
  result = x0;
#else
  (void)arguments, (void)child;
  return -ENOSYS;
#endif
  return result;
}

/* The child leaves by execve or _exit, so its frames' redzones stay marked in what is the parent's stack again. */
static void forget_child_frames(const char *stack, size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  extern void __asan_unpoison_memory_region(const volatile void *, size_t);
  __asan_unpoison_memory_region(stack, bytes);
#else
  (void)stack, (void)bytes;
#endif
}

/* No handler of the agent runs in the child, where it would write to the agent's memory: CLONE_CLEAR_SIGHAND takes them all away. So no signal
 * has to be blocked here, and none is handed to another thread of the agent because this one could not take it. */
static long clone_cleared(const struct spawn_request *request, struct child *child, int *pidfd, char *stack) {
  struct clone_args arguments = {
      .flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
      .pidfd = (uint64_t)(size_t)pidfd,
      .exit_signal = SIGCHLD,
      .stack = (uint64_t)(size_t)stack,
      .stack_size = CHILD_STACK_BYTES,
  };
  if (request->cgroup_fd >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = (unsigned)request->cgroup_fd;
  }
  /* One flag in place of sixty calls; it spares only what is ignored. */
  child->disposed = own_ignored() | request->ignored;
  return FAULT(clone) ? -errno : clone3_call(&arguments, child);
}

/* clone(2) does the same, but for the cgroup and the handlers. */
static long clone_blocked(struct child *child, int *pidfd, char *stack) {
  sigset_t all, before;
  child->disposed = UINT64_MAX & ~(UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1));
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  long pid = clone(spawn_child, stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, child, pidfd);
  if (pid == -1) pid = -errno;
  sigprocmask(SIG_SETMASK, &before, NULL);
  return pid;
}

/* -ENOSYS and -EPERM of clone3 come from seccomp profiles that cannot look into its arguments. */
static long clone_child(const struct spawn_request *request, struct child *child, int *pidfd) {
  _Alignas(16) char stack[CHILD_STACK_BYTES];
  long pid = clone_cleared(request, child, pidfd, stack);
  if ((pid == -ENOSYS || pid == -EPERM) && request->cgroup_fd < 0) pid = clone_blocked(child, pidfd, stack);
  forget_child_frames(stack, sizeof stack);
  return pid;
}

int spawn_target(const struct spawn_request *request, struct spawn_result *result) {
  struct child child = {.request = request, .result = result, .parent = getpid()};
  int pidfd = -1;

  result->pid = -1, result->pidfd = -1, result->step = 0, result->error = 0, result->subject[0] = '\0'; /* not all 4 KB of it */
  if (request->fd_count > SPAWN_MAX_FDS) {
    result->step = STEP_DESCRIPTOR, result->error = EINVAL;
    return -1;
  }
  long pid = clone_child(request, &child, &pidfd);

  if (pid < 0) {
    bool is_want = pid == -EAGAIN || pid == -ENOMEM || pid == -EMFILE || pid == -ENFILE;
    result->step = request->cgroup_fd >= 0 && !is_want ? STEP_CONTAINMENT : STEP_FORK;
    result->error = (int)-pid;
    return -1;
  }
  result->pid = (pid_t)pid;
  result->pidfd = pidfd;
  if (result->step == 0) return 0;
  while (waitpid((pid_t)pid, NULL, 0) == -1 && errno == EINTR) {}
  if (pidfd >= 0) close(pidfd);
  result->pid = -1;
  result->pidfd = -1;
  return -1;
}
