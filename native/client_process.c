#include "client_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 96 };

size_t process_read_file(const char *path, char *into, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read(fd, into, room - 1);
  if (fd >= 0) close(fd);
  into[got < 0 ? 0 : got] = '\0';
  return got < 0 ? 0 : (size_t)got;
}

pid_t process_number(int pidfd) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
  const char *line = process_read_file(path, text, sizeof text) > 0 ? strstr(text, "\nPid:") : NULL;
  long number = line == NULL ? 0 : strtol(line + strlen("\nPid:"), NULL, 10);
  return number > 1 ? (pid_t)number : 0;
}

/* proc_pid_syscall(5): the number and the arguments of the call that a thread is in; a stopped one is still in it. */
static bool thread_reads(int pid, const char *thread, const struct stat *terminal) {
  char path[PATH_BYTES], text[256];
  struct stat facts;
  snprintf(path, sizeof path, "/proc/%d/task/%.20s/syscall", pid, thread);
  if (process_read_file(path, text, sizeof text) == 0) return false;
  char *rest;
  long call = strtol(text, &rest, 10);
  if (rest == text || (call != SYS_read && call != SYS_readv)) return false;
  snprintf(path, sizeof path, "/proc/%d/fd/%lu", pid, strtoul(rest, NULL, 16));
  return stat(path, &facts) == 0 && S_ISCHR(facts.st_mode) && facts.st_rdev == terminal->st_rdev;
}

static bool process_reads(int pid, const struct stat *terminal) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *threads = opendir(path);
  bool reads = false;
  if (threads == NULL) return false;
  for (struct dirent *entry; !reads && (entry = readdir(threads)) != NULL;) reads = entry->d_name[0] != '.' && thread_reads(pid, entry->d_name, terminal);
  closedir(threads);
  return reads;
}

bool process_place(pid_t pid, struct process_place *out) {
  char path[PATH_BYTES], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  char *at = process_read_file(path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL; /* the name in field 2 may hold anything */
  if (at == NULL || strlen(at) < sizeof ") S") return false;
  out->state = at[2];
  out->parent = (pid_t)strtol(at + 3, &at, 10); /* sscanf(3) brings 12 KB of code along, floating point and all */
  out->group = (pid_t)strtol(at, &at, 10);
  out->session = (pid_t)strtol(at, &at, 10);
  return true;
}

typedef bool process_test(int pid, const struct process_place *place, const struct stat *terminal);

static bool is_stopped(int pid, const struct process_place *place, const struct stat *terminal) {
  (void)pid;
  (void)terminal;
  return place->state == 'T';
}

static bool is_reading(int pid, const struct process_place *place, const struct stat *terminal) {
  (void)place;
  return process_reads(pid, terminal);
}

static bool any_of_group(int pidfd, process_test *test, const struct stat *terminal) {
  long group = process_number(pidfd);
  DIR *proc = group > 0 ? opendir("/proc") : NULL;
  bool any = false;
  if (proc == NULL) return false;
  for (struct dirent *entry; !any && (entry = readdir(proc)) != NULL;) {
    int pid = (int)strtol(entry->d_name, NULL, 10);
    struct process_place place;
    any = pid > 0 && process_place(pid, &place) && place.group == group && test(pid, &place, terminal);
  }
  closedir(proc);
  return any;
}

bool process_group_reads(int pidfd, int terminal) {
  struct stat facts;
  return fstat(terminal, &facts) == 0 && any_of_group(pidfd, is_reading, &facts);
}

bool process_group_has_stopped(int pidfd) { return any_of_group(pidfd, is_stopped, NULL); }
