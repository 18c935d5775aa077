/* The entry shim. Static, so that no LD_PRELOAD or LD_LIBRARY_PATH of the environment touches it. It writes down what the launcher
 * produced, before Node could change any of it, and gives Node a clean environment. The format is read by src/agent/capture.ts. */
#include "enter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client_messages.h"
#include "client_signals.h"

enum { PATH_BYTES = 4096, LIMITS = 16, LAST_SIGNAL = 64, BUFFER_BYTES = 8192, DECIMAL_BYTES = 16 };

struct writer {
  int fd;
  int error; /* errno of the first failure; what follows is not written */
  size_t length;
  char bytes[BUFFER_BYTES];
};

static void flush(struct writer *writer) {
  for (size_t sent = 0; sent < writer->length && writer->error == 0;) {
    ssize_t n = write(writer->fd, writer->bytes + sent, writer->length - sent);
    if (n >= 0) sent += (size_t)n;
    else if (errno != EINTR) writer->error = errno;
  }
  writer->length = 0;
}

static void put(struct writer *writer, const char *bytes, size_t count) {
  while (count > 0) {
    size_t room = sizeof writer->bytes - writer->length, part = count < room ? count : room;
    memcpy(writer->bytes + writer->length, bytes, part);
    writer->length += part;
    bytes += part;
    count -= part;
    if (writer->length == sizeof writer->bytes) flush(writer);
  }
}

static void put_line(struct writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));


static void put_line(struct writer *writer, const char *format, ...) {
  char line[128];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  if (length > 0) put(writer, line, (size_t)length);
}

/* A file that only its descriptor reaches, and that outlives exec. */
static int open_capture(const char *stem) {
  char directory[PATH_BYTES];
  int fd = (int)syscall(SYS_memfd_create, "holdfast-capture", 0);
  if (fd >= 0 || errno != ENOSYS) return fd;
  const char *slash = strrchr(stem, '/');
  size_t length = slash == NULL ? 0 : (size_t)(slash - stem);
  if (length >= sizeof directory) return errno = ENAMETOOLONG, -1;
  memcpy(directory, stem, length);
  directory[length] = '\0';
  return open(length == 0 ? "." : directory, O_TMPFILE | O_RDWR, 0600);
}

static const char *limit_text(uint64_t limit, char out[24]) {
  if (limit == UINT64_MAX) return "infinity";
  snprintf(out, 24, "%llu", (unsigned long long)limit);
  return out;
}

static void put_attributes(struct writer *writer, int nice) {
  char soft[24], hard[24], cwd[PATH_BYTES];
  uint64_t blocked = 0;
  mode_t mask = umask(0);
  umask(mask);
  /* The call itself: the C library hides two of the 64. */
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
  put_line(writer, "HOLDFAST-CAPTURE 1\numask %03o\nnice %d\nblocked %016llx\nignored %016llx\n", (unsigned)mask, nice, (unsigned long long)blocked,
           (unsigned long long)signals_ignored());
  for (int i = 0; i < LIMITS; i++) {
    struct { uint64_t soft, hard; } limit; /* as the kernel has it: the C libraries disagree on the type of `i` */
    if (syscall(SYS_prlimit64, 0, i, NULL, &limit) == 0) put_line(writer, "rlimit %d %s %s\n", i, limit_text(limit.soft, soft), limit_text(limit.hard, hard));
  }
  if (getcwd(cwd, sizeof cwd) == NULL || cwd[0] != '/') cwd[0] = '\0';
  put_line(writer, "cwd %zu ", strlen(cwd));
  put(writer, cwd, strlen(cwd));
  put_line(writer, "\nenviron\n");
}

static const char *value_of(const char *name) {
  size_t length = strlen(name);
  for (char **at = environ; *at != NULL; at++)
    if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at + length + 1;
  return NULL;
}

