#include "spawn.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "shim.h"

static const char DEFAULT_PATH[] = "/usr/local/bin:/usr/bin:/bin";
enum { CHILD_STACK_BYTES = 64 * 1024, LAST_SIGNAL = 64 };

/* What parent and child share. The child writes `result`; the parent reads it once clone has returned, which vfork semantics
 * put after the child's exec or exit. */
struct child {
  const struct spawn_request *request;
  struct spawn_result *result;
  pid_t parent;
  uint64_t disposed; /* bit N-1: what signal N does has to be set; the kernel has made all others SIG_DFL */
};

static _Noreturn void fail(struct child *child, enum wire_step step, int error, const char *subject) {
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
  fail(child, step, error, at);
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
      fail(child, STEP_DESCRIPTOR, errno, "close_range");
    if (next == UINT32_MAX) return;
    from = next + 1;
  }
}

static void join_group(struct child *child) {
  const struct spawn_request *r = child->request;
  if (r->terminal == WIRE_TERMINAL_PLAIN) {
    /* setpgid, not setsid: a group without a session of its own can still be stopped by SIGTSTP. */
    if (FAULT(setpgid) || setpgid(0, 0) == -1) fail(child, STEP_GROUP, errno, "setpgid");
    return;
  }
  if (FAULT(setsid) || setsid() == -1) fail(child, STEP_SESSION, errno, "setsid");
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

/* As the kernel has it. By number: the C library keeps 32 and 33 to itself and would refuse to reset them. */
struct disposition { void (*handler)(int); unsigned long flags; void (*restorer)(void); uint64_t mask; };

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

/* The first bytes of a file; 0 when it cannot be read. */
static size_t head_of(const char *path, char *into, size_t bytes) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd == -1) return 0;
  ssize_t n = read(fd, into, bytes);
  close(fd);
  return n < 0 ? 0 : (size_t)n;
}

/* Names the interpreter of a file that exists although execve said ENOENT: the `#!` program, or the ELF loader. `head` has room
 * for one byte more. */
static const char *interpreter_of(char *head, size_t bytes) {
  if (bytes > 2 && head[0] == '#' && head[1] == '!') {
    size_t from = 2, to;
    while (from < bytes && (head[from] == ' ' || head[from] == '\t')) from++;
    for (to = from; to < bytes && strchr(" \t\n\r", head[to]) == NULL; to++) {}
    head[to] = '\0';
    return head + from;
  }
  Elf64_Ehdr elf;
  if (bytes < sizeof elf || memcmp(head, ELFMAG, SELFMAG) != 0) return "unknown";
  memcpy(&elf, head, sizeof elf);
  for (unsigned i = 0; i < elf.e_phnum; i++) {
    Elf64_Phdr part;
    size_t at = elf.e_phoff + (size_t)i * sizeof part;
    if (at + sizeof part > bytes) break;
    memcpy(&part, head + at, sizeof part);
    if (part.p_type != PT_INTERP || part.p_offset >= bytes || part.p_filesz >= bytes - part.p_offset) continue;
    head[part.p_offset + part.p_filesz] = '\0';
    return head + part.p_offset;
  }
  return "the ELF loader";
}

/* A script without `#!` is run by sh, as a shell would do (POSIX execvp); a binary of another machine is not. */
static void exec_by_shell(struct child *child, char *path) {
  char head[256];
  size_t bytes = head_of(path, head, sizeof head);
  for (size_t i = 0; i < bytes && head[i] != '\n'; i++)
    if (head[i] == '\0') return;
  char **argv = child->request->argv - 1;
  argv[0] = (char[]){"sh"};
  argv[1] = path;
  execve("/bin/sh", argv, child->request->envp);
}

