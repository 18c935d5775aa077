/* spawn.h and process.h for JS. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "addon.h"
#include "fault.h"
#include "process.h"
#include "spawn.h"
#include "warden.h"

/* The order of the numbers in spawn()'s first argument; src/native/spawn.ts has the same list. */
enum scalar { S_ARGC, S_ENVC, S_CWD_FD, S_UMASK, S_IGNORED_LOW, S_IGNORED_HIGH, S_NICE_SET, S_NICE, S_TERMINAL, S_TERMINAL_FD, S_CGROUP_FD, S_FD_COUNT, S_CWD_OR_ROOT, S_BEFORE_COUNT, SCALARS };

/* Points `into[0…count)` at the NUL-ended strings of a block, and ends the array. False: the block does not hold that many. */
static bool split(char *block, size_t bytes, size_t count, char **into) {
  char *end = block + bytes;
  for (size_t i = 0; i < count; i++) {
    char *nul = block < end ? memchr(block, '\0', (size_t)(end - block)) : NULL;
    if (nul == NULL) return false;
    into[i] = block;
    block = nul + 1;
  }
  into[count] = NULL;
  return true;
}

static size_t limits_of(const double *from, size_t bytes, struct spawn_limit *into, size_t capacity) {
  size_t count = bytes / (3 * sizeof *from);
  if (count > capacity) count = capacity;
  for (size_t i = 0; i < count; i++) {
    into[i].resource = (int)from[3 * i];
    into[i].soft = from[3 * i + 1] < 9007199254740992.0 ? (uint64_t)from[3 * i + 1] : UINT64_MAX;
    into[i].hard = from[3 * i + 2] < 9007199254740992.0 ? (uint64_t)from[3 * i + 2] : UINT64_MAX;
  }
  return count;
}

/* spawn(scalars, program|undefined, searchPath|undefined, argv, env, cwd|undefined, fds, numbers, limits: Float64Array,
 * out: Int32Array(6), subject, warden|undefined, before|undefined). before: words in front of argv. Without a program the first word is
 * it. program, searchPath, cwd and warden end with a NUL. out: pid, pidfd, step, errno, warden's pid, its control socket. All
 * descriptors given are borrowed. */
static napi_value js_spawn(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  size_t scalar_bytes, argv_bytes, env_bytes, fd_bytes, number_bytes, limit_bytes, out_bytes, subject_bytes, unused;
  struct spawn_limit limits[SPAWN_MAX_LIMITS];
  struct spawn_result result;
  arguments_of(env, info, argument);
  const int32_t *scalar = bytes_of(env, argument[0], &scalar_bytes);
  char *argv_block = bytes_of(env, argument[3], &argv_bytes);
  char *env_block = bytes_of(env, argument[4], &env_bytes);
  const char *program = bytes_of(env, argument[1], &unused);
  const double *limit_values = bytes_of(env, argument[8], &limit_bytes);
  int32_t *out = bytes_of(env, argument[9], &out_bytes);
  char *subject = bytes_of(env, argument[10], &subject_bytes);
  if (scalar == NULL || scalar_bytes < SCALARS * sizeof *scalar || argv_block == NULL || env_block == NULL || out == NULL ||
      out_bytes < 6 * sizeof *out || subject == NULL || subject_bytes < SPAWN_SUBJECT_BYTES)
    return number(env, -EINVAL);

  size_t before_bytes, before_count = (size_t)scalar[S_BEFORE_COUNT], argc = (size_t)scalar[S_ARGC], envc = (size_t)scalar[S_ENVC];
  char *before = bytes_of(env, argument[12], &before_bytes);
  char **pointers = malloc((before_count + argc + envc + 3) * sizeof *pointers);
  if (pointers == NULL) return number(env, -ENOMEM);
  struct spawn_request request = {
      .program = program != NULL ? program : before != NULL ? before : argv_block,
      .search_path = bytes_of(env, argument[2], &unused),
      .argv = pointers + 1, /* one slot in front, for sh */
      .envp = pointers + before_count + argc + 2,
      .cwd = bytes_of(env, argument[5], &unused),
      .cwd_fd = scalar[S_CWD_FD],
      .cwd_or_root = scalar[S_CWD_OR_ROOT] != 0,
      .fds = bytes_of(env, argument[6], &fd_bytes),
      .numbers = bytes_of(env, argument[7], &number_bytes),
      .limits = limits,
      .ignored = (uint64_t)(uint32_t)scalar[S_IGNORED_LOW] | (uint64_t)(uint32_t)scalar[S_IGNORED_HIGH] << 32,
      .umask = (uint32_t)scalar[S_UMASK],
      .nice_set = scalar[S_NICE_SET] != 0,
      .nice = scalar[S_NICE],
      .terminal = (uint8_t)scalar[S_TERMINAL],
      .terminal_fd = (uint32_t)scalar[S_TERMINAL_FD],
      .cgroup_fd = scalar[S_CGROUP_FD],
  };
  request.fd_count = (size_t)scalar[S_FD_COUNT];
  request.limit_count = limit_values == NULL ? 0 : limits_of(limit_values, limit_bytes, limits, sizeof limits / sizeof *limits);
  int answer = -EINVAL;
  if (request.fd_count <= fd_bytes / sizeof(int) && request.fd_count <= number_bytes / sizeof(int) &&
      split(before, before_bytes, before_count, request.argv) &&
      split(argv_block, argv_bytes, argc, request.argv + before_count) && split(env_block, env_bytes, envc, request.envp)) {
    const char *warden = bytes_of(env, argument[11], &unused);
    struct warded warded = {.warden = -1, .control = -1};
    answer = 0;
    if (warden == NULL) spawn_target(&request, &result);
    else warden_spawn(&request, warden, &result, &warded);
    out[4] = warded.warden, out[5] = warded.control;
    out[0] = result.pid, out[1] = result.pidfd, out[2] = result.step, out[3] = result.error;
    if (result.step != 0) memcpy(subject, result.subject, SPAWN_SUBJECT_BYTES);
  }
  free(pointers);
  return number(env, answer);
}

