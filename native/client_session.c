#include "client_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client_memory.h"
#include "client_messages.h"
#include "client_open.h"
#include "client_project.h"
#include "client_runtime.h"
#include "client_socket.h"

enum { BACKLOG_WAIT_MS = 30000, BACKLOG_LONGEST_NAP_MS = 16, SOCKET_PATH_BYTES = 108, READ_MAX_BYTES = 1 << 20, TURN_NAP_MS = 20, TURN_WORD_MS = 1000 };

static int no_project(const char *physical) {
  say("name one with '--session NAME', or start in a project: a directory with a holdfast.toml ('holdfast init' writes one), or another file that 'runner-exec --help' lists",
      "no session was named, and no project was found from '%s' upwards", physical[0] != '\0' ? physical : ".");
  return EXIT_OURS;
}

/* "." and what begins with "./" or "../", as the NAME of holdfast's commands: the project around that directory. */
static bool is_path(const char *name) {
  size_t dots = name[0] != '.' ? 0 : name[1] == '.' ? 2 : 1;
  return dots > 0 && (name[dots] == '\0' || name[dots] == '/');
}

static int choose_around(const char *path, struct session *out) {
  char physical[DIRECTORY_BYTES];
  if (realpath(path, physical) == NULL) return say("'holdfast list' shows the sessions that are open", "there is no directory '%s'", path), EXIT_OURS;
  out->kind = SESSION_PROJECT;
  if ((out->name = project_find(physical)) == NULL) return no_project(physical);
  session_id(out->name, out->id);
  return OPTIONS_GO_ON;
}

int session_choose(const struct options *options, const struct directory *directory, struct session *out) {
  const char *asked = options->session != NULL ? options->session : getenv("HOLDFAST_SESSION");
  out->runtime_fd = -1;
  out->user = (unsigned)getauxval(AT_EUID); /* geteuid(2), without the call */
  if (options->socket != NULL) {
    out->kind = SESSION_SOCKET;
    out->name = options->socket;
    return OPTIONS_GO_ON;
  }
  if ((out->runtime = runtime_path(out->user)) == NULL) return say("name a shorter one in HOLDFAST_RUNTIME_DIR", "the path of the runtime directory is too long"), EXIT_OURS;
  if (options->session != NULL && is_path(options->session)) return choose_around(options->session, out);
  out->kind = asked != NULL && asked[0] != '\0' ? SESSION_NAMED : SESSION_PROJECT;
  out->name = out->kind == SESSION_NAMED ? asked : project_find(directory->physical);
  if (out->name == NULL) return options->shim != NULL ? SESSION_NONE : no_project(directory->physical);
  session_id(out->name, out->id);
  return OPTIONS_GO_ON;
}

/* A full backlog is waited for: whoever listens is alive, and busy. */
static int connect_patiently(int socket, const char *path) {
  long nap_ms = 1;
  for (long waited_ms = 0;; waited_ms += nap_ms) {
    int result = socket_connect(socket, path);
    if (result != -EAGAIN || waited_ms >= BACKLOG_WAIT_MS) return result;
    struct timespec nap = {.tv_nsec = nap_ms * 1000000};
    nanosleep(&nap, NULL);
    if (nap_ms < BACKLOG_LONGEST_NAP_MS) nap_ms *= 2;
  }
}

/* Connects to `name` in the directory `fd`. Through /proc the path is short, however deep the directory lies. */
static int connect_in(int socket, int fd, const char *name) {
  char path[SOCKET_PATH_BYTES];
  if (snprintf(path, sizeof path, "/proc/self/fd/%d/%s", fd, name) >= (int)sizeof path) return -ENAMETOOLONG;
  return connect_patiently(socket, path);
}