static bool is_named(const char *variable, const char *name) {
  size_t length = strlen(name);
  return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

/* Takes out what the way in has put there, and puts the user's own BASH_ENV back (src/session launches with these three). */
static void put_environment(struct writer *writer) {
  const char *ours = value_of("HOLDFAST_LAUNCH"), *users = value_of("HOLDFAST_USER_BASH_ENV");
  for (char **at = environ; *at != NULL; at++) {
    if (is_named(*at, "_") || is_named(*at, "HOLDFAST_LAUNCH") || is_named(*at, "HOLDFAST_USER_BASH_ENV")) continue;
    if (is_named(*at, "BASH_ENV") && ours != NULL && strcmp(*at + strlen("BASH_ENV="), ours) == 0) {
      if (users == NULL) continue;
      put_line(writer, "BASH_ENV=");
      put(writer, users, strlen(users) + 1);
    } else put(writer, *at, strlen(*at) + 1);
  }
}

/* For a snapshot: the environ alone, into STEM.capture, whole or not at all. The opener waits for that file. 0, or -errno. */
static int capture_to_file(const char *stem) {
  char path[PATH_BYTES], fresh[PATH_BYTES];
  if (snprintf(path, sizeof path, "%s.capture", stem) >= (int)sizeof path) return -ENAMETOOLONG;
  if (snprintf(fresh, sizeof fresh, "%s.capture.new", stem) >= (int)sizeof fresh) return -ENAMETOOLONG;
  if (unlink(fresh) < 0 && errno != ENOENT) return -errno;
  struct writer writer = {.fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (writer.fd < 0) return -errno;
  if (fchmod(writer.fd, 0600) < 0) writer.error = errno; /* whatever the launcher's umask is */
  put_environment(&writer);
  flush(&writer);
  if (close(writer.fd) < 0 && writer.error == 0) writer.error = errno;
  if (writer.error == 0 && rename(fresh, path) < 0) writer.error = errno;
  if (writer.error != 0) unlink(fresh);
  return -writer.error;
}

static int capture_main(const char *stem) {
  int error = -capture_to_file(stem);
  if (error == 0) return 0;
  say(NULL, "cannot write down the environment: %s", strerror(error));
  return EXIT_NOT_RUNNABLE;
}

static int capture(const char *stem, int nice) {
  struct writer writer = {.fd = open_capture(stem)};
  if (writer.fd < 0) return -errno;
  put_attributes(&writer, nice);
  put_environment(&writer);
  flush(&writer);
  if (writer.error == 0 && lseek(writer.fd, 0, SEEK_SET) < 0) writer.error = errno;
  return writer.error == 0 ? writer.fd : -writer.error;
}

/* Node is to find the world as a login would give it. Dispositions and mask go by the calls themselves, all 64 of them. */
static void reset_signals(void) {
  uint64_t none = 0;
  uintptr_t standard[8] = {0};
  for (int signal = 1; signal <= LAST_SIGNAL; signal++) syscall(SYS_rt_sigaction, signal, standard, NULL, sizeof none);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}

/* A closed 0, 1 or 2 would go to the first file that Node opens. False: no /dev/null, and then no agent either. */
static bool fill_standard(void) {
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) return false;
  return true;
}

int enter_main(int argc, char **argv) {
  char number[DECIMAL_BYTES];
  char *no_environment[] = {NULL};
  if (argc == 2 && strcmp(argv[0], "__capture") == 0) return capture_main(argv[1]);
  if (argc != 3) return say("it is called by 'holdfast open'", "'__enter' needs NODE, CLI and STEM"), EXIT_OURS;
  if (!fill_standard()) return say(NULL, "cannot enter the environment: /dev/null: %s", strerror(errno)), EXIT_NOT_RUNNABLE;
  errno = 0;
  int nice = getpriority(PRIO_PROCESS, 0), fd = capture(argv[2], nice);
  if (fd < 0) return say(NULL, "cannot write down the environment: %s", strerror(-fd)), EXIT_NOT_RUNNABLE;
  snprintf(number, sizeof number, "%d", fd);
  reset_signals();
  if (chdir("/") < 0) return say(NULL, "cannot enter the environment: '/': %s", strerror(errno)), EXIT_NOT_RUNNABLE;
  /* No threads for V8 to share work among, and a small nursery: the agent's heap is a few MB, and its memory is what a held session
   * costs all day. Latency of a run is the same with and without (docs/performance.md says how it is measured). */
  union { const char *in; char *out; } pool = {"--v8-pool-size=0"}, nursery = {"--max-semi-space-size=1"}, agent = {"__runner-agent"};
  char *words[] = {argv[0], pool.out, nursery.out, argv[1], agent.out, argv[2], number, NULL};
  execve(argv[0], words, no_environment);
  int error = errno;
  say("the environment cannot see it, or it was moved: 'holdfast doctor' checks the installation", "cannot start the agent with '%s': %s", argv[0], strerror(error));
  return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}
