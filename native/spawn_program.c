/* Which file a target executes, and of one that cannot be: why. execvp(3)'s rules, with a cause for each failure. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "shim.h"
#include "spawn_child.h"

static const char DEFAULT_PATH[] = "/usr/local/bin:/usr/bin:/bin";

/* The first bytes of a file; 0 when it cannot be read. */
static size_t head_of(const char *path, char *into, size_t bytes) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd == -1) return 0;
  ssize_t n = read(fd, into, bytes);
  close(fd);
  return n < 0 ? 0 : (size_t)n;
}

/* Names the interpreter of a file that exists although execve said ENOENT: the `#!` program, or the ELF loader. `head` has room
 * for one byte more. */
static const char *interpreter_of(char *head, size_t bytes) {
  if (bytes > 2 && head[0] == '#' && head[1] == '!') {
    size_t from = 2, to;
    while (from < bytes && (head[from] == ' ' || head[from] == '\t')) from++;
    for (to = from; to < bytes && strchr(" \t\n\r", head[to]) == NULL; to++) {}
    head[to] = '\0';
    return head + from;
  }
  Elf64_Ehdr elf;
  if (bytes < sizeof elf || memcmp(head, ELFMAG, SELFMAG) != 0) return "unknown";
  memcpy(&elf, head, sizeof elf);
  for (unsigned i = 0; i < elf.e_phnum; i++) {
    Elf64_Phdr part;
    size_t at = elf.e_phoff + (size_t)i * sizeof part;
    if (at + sizeof part > bytes) break;
    memcpy(&part, head + at, sizeof part);
    if (part.p_type != PT_INTERP || part.p_offset >= bytes || part.p_filesz >= bytes - part.p_offset) continue;
    head[part.p_offset + part.p_filesz] = '\0';
    return head + part.p_offset;
  }
  return "the ELF loader";
}

/* A script without `#!` is run by sh, as a shell would do (POSIX execvp); a binary of another machine is not. */
static void exec_by_shell(struct child *child, char *path) {
  char head[256];
  size_t bytes = head_of(path, head, sizeof head);
  for (size_t i = 0; i < bytes && head[i] != '\n'; i++)
    if (head[i] == '\0') return;
  char **argv = child->request->argv - 1;
  argv[0] = (char[]){"sh"};
  argv[1] = path;
  execve("/bin/sh", argv, child->request->envp);
}

/* Not by stat(2), whose symbol needs a newer C library than Node does. */
static bool is_directory(const char *path) {
  int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

/* Tries one file. Returns when the search may go on (it is not there, or not ours to run); EACCES is remembered by the caller. */
static int try_exec(struct child *child, char *path) {
  const struct spawn_request *r = child->request;
  if (!FAULT(execve)) execve(path, r->argv, r->envp);
  int error = errno;
  if (error == ENOEXEC) {
    exec_by_shell(child, path);
    spawn_fail(child, STEP_EXEC, error, path);
  }
  if ((error == ENOENT || error == ENOTDIR) && access(path, F_OK) == 0) {
    char head[4096];
    size_t bytes = head_of(path, head, sizeof head - 1);
    spawn_fail(child, STEP_INTERPRETER, error, interpreter_of(head, bytes));
  }
  if (error == ENOENT || error == ENOTDIR) return ENOENT;
  if (error == EACCES) return is_directory(path) ? EISDIR : EACCES;
  spawn_fail(child, STEP_EXEC, error, path);
}

_Noreturn void spawn_program(struct child *child) {
  const struct spawn_request *r = child->request;
  char path[8192];
  size_t name_bytes = strlen(r->program);
  int refused = 0;

  if (strchr(r->program, '/') != NULL) {
    int error = try_exec(child, (char *)(size_t)r->program);
    spawn_fail(child, error == ENOENT ? STEP_PROGRAM : STEP_EXEC, error, r->program);
  }
  for (const char *from = r->search_path != NULL ? r->search_path : DEFAULT_PATH; name_bytes > 0;) {
    const char *to = strchrnul(from, ':');
    size_t bytes = (size_t)(to - from);
    if (bytes + name_bytes + 3 <= sizeof path) {
      memcpy(path, bytes == 0 ? "." : from, bytes == 0 ? 1 : bytes); /* an empty entry is the current directory */
      bytes = bytes == 0 ? 1 : bytes;
      path[bytes] = '/';
      memcpy(path + bytes + 1, r->program, name_bytes + 1);
      enum shim_look look = shim_look_at(path); /* cheaper than an execve that fails, where there is nothing */
      int error = look == SHIM_OTHER ? try_exec(child, path) : ENOENT;
      if (error == EACCES) { /* a directory of that name is no candidate; a file that may not be run is, if nothing better comes */
        if (refused == 0) memcpy(child->result->subject, path, bytes + name_bytes + 2 > SPAWN_SUBJECT_BYTES ? 0 : bytes + name_bytes + 2);
        refused = error;
      }
    }
    if (*to == '\0') break;
    from = to + 1;
  }
  if (refused != 0) spawn_fail(child, STEP_EXEC, refused, NULL);
  spawn_fail(child, STEP_PROGRAM, ENOENT, r->program);
}
