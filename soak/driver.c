/* Many clients, without a shell or Node in the way.
 *
 *   driver PARALLEL RUNS -- ARGV…   runs ARGV RUNS times, PARALLEL at once; prints "ok N failed N ms N"
 *   driver --hold COUNT -- ARGV…    starts COUNT of it, says "started"; at the end of its input kills them all outright
 *
 * A run has failed when it does not end with 0: its status is told on stderr, for the first ten. */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { TOLD = 10 };

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

static pid_t start(char **argv) {
  pid_t pid;
  int error = posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
  if (error == 0) return pid;
  fprintf(stderr, "driver: cannot start '%s': %s\n", argv[0], strerror(error));
  exit(1);
}

static int run(long parallel, long runs, char **argv) {
  long started = 0, ok = 0, failed = 0;
  uint64_t began = now_ms();
  while (ok + failed < runs) {
    while (started < runs && started - ok - failed < parallel) start(argv), started++;
    int status;
    if (wait(&status) == -1) continue;
    if (status == 0) ok++;
    else if (++failed <= TOLD) fprintf(stderr, "driver: wait status 0x%x\n", (unsigned)status);
  }
  printf("ok %ld failed %ld ms %llu\n", ok, failed, (unsigned long long)(now_ms() - began));
  return failed > 0;
}

static int hold(long count, char **argv) {
  pid_t *pids = calloc((size_t)count, sizeof *pids);
  char byte;
  if (pids == NULL) return 1;
  for (long i = 0; i < count; i++) pids[i] = start(argv);
  puts("started");
  fflush(stdout);
  while (read(0, &byte, 1) > 0) {}
  for (long i = 0; i < count; i++) kill(pids[i], SIGKILL); /* not reaped yet, so the number is still its own */
  while (wait(NULL) > 0 || errno == EINTR) {}
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 5 || strcmp(argv[3], "--") != 0) return 2;
  if (strcmp(argv[1], "--hold") == 0) return hold(atol(argv[2]), argv + 4);
  return run(atol(argv[1]), atol(argv[2]), argv + 4);
}
