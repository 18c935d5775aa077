/* The program that is run directly and through a session: it tells what it sees of itself, then acts as it is told.
 *
 *   probe REPORT [ACT WORD]…    REPORT: a FIFO (or "-") that gets one JSON object a line: first {"facts": …}, then events
 *
 * Static where that can be had, so that it runs in a container made of nothing. Only looks: what is the same and what is not is
 * judged by facts.py. Bytes are printed as JSON strings, a character a byte. One file, since it is compiled and mounted as one; a
 * list more than a program, hence its length. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { FILE_BYTES = 65536, LIMITS = 16 };

static int report = -1;
static FILE *out;
static bool first = true;

static void put_bytes(const char *bytes, size_t count) {
  putc('"', out);
  for (size_t i = 0; i < count; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') fprintf(out, "\\u%04x", c);
    else putc(c, out);
  }
  putc('"', out);
}

static void name(const char *key) {
  if (!first) putc(',', out);
  first = false;
  put_bytes(key, strlen(key));
  putc(':', out);
}

static void text(const char *key, const char *value) {
  name(key);
  put_bytes(value, strlen(value));
}

static void number(const char *key, long long value) {
  name(key);
  fprintf(out, "%lld", value);
}

/* A system call's answer; its errno, named as such, when it has none. */
static void answer(const char *key, long long value) {
  if (value >= 0) number(key, value);
  else text(key, strerrorname_np(errno));
}

static void words(const char *key, char **list) {
  name(key);
  putc('[', out);
  for (char **at = list; *at != NULL; at++) {
    if (at != list) putc(',', out);
    put_bytes(*at, strlen(*at));
  }
  putc(']', out);
}

static void file(const char *key, const char *path) {
  static char bytes[FILE_BYTES];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd == -1 ? -1 : read(fd, bytes, sizeof bytes);
  int error = errno;
  if (fd != -1) close(fd);
  if (n < 0) {
    text(key, strerrorname_np(error));
    return;
  }
  name(key);
  put_bytes(bytes, (size_t)n);
}

static void link_of(const char *key, const char *path) {
  char target[4096];
  ssize_t n = readlink(path, target, sizeof target - 1);
  if (n < 0) text(key, strerrorname_np(errno));
  else {
    target[n] = '\0';
    text(key, target);
  }
}

static void place(const char *key, const char *path) {
  struct stat facts;
  char value[64];
  if (stat(path, &facts) != 0) snprintf(value, sizeof value, "%s", strerrorname_np(errno));
  else snprintf(value, sizeof value, "%llx:%llu", (unsigned long long)facts.st_dev, (unsigned long long)facts.st_ino);
  text(key, value);
}

static void descriptor(int fd) {
  struct stat facts;
  char key[16];
  int flags = fcntl(fd, F_GETFL);
  if (fstat(fd, &facts) != 0) return;
  snprintf(key, sizeof key, "%d", fd);
  name(key);
  fprintf(out, "{\"object\":\"%llx:%llu\",\"mode\":%u,\"device\":%llu,\"flags\":%d,\"cloexec\":%d,\"offset\":%lld}", (unsigned long long)facts.st_dev,
          (unsigned long long)facts.st_ino, facts.st_mode, (unsigned long long)facts.st_rdev, flags, fcntl(fd, F_GETFD),
          flags & O_PATH ? -1LL : (long long)lseek(fd, 0, SEEK_CUR));
}

static void descriptors(void) {
  DIR *directory = opendir("/proc/self/fd");
  name("fds");
  putc('{', out);
  first = true;
  if (directory != NULL) {
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
      if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory)) descriptor(atoi(entry->d_name));
    closedir(directory);
  }
  putc('}', out);
  first = false;
}

static void terminal(int fd) {
  char key[32], path[128];
  struct termios modes;
  struct winsize size = {0};
  snprintf(key, sizeof key, "tty%d", fd);
  name(key);
  if (tcgetattr(fd, &modes) != 0) {
    fprintf(out, "null");
    return;
  }
  int error = ttyname_r(fd, path, sizeof path);
  ioctl(fd, TIOCGWINSZ, &size);
  fprintf(out, "{\"name\":\"%s\",\"rows\":%u,\"columns\":%u,\"input\":%u,\"output\":%u,\"control\":%u,\"local\":%u,\"session\":%d,\"foreground\":%d,\"chars\":",
          error == 0 ? path : strerrorname_np(error), size.ws_row, size.ws_col, modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag, (int)tcgetsid(fd),
          (int)tcgetpgrp(fd));
  put_bytes((const char *)modes.c_cc, sizeof modes.c_cc);
  putc('}', out);
}

static void terminals(void) {
  for (int fd = 0; fd <= 2; fd++) terminal(fd);
  int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
  text("devtty", fd >= 0 ? "opens" : strerrorname_np(errno));
  if (fd >= 0) close(fd);
}

