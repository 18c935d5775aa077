/* For the test programs that scripts/sanitize.sh runs: a check that names what failed, and a count of what is open. */
#ifndef HOLDFAST_TEST_CHECK_H
#define HOLDFAST_TEST_CHECK_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
      exit(1); \
    } \
  } while (0)

static inline int open_descriptors(void) {
  DIR *directory = opendir("/proc/self/fd");
  int count = -1; /* the directory's own */
  if (directory == NULL) return -1;
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count;
}

/* True when this process has no child, dead or alive. */
static inline int is_childless(void) {
  siginfo_t any;
  return waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
}

#endif