/* cgroupState(directory, events): see process_cgroup_state. */
static napi_value js_cgroup_state(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  arguments_of(env, info, argument);
  return number(env, process_cgroup_state(int_of(env, argument[0]), int_of(env, argument[1])));
}

static void write_change(const struct process_change *change, double *out) {
  const double fields[] = {change->pid, change->wait_status, (double)change->user_us, (double)change->system_us,
                           (double)change->max_rss_kib, (double)change->minor_faults, (double)change->major_faults,
                           (double)change->blocks_in, (double)change->blocks_out, (double)change->voluntary_switches,
                           (double)change->involuntary_switches};
  memcpy(out, fields, sizeof fields);
}

/* wardenNews(control, out: Float64Array(11)): 1 and a change of its target; 0: it is gone; -EAGAIN. */
static napi_value js_warden_news(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  size_t bytes;
  struct warden_report news;
  arguments_of(env, info, argument);
  double *out = bytes_of(env, argument[1], &bytes);
  if (out == NULL || bytes < 11 * sizeof *out) return number(env, -EINVAL);
  ssize_t n = FAULT(recv) ? -1 : recv(int_of(env, argument[0]), &news, sizeof news, MSG_DONTWAIT);
  /* It has ended without having read an order of ours. That is told first, and once; what it had said is still there. */
  if (n == -1 && errno == ECONNRESET) n = recv(int_of(env, argument[0]), &news, sizeof news, MSG_DONTWAIT);
  if (n == -1) return number(env, errno == ECONNRESET ? 0 : -errno);
  if ((size_t)n < offsetof(struct warden_report, subject)) return number(env, 0);
  write_change(&news.change, out);
  return number(env, 1);
}

/* wardenOrder(control, order): a signal number, or WARDEN_KILL. */
static napi_value js_warden_order(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  arguments_of(env, info, argument);
  uint8_t order = (uint8_t)int_of(env, argument[1]);
  return number(env, send(int_of(env, argument[0]), &order, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == -1 ? -errno : 0);
}

static napi_value js_watch_children(napi_env env, napi_callback_info info) {
  (void)info;
  return number(env, process_watch_children());
}

/* nextChange(out: Float64Array(11), which, leavesFailed): see process_next_change. */
static napi_value js_next_change(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  size_t bytes;
  struct process_change change;
  arguments_of(env, info, argument);
  double *out = bytes_of(env, argument[0], &bytes);
  if (out == NULL || bytes < 11 * sizeof *out) return number(env, -EINVAL);
  int result = process_next_change(int_of(env, argument[1]), int_of(env, argument[2]) != 0, &change);
  if (result >= 1) write_change(&change, out);
  return number(env, result);
}

static napi_value js_kill(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  arguments_of(env, info, argument);
  return number(env, process_kill(int_of(env, argument[0]), int_of(env, argument[1])));
}

static napi_value js_kill_group(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  arguments_of(env, info, argument);
  return number(env, process_kill_group(int_of(env, argument[0]), int_of(env, argument[1])));
}

static napi_value js_start_ticks(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  arguments_of(env, info, argument);
  return number(env, process_start_ticks(int_of(env, argument[0])));
}

static napi_value js_die_by(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  arguments_of(env, info, argument);
  process_die_by(int_of(env, argument[0]));
  return number(env, 0);
}

static napi_value js_become_subreaper(napi_env env, napi_callback_info info) {
  (void)info;
  return number(env, process_become_subreaper());
}

static napi_value js_follow_parent(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  arguments_of(env, info, argument);
  return number(env, process_follow_parent(int_of(env, argument[0])));
}

static napi_value js_setsid(napi_env env, napi_callback_info info) {
  (void)info;
  return number(env, setsid() == -1 ? -errno : 0);
}

static napi_value js_umask(napi_env env, napi_callback_info info) {
  (void)info;
  mode_t mask = umask(077);
  umask(mask);
  return number(env, mask);
}

#ifdef HOLDFAST_FAULTS
/* fault(call, errno, nth): see fault.h. */
static napi_value js_fault(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  char call[32];
  arguments_of(env, info, argument);
  fault_arm(text_of(env, argument[0], call, sizeof call) ? call : NULL, int_of(env, argument[1]), int_of(env, argument[2]));
  return number(env, 0);
}
#endif

void export_processes(napi_env env, napi_value exports) {
  export_function(env, exports, "spawn", js_spawn);
  export_function(env, exports, "cgroupState", js_cgroup_state);
  export_function(env, exports, "wardenNews", js_warden_news);
  export_function(env, exports, "wardenOrder", js_warden_order);
  export_function(env, exports, "watchChildren", js_watch_children);
  export_function(env, exports, "nextChange", js_next_change);
  export_function(env, exports, "kill", js_kill);
  export_function(env, exports, "killGroup", js_kill_group);
  export_function(env, exports, "startTicks", js_start_ticks);
  export_function(env, exports, "dieBy", js_die_by);
  export_function(env, exports, "becomeSubreaper", js_become_subreaper);
  export_function(env, exports, "followParent", js_follow_parent);
  export_function(env, exports, "setsid", js_setsid);
  export_function(env, exports, "umask", js_umask);
#ifdef HOLDFAST_FAULTS
  export_function(env, exports, "fault", js_fault);
#endif
}