static void limits(void) {
  name("limits");
  putc('[', out);
  for (int i = 0; i < LIMITS; i++) {
    struct { uint64_t soft, hard; } limit = {0, 0};
    syscall(SYS_prlimit64, 0, i, NULL, &limit);
    fprintf(out, "%s\"%lld:%lld\"", i == 0 ? "" : ",", (long long)limit.soft, (long long)limit.hard); /* -1: none */
  }
  putc(']', out);
}

static void control(const char *key, int option) {
  int value = 0;
  int result = prctl(option, &value, 0, 0, 0);
  if (result < 0) answer(key, -1);
  else number(key, value);
}

static void attributes(void) {
  struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; uint32_t least, most; } schedule = {.size = 56};
  static const char *const spaces[] = {"cgroup", "ipc", "mnt", "net", "pid", "pid_for_children", "time", "time_for_children", "user", "uts"};
  struct itimerval timer;
  int policy = 0;
  char key[64], path[64];

  control("pdeathsig", PR_GET_PDEATHSIG);
  control("subreaper", PR_GET_CHILD_SUBREAPER);
  control("tsc", PR_GET_TSC);
  answer("dumpable", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
  answer("securebits", prctl(PR_GET_SECUREBITS, 0, 0, 0, 0));
  answer("keepcaps", prctl(PR_GET_KEEPCAPS, 0, 0, 0, 0));
  answer("timerslack", prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0));
  answer("thp-disable", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
  answer("mce-kill", prctl(PR_MCE_KILL_GET, 0, 0, 0, 0));
  answer("io-flusher", prctl(58 /* PR_GET_IO_FLUSHER */, 0, 0, 0, 0));
  answer("mdwe", prctl(66 /* PR_GET_MDWE */, 0, 0, 0, 0));
  answer("personality", personality(0xffffffff));
  answer("nice", 20 - syscall(SYS_getpriority, PRIO_PROCESS, 0)); /* the call itself answers 20 - nice */
  answer("ioprio", syscall(SYS_ioprio_get, 1 /* IOPRIO_WHO_PROCESS */, 0));
  answer("session-keyring", syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3 /* KEY_SPEC_SESSION_KEYRING */, 0));
  answer("memory-policy", syscall(SYS_get_mempolicy, &policy, NULL, 0, NULL, 0) < 0 ? -1 : policy);
  if (syscall(SYS_sched_getattr, 0, &schedule, sizeof schedule, 0) < 0) answer("scheduler", -1);
  else {
    name("scheduler");
    fprintf(out, "\"policy %u flags %llx priority %u runtime %llu utilization %u-%u\"", schedule.policy, (unsigned long long)schedule.flags, schedule.priority,
            (unsigned long long)schedule.runtime, schedule.least, schedule.most);
  }
  number("alarm", getitimer(ITIMER_REAL, &timer) == 0 && (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0));
  number("secure-execution", (long long)getauxval(AT_SECURE));
  file("oom-score-adj", "/proc/self/oom_score_adj");
  file("coredump-filter", "/proc/self/coredump_filter");
  file("login-uid", "/proc/self/loginuid");
  file("security-label", "/proc/self/attr/current");
  file("cgroup", "/proc/self/cgroup");
  file("stat", "/proc/self/stat");
  file("status", "/proc/self/status");
  file("comm", "/proc/self/comm");
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
    snprintf(key, sizeof key, "ns-%s", spaces[i]);
    snprintf(path, sizeof path, "/proc/self/ns/%s", spaces[i]);
    link_of(key, path);
  }
}

static void facts(char **argv) {
  char directory[4096];
  fprintf(out, "{\"facts\":{");
  descriptors(); /* first: nothing of ours is open yet */
  terminals();
  limits();
  attributes();
  words("argv", argv);
  words("environ", environ);
  text("cwd", getcwd(directory, sizeof directory) == NULL ? strerrorname_np(errno) : directory);
  place("cwd-place", ".");
  place("root-place", "/");
  link_of("exe", "/proc/self/exe");
  number("pid", getpid());
  number("ppid", getppid());
  number("pgid", getpgrp());
  number("sid", getsid(0));
  fprintf(out, "}}\n");
}

static void send_out(char *bytes, size_t count) {
  for (size_t sent = 0; report >= 0 && sent < count;) {
    ssize_t n = write(report, bytes + sent, count - sent);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) sent += (size_t)n;
  }
  free(bytes);
}

