/* One epoll instance beneath one uv_poll handle: descriptors are watched without libuv knowing them, so that it never changes
 * their flags. The handle keeps the loop alive while anything is watched, and not otherwise. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <uv.h>

#include "addon.h"
#include "fault.h"

enum { BATCH = 64 };

struct poller {
  napi_env env;
  napi_ref callback;
  napi_async_context context;
  uv_poll_t handle;
  int epoll;
  int watched;
  int32_t *ready; /* pairs (fd, events), shared with JS */
  napi_ref ready_reference;
  napi_async_cleanup_hook_handle cleanup; /* while the environment ends */
};

static void on_ready(uv_poll_t *handle, int status, int events) {
  struct poller *poller = handle->data;
  struct epoll_event found[BATCH];
  (void)status, (void)events;
  int count = epoll_wait(poller->epoll, found, BATCH, 0);
  if (count <= 0) return;
  for (int i = 0; i < count; i++) {
    poller->ready[2 * i] = found[i].data.fd;
    poller->ready[2 * i + 1] = (int32_t)found[i].events;
  }
  napi_handle_scope scope;
  napi_value global, callback, argument, result;
  napi_open_handle_scope(poller->env, &scope);
  napi_get_global(poller->env, &global);
  napi_get_reference_value(poller->env, poller->callback, &callback);
  napi_create_int32(poller->env, count, &argument);
  if (napi_make_callback(poller->env, poller->context, global, callback, 1, &argument, &result) == napi_pending_exception) {
    napi_value error;
    napi_get_and_clear_last_exception(poller->env, &error);
    napi_fatal_exception(poller->env, error); /* reaches 'uncaughtException', as from any other event */
  }
  napi_close_handle_scope(poller->env, scope);
}

static void after_close(uv_handle_t *handle) {
  struct poller *poller = handle->data;
  napi_async_cleanup_hook_handle cleanup = poller->cleanup;
  free(poller);
  napi_remove_async_cleanup_hook(cleanup);
}

/* Asynchronous, since a worker thread that alone had loaded this file unloads it when its hooks are through: the handle must be
 * closed by then, or its callback would be called where no code is any more. */
static void on_environment_end(napi_async_cleanup_hook_handle cleanup, void *data) {
  struct poller *poller = data;
  poller->cleanup = cleanup;
  uv_poll_stop(&poller->handle);
  close(poller->epoll);
  uv_close((uv_handle_t *)&poller->handle, after_close);
}

/* startPoller(callback(count), ready: Int32Array(128)) — once an environment. */
static napi_value js_start(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS], name;
  size_t bytes;
  uv_loop_t *loop;
  arguments_of(env, info, argument);
  int32_t *ready = bytes_of(env, argument[1], &bytes);
  if (ready == NULL || bytes < 2 * BATCH * sizeof *ready) return number(env, -EINVAL);
  struct poller *poller = calloc(1, sizeof *poller);
  if (poller == NULL) return number(env, -ENOMEM);
  poller->env = env;
  poller->ready = ready;
  poller->epoll = FAULT(epoll_create1) ? -1 : epoll_create1(EPOLL_CLOEXEC);
  if (poller->epoll == -1) {
    free(poller);
    return number(env, -errno);
  }
  napi_get_uv_event_loop(env, &loop);
  uv_poll_init(loop, &poller->handle, poller->epoll);
  poller->handle.data = poller;
  uv_poll_start(&poller->handle, UV_READABLE, on_ready);
  uv_unref((uv_handle_t *)&poller->handle);
  napi_create_reference(env, argument[0], 1, &poller->callback);
  napi_create_reference(env, argument[1], 1, &poller->ready_reference);
  napi_create_string_utf8(env, "holdfast", NAPI_AUTO_LENGTH, &name);
  napi_async_init(env, NULL, name, &poller->context);
  napi_set_instance_data(env, poller, NULL, NULL);
  napi_add_async_cleanup_hook(env, on_environment_end, poller, NULL);
  return number(env, 0);
}

/* watch(fd, events, change): change 1 adds, 2 modifies, 3 removes (EPOLL_CTL_*). */
static napi_value js_watch(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  struct poller *poller = NULL;
  arguments_of(env, info, argument);
  napi_get_instance_data(env, (void **)&poller);
  if (poller == NULL) return number(env, -EINVAL);
  int change = int_of(env, argument[2]) == 1 ? EPOLL_CTL_ADD : int_of(env, argument[2]) == 2 ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
  struct epoll_event event = {.events = (uint32_t)int_of(env, argument[1]), .data.fd = int_of(env, argument[0])};
  /* A removal cannot fail but for a descriptor that is gone already, and then there is nothing to remove. */
  if ((FAULT(epoll_ctl) || epoll_ctl(poller->epoll, change, event.data.fd, &event) == -1) && change != EPOLL_CTL_DEL) return number(env, -errno);
  if (change == EPOLL_CTL_ADD && poller->watched++ == 0) uv_ref((uv_handle_t *)&poller->handle);
  if (change == EPOLL_CTL_DEL && --poller->watched == 0) uv_unref((uv_handle_t *)&poller->handle);
  return number(env, 0);
}

void export_poller(napi_env env, napi_value exports) {
  export_function(env, exports, "startPoller", js_start);
  export_function(env, exports, "watch", js_watch);
}
