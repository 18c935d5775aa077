#include "client_stderr.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client_process.h"

enum { MOST_DESCRIPTORS = 64 /* a target with more is not worth the look: it holds its stderr, we say */ };

/* Names the pipe without being one of its writers (O_PATH); -1: descriptor 2 is still that pipe. */
static int given_up = -1;

/* Whether any descriptor of process `pid` is the pipe; also when that cannot be told. */
static bool holds(int pid, const struct stat *pipe) {
  char path[32];
  struct stat facts;
  bool held = false;
  int seen = 0;
  snprintf(path, sizeof path, "/proc/%d/fd", pid);
  DIR *directory = opendir(path);
  if (directory == NULL) return true;
  for (struct dirent *entry; !held && (entry = readdir(directory)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    held = ++seen > MOST_DESCRIPTORS || (fstatat(dirfd(directory), entry->d_name, &facts, 0) == 0 && facts.st_dev == pipe->st_dev && facts.st_ino == pipe->st_ino);
  }
  closedir(directory);
  return held;
}

bool stderr_is_watched(void) {
  struct stat facts;
  return given_up < 0 && fstat(STDERR_FILENO, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

bool stderr_look(int pidfd, int filler) {
  struct stat facts;
  pid_t pid = pidfd < 0 ? 0 : process_number(pidfd);
  if (pid == 0 || !stderr_is_watched() || fstat(STDERR_FILENO, &facts) != 0) return false;
  if (holds(pid, &facts)) return true;
  given_up = open("/proc/self/fd/2", O_PATH | O_CLOEXEC);
  if (given_up >= 0) dup2(filler, STDERR_FILENO);
  return false;
}

void stderr_take_back(void) {
  char path[32];
  if (given_up < 0) return;
  snprintf(path, sizeof path, "/proc/self/fd/%d", given_up);
  int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC); /* ENXIO: nobody reads it any more */
  if (fd >= 0) (dup2(fd, STDERR_FILENO), close(fd));
  close(given_up);
  given_up = -1;
}