static int connect_path(int socket, const char *path) {
  if (strlen(path) < SOCKET_PATH_BYTES) return connect_patiently(socket, path);
  char parent[DIRECTORY_BYTES];
  const char *slash = strrchr(path, '/');
  size_t length = slash == NULL ? 0 : (size_t)(slash - path);
  if (length >= sizeof parent) return -ENAMETOOLONG;
  memcpy(parent, path, length);
  parent[length] = '\0';
  int fd = open(slash == NULL ? "." : length == 0 ? "/" : parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int result = connect_in(socket, fd, slash == NULL ? path : slash + 1);
  close(fd);
  return result;
}

/* By its whole path where that fits, which spares the way through /proc. The directory has been judged, and in one that is ours alone
 * nobody else puts a socket; whose agent it is will be asked of the connection itself. */
static int connect_once(struct session *session, int socket) {
  char path[SOCKET_PATH_BYTES];
  if (session->kind == SESSION_SOCKET) return connect_path(socket, session->name);
  if (session->runtime_fd < 0) session->runtime_fd = runtime_open(session->runtime, session->user);
  if (session->runtime_fd < 0) return session->runtime_fd;
  if (snprintf(path, sizeof path, "%s/%s.sock", session->runtime, session->id) < (int)sizeof path) return connect_patiently(socket, path);
  snprintf(path, sizeof path, "%s.sock", session->id);
  return connect_in(socket, session->runtime_fd, path);
}

static void say_not_connected(const struct session *session, int error) {
  char hint[512];
  if (error == -EPERM) return; /* the runtime directory was refused, with its reason */
  if (error == -ENOENT || error == -ECONNREFUSED || error == -ENOTDIR) {
    const char *state = error == -ECONNREFUSED ? "is not served any more" : "is not open";
    if (session->kind == SESSION_SOCKET) snprintf(hint, sizeof hint, "start it with 'holdfast open'; 'holdfast list' shows what is open");
    else if (session->kind == SESSION_NAMED && session->name[0] == '/') snprintf(hint, sizeof hint, "start it with 'holdfast open --project %.200s'; 'holdfast list' shows what is open", session->name); /* a project's session has its directory for a name */
    else if (session->kind == SESSION_NAMED) snprintf(hint, sizeof hint, "start it with 'holdfast open %.200s -- LAUNCHER...'; 'holdfast list' shows what is open", session->name);
    else snprintf(hint, sizeof hint, "start it with 'holdfast open --project DIR'; 'holdfast logs' may tell why it ended");
    say(hint, "session '%s' %s", session->name, state);
  } else if (error == -EAGAIN) say("'holdfast list' shows whether its agent is stuck", "session '%s' is too busy: it took no connection for %d s", session->name, BACKLOG_WAIT_MS / 1000);
  else if (error == -ENAMETOOLONG) say("a socket's file name has at most about 80 bytes", "cannot connect to session '%s': its path is too long", session->name);
  else {
    const char *cure = error == -EACCES ? "only the user who opened a session can use it" : "'holdfast list' shows what is open";
    say(cure, "cannot connect to session '%s': %s", session->name, strerror(-error));
  }
}

static bool is_trusted(const struct session *session, int socket) {
  uid_t uid = (uid_t)-1;
  if (socket_peer_uid(socket, &uid) == 0 && (unsigned)uid == session->user) return true;
  say("only the user who opened a session can use it", "refused to use session '%s': its agent belongs to user %u", session->name, (unsigned)uid);
  return false;
}

bool session_reopen(const struct session *session) { return session_open_again(session->kind == SESSION_SOCKET ? "--socket" : "--", session->name); }

/* The lock of whoever opens or closes it: ID.lock. -1: there is none. */
static int open_lock(const struct session *session) {
  static const char ending[] = ".sock";
  char path[DIRECTORY_BYTES];
  size_t length = session->kind == SESSION_SOCKET ? strlen(session->name) : 0;
  if (session->kind != SESSION_SOCKET) {
    snprintf(path, sizeof path, "%s.lock", session->id);
    return session->runtime_fd < 0 ? -1 : openat(session->runtime_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  }
  if (length >= sizeof path || length < sizeof ending || strcmp(session->name + length - (sizeof ending - 1), ending) != 0) return -1;
  snprintf(path, sizeof path, "%.*s.lock", (int)(length - (sizeof ending - 1)), session->name);
  return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static bool is_locked(const struct session *session) {
  int fd = open_lock(session);
  if (fd < 0) return false;
  bool locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
  close(fd);
  return locked;
}

bool session_await_turn(const struct session *session) {
  struct timespec nap = {.tv_nsec = TURN_NAP_MS * 1000000L};
  long waited_ms = 0;
  for (; is_locked(session); waited_ms += TURN_NAP_MS) {
    if (waited_ms == TURN_WORD_MS && isatty(STDERR_FILENO)) say(NULL, "session '%s' is being opened or closed: waiting", session->name);
    nanosleep(&nap, NULL);
  }
  return waited_ms > 0;
}

int session_connect(struct session *session) {
  bool opened = false;
  for (;;) {
    int socket = socket_open();
    int result = socket < 0 ? socket : connect_once(session, socket);
    if (result == 0 && is_trusted(session, socket)) return socket;
    if (socket >= 0) close(socket);
    if (result == 0) return -1;
    bool absent = result == -ENOENT || result == -ECONNREFUSED;
    if (absent && session->kind != SESSION_PROJECT && session_await_turn(session)) continue;
    if (session->kind != SESSION_PROJECT || !absent || opened) return say_not_connected(session, result), -1;
    if (!project_open(session->name)) return -1;
    opened = true;
  }
}

char *session_read(const struct session *session, const char *suffix) {
  char name[SESSION_ID_BYTES + 16], *text = NULL;
  struct stat status;
  if (session->kind == SESSION_SOCKET || session->runtime_fd < 0) return NULL;
  snprintf(name, sizeof name, "%s.%s", session->id, suffix);
  int fd = openat(session->runtime_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return NULL;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 && status.st_size <= READ_MAX_BYTES) {
    size_t room = (size_t)status.st_size, length = 0;
    text = memory_take(room + 1);
    for (ssize_t got = 1; text != NULL && length < room && got > 0; length += got > 0 ? (size_t)got : 0) got = read(fd, text + length, room - length);
    if (text != NULL) text[length] = '\0';
  }
  close(fd);
  return text;
}
