#include "client_project.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client_directory.h"
#include "client_memory.h"

/* In the order in which one directory is judged; src/client/locate.ts has the same list. */
static const char *const markers[] = {
  "holdfast.toml", "devenv.nix", "flake.nix", "shell.nix", ".envrc", "devbox.json", ".flox/env.json", "mise.toml", ".mise.toml", "pixi.toml",
  "pixi.lock", "manifest.scm", "guix.scm", ".conda/conda-meta", "environment.yml", ".venv/bin/activate", "venv/bin/activate",
};

/* Looked for from the directory itself: a path walked anew for each of them, at each level, would be a tenth of what a call costs. */
static bool has_marker(const char *directory) {
  bool found = false;
  struct stat facts;
  int fd = openat(AT_FDCWD, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  for (size_t i = 0; i < sizeof markers / sizeof *markers && !found; i++) found = fstatat(fd, markers[i], &facts, 0) == 0;
  close(fd);
  return found;
}

const char *project_find(const char *physical) {
  size_t length = strlen(physical);
  char *out = length == 0 || length >= DIRECTORY_BYTES ? NULL : memory_room(DIRECTORY_BYTES);
  if (out == NULL) return NULL;
  memcpy(out, physical, length + 1);
  while (!has_marker(out)) {
    char *slash = strrchr(out, '/');
    if (slash == NULL || strcmp(out, "/") == 0) return NULL;
    slash[slash == out] = '\0'; /* above "/a" is "/" */
  }
  memory_keep(out);
  return out;
}
