#include "client_project.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client_directory.h"
#include "client_memory.h"

/* In the order in which one directory is judged; src/client/locate.ts has the same list. */
static const char *const markers[] = {
  "holdfast.toml", "devenv.nix", "flake.nix", "shell.nix", ".envrc", "devbox.json", ".flox/env.json", "mise.toml", ".mise.toml", "pixi.toml",
  "pixi.lock", "manifest.scm", "guix.scm", ".conda/conda-meta", "environment.yml", ".venv/bin/activate", "venv/bin/activate",
};

static bool has_marker(const char *directory) {
  char path[DIRECTORY_BYTES + 32];
  const char *base = strcmp(directory, "/") == 0 ? "" : directory;
  for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
    snprintf(path, sizeof path, "%s/%s", base, markers[i]);
    if (access(path, F_OK) == 0) return true;
  }
  return false;
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
