/* fd.h for JS. Descriptors cross as plain numbers: src/native.ts says who owns them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "addon.h"
#include "fault.h"
#include "fd.h"

typedef int (*path_call)(const char *path);

static napi_value with_path(napi_env env, napi_callback_info info, path_call call) {
  napi_value argument[MAX_ARGUMENTS];
  char path[PATH_MAX];
  arguments_of(env, info, argument);
  return number(env, text_of(env, argument[0], path, sizeof path) ? call(path) : -ENAMETOOLONG);
}

static napi_value js_connect(napi_env env, napi_callback_info info) { return with_path(env, info, fd_connect); }
static napi_value js_bind_datagram(napi_env env, napi_callback_info info) { return with_path(env, info, fd_bind_datagram); }
static napi_value js_open_directory(napi_env env, napi_callback_info info) { return with_path(env, info, fd_directory); }

static napi_value js_listen(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  char path[PATH_MAX];
  arguments_of(env, info, argument);
  return number(env, text_of(env, argument[0], path, sizeof path) ? fd_listen(path, int_of(env, argument[1])) : -ENAMETOOLONG);
}

static napi_value js_lock(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  char path[PATH_MAX];
  arguments_of(env, info, argument);
  return number(env, text_of(env, argument[0], path, sizeof path) ? fd_lock(path, int_of(env, argument[1]) != 0) : -ENAMETOOLONG);
}

static napi_value js_accept(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  arguments_of(env, info, argument);
  return number(env, fd_accept(int_of(env, argument[0])));
}

/* receive(fd, buffer, offset, fds: Int32Array(254)): bytes. fds[0] is their count, fds[1…] the descriptors. */
static napi_value js_receive(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  size_t bytes, fd_bytes, count = 0;
  arguments_of(env, info, argument);
  char *data = bytes_of(env, argument[1], &bytes);
  int32_t offset = int_of(env, argument[2]);
  int32_t *fds = bytes_of(env, argument[3], &fd_bytes);
  if (data == NULL || offset < 0 || (size_t)offset >= bytes || fds == NULL || fd_bytes < (WIRE_MAX_FDS + 1) * sizeof *fds)
    return number(env, -EINVAL);
  ssize_t result = fd_receive(int_of(env, argument[0]), data + offset, bytes - (size_t)offset, fds + 1, &count);
  fds[0] = (int32_t)count;
  return number(env, result);
}

/* send(fd, buffer, offset, fds: Int32Array, fdCount): bytes taken. */
static napi_value js_send(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  size_t bytes, fd_bytes;
  arguments_of(env, info, argument);
  const char *data = bytes_of(env, argument[1], &bytes);
  int32_t offset = int_of(env, argument[2]);
  const int32_t *fds = bytes_of(env, argument[3], &fd_bytes);
  int32_t count = int_of(env, argument[4]);
  if (data == NULL || offset < 0 || (size_t)offset > bytes || count < 0 || (size_t)count > fd_bytes / sizeof *fds) return number(env, -EINVAL);
  return number(env, fd_send(int_of(env, argument[0]), data + offset, bytes - (size_t)offset, fds, (size_t)count));
}

/* peer(fd, out: Int32Array(3)): pid, uid, gid. */
static napi_value js_peer(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  size_t bytes;
  struct fd_peer peer;
  arguments_of(env, info, argument);
  int32_t *out = bytes_of(env, argument[1], &bytes);
  if (out == NULL || bytes < 3 * sizeof *out) return number(env, -EINVAL);
  int result = fd_peer(int_of(env, argument[0]), &peer);
  if (result == 0) out[0] = peer.pid, out[1] = (int32_t)peer.uid, out[2] = (int32_t)peer.gid;
  return number(env, result);
}

static napi_value js_notify(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  char address[PATH_MAX];
  size_t bytes;
  arguments_of(env, info, argument);
  const void *message = bytes_of(env, argument[1], &bytes);
  if (message == NULL || !text_of(env, argument[0], address, sizeof address)) return number(env, -EINVAL);
  return number(env, fd_notify(address, message, bytes));
}

/* close(fd, …): up to MAX_ARGUMENTS of them. */
static napi_value js_close(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  size_t count = MAX_ARGUMENTS;
  napi_get_cb_info(env, info, &count, argument, NULL, NULL);
  for (size_t i = 0; i < count && i < MAX_ARGUMENTS; i++) fd_close(int_of(env, argument[i]));
  return number(env, 0);
}

static napi_value js_cloexec_from(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  arguments_of(env, info, argument);
  return number(env, fd_cloexec_from((unsigned)int_of(env, argument[0])));
}

/* pipe(out: Int32Array(2)): read end, write end. */
static napi_value js_pipe(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  size_t bytes;
  arguments_of(env, info, argument);
  int32_t *ends = bytes_of(env, argument[0], &bytes);
  if (ends == NULL || bytes < 2 * sizeof *ends) return number(env, -EINVAL);
  return number(env, FAULT(pipe2) || pipe2(ends, O_CLOEXEC) == -1 ? -errno : 0);
}

/* fcntl(F_GETFL): -EBADF says that the number is not open. */
static napi_value js_flags(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  arguments_of(env, info, argument);
  int flags = fcntl(int_of(env, argument[0]), F_GETFL);
  return number(env, flags == -1 ? -errno : flags);
}

static napi_value js_is_tty(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  struct termios ignored;
  arguments_of(env, info, argument);
  return number(env, tcgetattr(int_of(env, argument[0]), &ignored) == 0);
}

void export_sockets(napi_env env, napi_value exports) {
  export_function(env, exports, "listen", js_listen);
  export_function(env, exports, "accept", js_accept);
  export_function(env, exports, "connect", js_connect);
  export_function(env, exports, "receive", js_receive);
  export_function(env, exports, "send", js_send);
  export_function(env, exports, "peer", js_peer);
  export_function(env, exports, "bindDatagram", js_bind_datagram);
  export_function(env, exports, "notify", js_notify);
  export_function(env, exports, "lock", js_lock);
  export_function(env, exports, "openDirectory", js_open_directory);
  export_function(env, exports, "close", js_close);
  export_function(env, exports, "cloexecFrom", js_cloexec_from);
  export_function(env, exports, "pipe", js_pipe);
  export_function(env, exports, "flags", js_flags);
  export_function(env, exports, "isTty", js_is_tty);
}
