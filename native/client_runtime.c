#include "client_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client_memory.h"
#include "client_messages.h"
#include "sha256.h"

enum { HASHED_BYTES = 16 };

const char *runtime_path(unsigned user) {
  char *out = memory_room(DIRECTORY_BYTES);
  const char *own = getenv("HOLDFAST_RUNTIME_DIR"), *xdg = getenv("XDG_RUNTIME_DIR");
  int length;
  if (out == NULL) return NULL;
  if (own != NULL && own[0] != '\0') length = snprintf(out, DIRECTORY_BYTES, "%s", own);
  else if (xdg != NULL && xdg[0] != '\0') length = snprintf(out, DIRECTORY_BYTES, "%s/holdfast", xdg);
  else length = snprintf(out, DIRECTORY_BYTES, "/tmp/holdfast-%u", user);
  if (length < 0 || length >= DIRECTORY_BYTES) return NULL;
  /* With a slash at the end O_NOFOLLOW would follow the link. */
  while (length > 1 && out[length - 1] == '/') out[--length] = '\0';
  memory_keep(out);
  return out;
}

int runtime_open(const char *path, unsigned user) {
  struct stat status;
  /* By openat(2), since open(3) of musl makes a second system call out of O_CLOEXEC. */
  int fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == ENAMETOOLONG)) return -errno;
  if (fd < 0) {
    const char *why = errno == ENOTDIR || errno == ELOOP ? "it is a link, or no directory" : strerror(errno);
    say("name another one in HOLDFAST_RUNTIME_DIR", "cannot use the runtime directory '%s': %s", path, why);
    return -EPERM;
  }
  /* Judged through the descriptor, and all files are reached through it: it cannot be exchanged in between. */
  if (fstat(fd, &status) == 0 && status.st_uid == user && (status.st_mode & 0777) == 0700) return fd;
  if (status.st_uid != user) say("name another one in HOLDFAST_RUNTIME_DIR", "cannot use the runtime directory '%s': it belongs to user %u", path, (unsigned)status.st_uid);
  else say("name another one in HOLDFAST_RUNTIME_DIR; one that is yours alone needs 'chmod 700'", "cannot use the runtime directory '%s': its mode is %03o, not 700", path, (unsigned)(status.st_mode & 0777));
  close(fd);
  return -EPERM;
}

static bool is_plain_byte(char byte, bool first) {
  if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9')) return true;
  return !first && (byte == '.' || byte == '_' || byte == '-');
}

void session_id(const char *name, char out[SESSION_ID_BYTES]) {
  uint8_t digest[SHA256_BYTES];
  size_t length = 0;
  while (length < SESSION_ID_BYTES && is_plain_byte(name[length], length == 0)) length++;
  if (length > 0 && length < SESSION_ID_BYTES && name[length] == '\0') {
    memcpy(out, name, length + 1);
    return;
  }
  sha256(name, strlen(name), digest);
  out[0] = '~';
  for (size_t i = 0; i < HASHED_BYTES; i++) snprintf(out + 1 + 2 * i, 3, "%02x", digest[i]);
}