static void event(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One line: {"event": kind, …}. */
static void event(const char *kind, const char *format, ...) {
  char *bytes;
  size_t count;
  va_list values;
  out = open_memstream(&bytes, &count);
  fprintf(out, "{\"event\":\"%s\"", kind);
  va_start(values, format);
  vfprintf(out, format, values);
  va_end(values);
  fprintf(out, "}\n");
  fclose(out);
  send_out(bytes, count);
}

/* Tells of every signal that may be caught and is not ignored, until SIGTERM. */
static void act_signals(void) {
  const int catchable[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,  SIGALRM, SIGTERM, SIGCONT,
                           SIGTSTP, SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH, SIGIO,   SIGRTMIN};
  sigset_t set;
  siginfo_t info;
  bool terminated = false;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof catchable / sizeof *catchable; i++) {
    struct sigaction action;
    if (sigaction(catchable[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&set, catchable[i]);
  }
  sigprocmask(SIG_BLOCK, &set, NULL);
  event("ready", "%s", "");
  for (;;) {
    struct winsize size = {0};
    const struct timespec now = {0, 0};
    int number_seen = terminated ? sigtimedwait(&set, &info, &now) : sigwaitinfo(&set, &info);
    if (number_seen == SIGWINCH) ioctl(0, TIOCGWINSZ, &size);
    if (number_seen > 0) event("signal", ",\"number\":%d,\"code\":%d,\"sender\":%d,\"rows\":%u", number_seen, info.si_code, (int)info.si_pid, size.ws_row);
    if (number_seen == SIGTERM) terminated = true;
    if (terminated && number_seen < 0) return; /* what was sent before it may have a higher number, and comes after it */
  }
}

static void act_read(size_t most) {
  static char bytes[FILE_BYTES];
  size_t total = 0;
  ssize_t n;
  do {
    n = read(0, bytes + total, most - total);
    if (n > 0) total += (size_t)n;
  } while ((n > 0 && most > 1 && total < most && bytes[total - 1] != '\n') || (n < 0 && errno == EINTR));
  char *copy;
  size_t count;
  out = open_memstream(&copy, &count);
  fprintf(out, "{\"event\":\"read\",\"error\":\"%s\",\"bytes\":", n < 0 ? strerrorname_np(errno) : "");
  put_bytes(bytes, total);
  fprintf(out, "}\n");
  fclose(out);
  send_out(copy, count);
}

static void act_child(void) {
  pid_t pid = fork();
  if (pid == 0) {
    for (int fd = 0; fd <= 2; fd++) close(fd);
    close(report);
    for (;;) pause();
  }
  event("child", ",\"pid\":%d", (int)pid);
}

static void act_burn(long milliseconds) {
  struct timespec now;
  do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < milliseconds);
}

static void act_raw(void) {
  struct termios modes;
  if (tcgetattr(0, &modes) != 0) return;
  cfmakeraw(&modes);
  tcsetattr(0, TCSANOW, &modes);
}

static void act_tty(const char *line) {
  int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, line, strlen(line)) < 0) event("failed", ",\"error\":\"%s\"", strerrorname_np(errno));
  close(fd);
}

static void act_type_ahead(const char *line) {
  int error = 0;
  for (; *line != '\0' && error == 0; line++)
    if (ioctl(0, TIOCSTI, line) != 0) error = errno;
  event("typed-ahead", ",\"error\":\"%s\"", error == 0 ? "" : strerrorname_np(error));
}

static void act_cores(int signal_number) {
  struct rlimit limit;
  getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_CORE, &limit);
  raise(signal_number);
}

/* Each act has one word behind it, if only a "-". */
static void act(const char *verb, const char *word) {
  if (strcmp(verb, "exit") == 0) exit(atoi(word));
  if (strcmp(verb, "raise") == 0) raise(atoi(word));
  if (strcmp(verb, "cores") == 0) act_cores(atoi(word));
  if (strcmp(verb, "signals") == 0) act_signals();
  if (strcmp(verb, "read") == 0) act_read((size_t)atoi(word));
  if (strcmp(verb, "write") == 0 && write(1, word, strlen(word)) < 0) event("failed", ",\"error\":\"%s\"", strerrorname_np(errno));
  if (strcmp(verb, "child") == 0) act_child();
  if (strcmp(verb, "burn") == 0) act_burn(atol(word));
  if (strcmp(verb, "raw") == 0) act_raw();
  if (strcmp(verb, "tty") == 0) act_tty(word);
  if (strcmp(verb, "sti") == 0) act_type_ahead(word);
  if (strcmp(verb, "nonblock") == 0) fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
  if (strcmp(verb, "seek") == 0) lseek(0, atol(word), SEEK_SET);
  if (strcmp(verb, "say") == 0) event(word, "%s", "");
  if (strcmp(verb, "hold") == 0)
    for (;;) pause();
}

int main(int argc, char **argv) {
  char *bytes;
  size_t count;
  if (argc < 2) return 2;
  out = open_memstream(&bytes, &count);
  facts(argv);
  fclose(out);
  if (strcmp(argv[1], "-") != 0) report = open(argv[1], O_WRONLY | O_CLOEXEC | O_NOCTTY);
  send_out(bytes, count);
  for (int i = 2; i + 1 < argc; i += 2) act(argv[i], argv[i + 1]);
  return 0;
}
