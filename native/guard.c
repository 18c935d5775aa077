/* `runner-exec __guard CGROUP`: waits for the end of its standard input, whose other end only the agent holds, then ends whatever
 * lives in the session's cgroup and removes it. After an orderly end there is nothing left to do. */
#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 1000, PAUSE_NS = 10 * 1000 * 1000, PATH_BYTES = 4096 };

static void end_all(const char *cgroup) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/cgroup.kill", cgroup);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd == -1) return;
  if (write(fd, "1", 1) == -1) {} /* ENOENT: it was removed meanwhile */
  close(fd);
}

/* rmdir(2) from the leaves up; a cgroup holds no files that would have to go first. */
static void remove_tree(const char *cgroup) {
  DIR *directory = opendir(cgroup);
  if (directory == NULL) return;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    char below[PATH_BYTES];
    if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if ((size_t)snprintf(below, sizeof below, "%s/%s", cgroup, entry->d_name) < sizeof below) remove_tree(below);
  }
  closedir(directory);
  rmdir(cgroup);
}

int guard_main(const char *cgroup) {
  char byte;
  ssize_t n;
  for (int number = 1; number < NSIG; number++) signal(number, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, 0); /* every child of the agent has it set; this one is to stay */
  setsid();
  do n = read(STDIN_FILENO, &byte, 1);
  while (n > 0 || (n == -1 && errno == EINTR));
  for (int i = 0; i < TRIES && access(cgroup, F_OK) == 0; i++) {
    end_all(cgroup);
    remove_tree(cgroup);
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
  return 0;
}
