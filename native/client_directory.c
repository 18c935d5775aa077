#include "client_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client_memory.h"
#include "client_messages.h"

/* Removes "//", "." and ".." by name alone: what the path says, not where links lead. */
static void flatten(const char *path, char out[DIRECTORY_BYTES]) {
  size_t length = 0;
  while (*path != '\0') {
    size_t part = strcspn(path, "/");
    if (part == 2 && path[0] == '.' && path[1] == '.')
      while (length > 0 && out[--length] != '/') continue;
    else if (part > 0 && !(part == 1 && path[0] == '.')) {
      out[length++] = '/';
      memcpy(out + length, path, part);
      length += part;
    }
    path += part + (path[part] == '/');
  }
  out[length] = '\0';
}

/* Names that mean another place in every process that reads them. */
static bool is_per_process(const char *path) {
  static const char *const roots[] = {"/proc/self", "/proc/thread-self", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"};
  char flat[DIRECTORY_BYTES];
  if (strlen(path) >= sizeof flat) return false;
  flatten(path, flat);
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
    size_t length = strlen(roots[i]);
    if (strncmp(flat, roots[i], length) == 0 && (flat[length] == '\0' || flat[length] == '/')) return true;
  }
  return false;
}

bool directory_join(const struct directory *directory, const char *path, char out[DIRECTORY_BYTES]) {
  const char *base = path[0] == '/' ? "" : directory->target[0] != '\0' ? directory->target : directory->physical;
  if (path[0] != '/' && base[0] == '\0') return false;
  const char *between = path[0] == '/' || base[strlen(base) - 1] == '/' ? "" : "/";
  int length = snprintf(out, DIRECTORY_BYTES, "%s%s%s", base, between, path);
  return length >= 0 && length < DIRECTORY_BYTES;
}

/* $PWD is the name the user walked by, links included; it is believed only while it leads to the same directory. */
static bool believe_pwd(const char *pwd) {
  struct stat named, here;
  if (pwd == NULL || pwd[0] != '/' || strlen(pwd) >= DIRECTORY_BYTES || is_per_process(pwd)) return false;
  if (strstr(pwd, "/./") != NULL || strstr(pwd, "/../") != NULL) return false;
  return stat(pwd, &named) == 0 && stat(".", &here) == 0 && named.st_dev == here.st_dev && named.st_ino == here.st_ino;
}

int directory_open(struct directory *directory) {
  if (directory->fd >= 0) return OPTIONS_GO_ON;
  directory->fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory->fd >= 0) return OPTIONS_GO_ON;
  say("change to another directory, or name one with '--cwd'", "cannot open the current directory: %s", strerror(errno));
  return EXIT_OURS;
}

static int choose(const struct options *options, struct directory *out) {
  char *joined = memory_room(DIRECTORY_BYTES);
  if (joined == NULL || !directory_join(out, options->cwd, joined)) {
    say("give an absolute path", "cannot use the directory '%s': the path is too long, or the current directory has no name", options->cwd);
    return EXIT_OURS;
  }
  if (is_per_process(joined)) {
    say("name the directory itself", "cannot use the directory '%s': that path means another place in every process", options->cwd);
    return EXIT_OURS;
  }
  memory_keep(joined);
  out->target = joined;
  return OPTIONS_GO_ON;
}

int directory_find(const struct options *options, struct directory *out) {
  const char *pwd = getenv("PWD");
  char *physical = memory_room(DIRECTORY_BYTES);

  out->fd = -1;
  /* A directory outside of our root is "(unreachable)/…": no name that could be used. */
  bool named = physical != NULL && getcwd(physical, DIRECTORY_BYTES) != NULL && physical[0] == '/';
  if (named) memory_keep(physical);
  out->physical = named ? physical : "";
  /* In most calls the two are equal, and one system call has decided. */
  bool same = named && pwd != NULL && strcmp(pwd, physical) == 0;
  out->target = !same && believe_pwd(pwd) ? pwd : out->physical;
  if (options->cwd != NULL) return choose(options, out);
  return out->target[0] == '\0' ? directory_open(out) : OPTIONS_GO_ON;
}
