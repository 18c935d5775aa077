/* Starts programs one after the other and times each from posix_spawn to its reaping, so that measuring costs the same for all.
 *
 *   spawn_timer ROUNDS [--drain] <plan
 *
 * plan: for each program its argv, every word ended by NUL, and one empty word at the end. A round runs each program once, in an
 * order that is shuffled anew. stdin and stdout are /dev/null; with --drain stdout is a pipe that is read here and thrown away.
 * Prints a line a run: index of the program, ns, CPU time in µs of what was reaped, bytes drained. Stops at the first failure. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PROGRAMS = 32, MAX_WORDS = 64, PLAN_BYTES = 1 << 16 };

static char plan[PLAN_BYTES];
static char *programs[MAX_PROGRAMS][MAX_WORDS + 1];
static char sink[1 << 20];
extern char **environ;

static void die(const char *what, int error) {
  fprintf(stderr, "spawn_timer: %s: %s\n", what, strerror(error));
  exit(1);
}

/* Number of programs in the plan on stdin. */
static unsigned read_plan(void) {
  size_t bytes = fread(plan, 1, sizeof plan, stdin);
  if (bytes == sizeof plan) die("plan too long", E2BIG);
  unsigned count = 0, words = 0;
  for (char *word = plan; word < plan + bytes; word += strlen(word) + 1) {
    if (*word != '\0') {
      if (count == MAX_PROGRAMS || words == MAX_WORDS) die("plan", E2BIG);
      programs[count][words++] = word;
    } else if (words > 0) {
      count++;
      words = 0;
    }
  }
  return count;
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t drain(int fd) {
  uint64_t total = 0;
  for (;;) {
    ssize_t n = read(fd, sink, sizeof sink);
    if (n == -1 && errno == EINTR) continue;
    if (n <= 0) return total;
    total += (uint64_t)n;
  }
}

static uint64_t micros(struct timeval t) { return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec; }

static void run_once(unsigned index, int null, int drains) {
  int ends[2] = {-1, -1}, status, error;
  posix_spawn_file_actions_t actions;
  struct rusage usage;
  pid_t pid;

  if (drains && pipe2(ends, O_CLOEXEC) == -1) die("pipe", errno);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, null, 0);
  posix_spawn_file_actions_adddup2(&actions, drains ? ends[1] : null, 1);
  uint64_t start = now_ns();
  error = posix_spawnp(&pid, programs[index][0], &actions, NULL, programs[index], environ);
  if (error != 0) die(programs[index][0], error);
  if (drains) close(ends[1]);
  uint64_t bytes = drains ? drain(ends[0]) : 0;
  while (wait4(pid, &status, 0, &usage) == -1)
    if (errno != EINTR) die("wait4", errno);
  uint64_t end = now_ns();
  posix_spawn_file_actions_destroy(&actions);
  if (drains) close(ends[0]);
  if (status != 0) {
    fprintf(stderr, "spawn_timer: '%s' ended with wait status %d\n", programs[index][0], status);
    exit(1);
  }
  printf("%u %llu %llu %llu\n", index, (unsigned long long)(end - start),
         (unsigned long long)(micros(usage.ru_utime) + micros(usage.ru_stime)), (unsigned long long)bytes);
}

int main(int argc, char **argv) {
  if (argc < 2) die("usage: spawn_timer ROUNDS [--drain] <plan", EINVAL);
  long rounds = strtol(argv[1], NULL, 10);
  int drains = argc > 2 && strcmp(argv[2], "--drain") == 0;
  unsigned order[MAX_PROGRAMS], count = read_plan();
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);

  if (null == -1) die("/dev/null", errno);
  for (unsigned i = 0; i < count; i++) order[i] = i;
  srand((unsigned)now_ns());
  for (long round = 0; round < rounds; round++) {
    for (unsigned i = count; i > 1; i--) {
      unsigned other = (unsigned)rand() % i, kept = order[i - 1];
      order[i - 1] = order[other];
      order[other] = kept;
    }
    for (unsigned i = 0; i < count; i++) run_once(order[i], null, drains);
  }
  return 0;
}