/* Not by stat(2), whose symbol needs a newer C library than Node does. */
static bool is_directory(const char *path) {
  int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

/* Tries one file. Returns when the search may go on (it is not there, or not ours to run); EACCES is remembered by the caller. */
static int try_exec(struct child *child, char *path) {
  const struct spawn_request *r = child->request;
  if (!FAULT(execve)) execve(path, r->argv, r->envp);
  int error = errno;
  if (error == ENOEXEC) {
    exec_by_shell(child, path);
    fail(child, STEP_EXEC, error, path);
  }
  if ((error == ENOENT || error == ENOTDIR) && access(path, F_OK) == 0) {
    char head[4096];
    size_t bytes = head_of(path, head, sizeof head - 1);
    fail(child, STEP_INTERPRETER, error, interpreter_of(head, bytes));
  }
  if (error == ENOENT || error == ENOTDIR) return ENOENT;
  if (error == EACCES) return is_directory(path) ? EISDIR : EACCES;
  fail(child, STEP_EXEC, error, path);
}

static _Noreturn void search(struct child *child) {
  const struct spawn_request *r = child->request;
  char path[8192];
  size_t name_bytes = strlen(r->program);
  int refused = 0;

  if (strchr(r->program, '/') != NULL) {
    int error = try_exec(child, (char *)(size_t)r->program);
    fail(child, error == ENOENT ? STEP_PROGRAM : STEP_EXEC, error, r->program);
  }
  for (const char *from = r->search_path != NULL ? r->search_path : DEFAULT_PATH; name_bytes > 0;) {
    const char *to = strchrnul(from, ':');
    size_t bytes = (size_t)(to - from);
    if (bytes + name_bytes + 3 <= sizeof path) {
      memcpy(path, bytes == 0 ? "." : from, bytes == 0 ? 1 : bytes); /* an empty entry is the current directory */
      bytes = bytes == 0 ? 1 : bytes;
      path[bytes] = '/';
      memcpy(path + bytes + 1, r->program, name_bytes + 1);
      enum shim_look look = shim_look_at(path); /* cheaper than an execve that fails, where there is nothing */
      int error = look == SHIM_OTHER ? try_exec(child, path) : ENOENT;
      if (error == EACCES) { /* a directory of that name is no candidate; a file that may not be run is, if nothing better comes */
        if (refused == 0) memcpy(child->result->subject, path, bytes + name_bytes + 2 > SPAWN_SUBJECT_BYTES ? 0 : bytes + name_bytes + 2);
        refused = error;
      }
    }
    if (*to == '\0') break;
    from = to + 1;
  }
  if (refused != 0) fail(child, STEP_EXEC, refused, NULL);
  fail(child, STEP_PROGRAM, ENOENT, r->program);
}

static int child_main(void *argument) {
  struct child *child = argument;
  const struct spawn_request *r = child->request;
  int sources[SPAWN_MAX_FDS];

  /* The agent's death is the target's. It may have died before the call took hold, hence the look at the parent. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != child->parent) _exit(127);
  join_group(child);
  if (!r->inherited && r->cwd == NULL && (FAULT(fchdir) || fchdir(r->cwd_fd) == -1)) fail(child, STEP_DIRECTORY, errno, "");
  if (!r->inherited) place_descriptors(child, sources);
  if (!r->inherited) close_others(child);
  if (r->terminal != WIRE_TERMINAL_PLAIN && (FAULT(ioctl) || ioctl((int)r->terminal_fd, TIOCSCTTY, 0) == -1))
    fail_number(child, STEP_TERMINAL, errno, r->terminal_fd);
  /* After close_others: no path through /proc/self/fd can reach a descriptor of the agent. */
  if (!r->inherited && r->cwd != NULL && (FAULT(chdir) || chdir(r->cwd) == -1)) fail(child, STEP_DIRECTORY, errno, r->cwd);
  set_attributes(child);
  set_signals(child);
  search(child);
}

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

/* clone3(2) with a stack of its own has no wrapper in the C library. The child never returns here: it calls child_main. */
static long clone3_call(struct clone_args *arguments, struct child *child) {
  long result;
#if defined(__x86_64__)
  register int (*entry)(void *) __asm__("r12") = child_main;
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
  register int (*entry)(void *) __asm__("x9") = child_main;
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
  long pid = clone(child_main, stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, child, pidfd);
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

  *result = (struct spawn_result){.pid = -1, .pidfd = -1};
  if (request->fd_count > SPAWN_MAX_FDS) {
    *result = (struct spawn_result){.pid = -1, .pidfd = -1, .step = STEP_DESCRIPTOR, .error = EINVAL};
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
