/* The C half of the codec of docs/protocol.md, declared in wire.h. src/protocol/ is the other half, and test/vectors/frames.txt
 * feeds both: change all of them in one commit. */
#include "wire.h"

#include <errno.h>
#include <string.h>

enum {
  RUN_FIXED_BYTES = 63, /* the counts and lengths of the variable fields included */
  RUN_BYTES_PER_FD = 4,
  RUN_BYTES_PER_LIMIT = 17,
  MAX_SIGNAL = 64,      /* SIGRTMAX of Linux */
  MAX_ERRNO = 4095,     /* of the kernel */
  MAX_PID = 0x7fffffff, /* a pid_t is an int */
};

/* What a JavaScript number counts exactly. */
static const uint64_t MAX_COUNT = (UINT64_C(1) << 53) - 1;

struct rule {
  uint8_t kind;
  uint8_t max_fds;
  uint32_t max_body_bytes;
};

static const uint32_t MAX_RUN_BODY_BYTES = 8388608;

static const struct rule AGENT_RULES[] = {
  {WIRE_REFUSED, 0, 65536},       {WIRE_QUEUED, 0, 4},     {WIRE_SPAWNED, 1, 4096}, {WIRE_NOT_STARTED, 0, 1048576},
  {WIRE_STOPPED, 0, 1},           {WIRE_CONTINUED, 0, 0},  {WIRE_EXITED, 0, 65536}, {WIRE_ANSWER, 0, 16777216},
  {WIRE_NOTICE, 0, 65536},
};

/* ---- encoding: the caller of these has measured, so there is room ---- */

static uint8_t *put_u8(uint8_t *at, uint8_t value) {
  *at = value;
  return at + 1;
}

static uint8_t *put_u16(uint8_t *at, uint16_t value) {
  at[0] = (uint8_t)(value >> 8);
  at[1] = (uint8_t)value;
  return at + 2;
}

static uint8_t *put_u32(uint8_t *at, uint32_t value) {
  at = put_u16(at, (uint16_t)(value >> 16));
  return put_u16(at, (uint16_t)value);
}

static uint8_t *put_u64(uint8_t *at, uint64_t value) {
  at = put_u32(at, (uint32_t)(value >> 32));
  return put_u32(at, (uint32_t)value);
}

static uint8_t *put_bytes(uint8_t *at, const char *bytes, size_t len) {
  if (len > 0) memcpy(at, bytes, len);
  return at + len;
}

static uint8_t *put_string(uint8_t *at, const char *string) {
  size_t len = string == NULL ? 0 : strlen(string);

  at = put_u32(at, (uint32_t)len);
  return put_bytes(at, string, len);
}

/* The byte count in front of the strings is known only behind them, so it is written last. */
static uint8_t *put_list(uint8_t *at, const char *const *strings, size_t count) {
  uint8_t *block = at + 8;
  uint8_t *end = block;

  for (size_t i = 0; i < count; i++) end = put_bytes(end, strings[i], strlen(strings[i]) + 1);
  at = put_u32(at, (uint32_t)count);
  put_u32(at, (uint32_t)(end - block));
  return end;
}

static uint8_t *put_header(uint8_t *at, uint32_t body_bytes, uint8_t kind, uint8_t fd_count) {
  at = put_u32(at, body_bytes);
  at = put_u8(at, kind);
  at = put_u8(at, fd_count);
  return put_u16(at, 0);
}

/* Adds to a sum of bytes, which a cap below SIZE_MAX ends long before it could wrap. */
static bool add(size_t *sum, size_t bytes) {
  if (bytes > MAX_RUN_BODY_BYTES - *sum) return false;
  *sum += bytes;
  return true;
}

static bool add_strings(size_t *sum, const char *const *strings, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!add(sum, strlen(strings[i]) + 1)) return false;
  return true;
}

/* Bytes of the body, or false when it or a count in it is over its cap. */
static bool measure_run(const struct wire_run *run, size_t *body_bytes) {
  size_t fds = run->fd_count + ((run->flags & WIRE_RUN_CWD_FD) != 0 ? 1 : 0);

  *body_bytes = RUN_FIXED_BYTES;
  if (run->fd_count > WIRE_MAX_FDS || fds > WIRE_MAX_FDS || run->limit_count > UINT16_MAX) return false;
  return add(body_bytes, run->fd_count * RUN_BYTES_PER_FD) && add(body_bytes, run->limit_count * RUN_BYTES_PER_LIMIT) &&
         add_strings(body_bytes, run->argv, run->argc) && add(body_bytes, run->program == NULL ? 0 : strlen(run->program)) &&
         add_strings(body_bytes, run->env, run->env_count) && add(body_bytes, run->cwd == NULL ? 0 : strlen(run->cwd));
}

static uint8_t *put_attributes(uint8_t *at, const struct wire_run *run) {
  at = put_u32(at, WIRE_MAGIC);
  at = put_u16(at, WIRE_VERSION);
  at = put_u16(at, run->flags);
  at = put_u8(at, run->terminal);
  at = put_u32(at, run->terminal_fd);
  at = put_u8(at, run->nice_set ? 1 : 0);
  at = put_u8(at, run->nice_set ? (uint8_t)run->nice : 0);
  at = put_u32(at, run->umask);
  at = put_u64(at, run->ignored);
  at = put_u32(at, run->kill_grace_ms);
  return put_u32(at, run->timeout_ms);
}

static uint8_t *put_limits(uint8_t *at, const struct wire_limit *limits, size_t count) {
  at = put_u16(at, (uint16_t)count);
  for (size_t i = 0; i < count; i++) {
    at = put_u8(at, limits[i].resource);
    at = put_u64(at, limits[i].soft);
    at = put_u64(at, limits[i].hard);
  }
  return at;
}

int wire_encode_run(const struct wire_run *run, void *(*take)(size_t bytes), uint8_t **frame, size_t *frame_bytes) {
  size_t body_bytes;

  if (!measure_run(run, &body_bytes)) return -E2BIG;
  uint8_t *start = take(WIRE_HEADER_BYTES + body_bytes);
  if (start == NULL) return -ENOMEM;
  uint8_t riding = (uint8_t)(run->fd_count + ((run->flags & WIRE_RUN_CWD_FD) != 0 ? 1 : 0));
  uint8_t *at = put_header(start, (uint32_t)body_bytes, WIRE_RUN, riding);
  at = put_attributes(at, run);
  at = put_u16(at, (uint16_t)run->fd_count);
  for (size_t i = 0; i < run->fd_count; i++) at = put_u32(at, run->fd_numbers[i]);
  at = put_limits(at, run->limits, run->limit_count);
  at = put_list(at, run->argv, run->argc);
  at = put_string(at, run->program);
  at = put_list(at, run->env, run->env_count);
  put_string(at, run->cwd);
  *frame = start;
  *frame_bytes = WIRE_HEADER_BYTES + body_bytes;
  return 0;
}

size_t wire_encode_signal(uint8_t out[9], int signal) {
  put_u8(put_header(out, 1, WIRE_SIGNAL, 0), (uint8_t)signal);
  return WIRE_HEADER_BYTES + 1;
}

size_t wire_encode_plain(uint8_t out[9], enum wire_kind kind) {
  put_header(out, 0, (uint8_t)kind, 0);
  return WIRE_HEADER_BYTES;
}

/* ---- decoding: a reader that once failed stays failed and gives zeroes, so that fields are read in a row and judged once ---- */

struct reader {
  const uint8_t *at;
  size_t left;
  bool failed;
};

uint32_t wire_u32(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static const uint8_t *take(struct reader *in, size_t bytes) {
  if (in->failed || bytes > in->left) {
    in->failed = true;
    return NULL;
  }
  const uint8_t *at = in->at;
  in->at += bytes;
  in->left -= bytes;
  return at;
}

static uint8_t get_u8(struct reader *in) {
  const uint8_t *at = take(in, 1);
  if (at == NULL) return 0;
  return at[0];
}

static uint16_t get_u16(struct reader *in) {
  const uint8_t *at = take(in, 2);
  if (at == NULL) return 0;
  return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get_u32(struct reader *in) {
  const uint8_t *at = take(in, 4);
  return at == NULL ? 0 : wire_u32(at);
}

static uint64_t get_u64(struct reader *in) {
  const uint8_t *at = take(in, 8);
  return at == NULL ? 0 : (uint64_t)wire_u32(at) << 32 | wire_u32(at + 4);
}

static uint64_t get_count(struct reader *in) {
  uint64_t count = get_u64(in);
  if (count > MAX_COUNT) in->failed = true;
  return count;
}

/* A count, or all ones for "not known". */
static uint64_t get_optional_count(struct reader *in) {
  uint64_t count = get_u64(in);
  if (count > MAX_COUNT && count != UINT64_MAX) in->failed = true;
  return count;
}

static uint32_t get_pid(struct reader *in) {
  uint32_t pid = get_u32(in);
  if (pid == 0 || pid > MAX_PID) in->failed = true;
  return pid;
}

static struct wire_bytes get_string(struct reader *in) {
  struct wire_bytes string = {.data = NULL, .len = get_u32(in)};

  string.data = take(in, string.len);
  if (string.data == NULL) string.len = 0;
  else if (string.len > 0 && memchr(string.data, 0, string.len) != NULL) in->failed = true;
  return string;
}

/* A wait status of a process that ended: not of one that stopped, and no core without a signal. */
static bool is_ending(uint32_t wait_status) {
  uint32_t signal = wait_status & 0x7f;
  return wait_status <= 0xffff && signal <= MAX_SIGNAL && (signal != 0 || (wait_status & 0x80) == 0);
}

static void get_refused(struct reader *in, struct wire_agent_frame *out) {
  out->refused.code = get_u16(in);
  out->refused.message = get_string(in);
  out->refused.hint = get_string(in);
  if (out->refused.code < REFUSED_VERSION || out->refused.code > REFUSED_WRAPPER) in->failed = true;
}

static void get_spawned(struct reader *in, struct wire_agent_frame *out) {
  out->spawned.pid = get_pid(in);
  out->spawned.start_ns = get_u64(in);
  out->spawned.job = get_string(in);
}

static void get_not_started(struct reader *in, struct wire_agent_frame *out) {
  out->not_started.step = get_u8(in);
  out->not_started.error = get_u32(in);
  out->not_started.subject = get_string(in);
  out->not_started.searched = get_string(in);
  if (out->not_started.step < STEP_PROGRAM || out->not_started.step > STEP_FUNCTION) in->failed = true;
  if (out->not_started.error > MAX_ERRNO) in->failed = true;
}

static void get_leftovers(struct reader *in, struct wire_exited *out) {
  out->leftover_count = get_u16(in);
  out->leftovers = in->at;
  for (size_t i = 0; i < out->leftover_count && !in->failed; i++) get_pid(in);
}

static void get_exited(struct reader *in, struct wire_exited *out) {
  out->wait_status = get_u32(in);
  out->cancelled_by = get_u8(in);
  out->user_us = get_count(in);
  out->system_us = get_count(in);
  out->max_rss_kib = get_count(in);
  out->minor_faults = get_count(in);
  out->major_faults = get_count(in);
  out->blocks_in = get_count(in);
  out->blocks_out = get_count(in);
  out->voluntary_switches = get_count(in);
  out->involuntary_switches = get_count(in);
  out->queued_us = get_count(in);
  out->spawn_us = get_count(in);
  out->run_us = get_count(in);
  out->tree_cpu_us = get_optional_count(in);
  out->tree_peak_bytes = get_optional_count(in);
  get_leftovers(in, out);
  if (!is_ending(out->wait_status) || out->cancelled_by > CANCELLED_SHUTDOWN) in->failed = true;
}

int wire_decode_header(const uint8_t header[WIRE_HEADER_BYTES], struct wire_header *out) {
  struct reader in = {.at = header, .left = WIRE_HEADER_BYTES, .failed = false};

  out->body_bytes = get_u32(&in);
  out->kind = get_u8(&in);
  out->fd_count = get_u8(&in);
  if (get_u16(&in) != 0) return -EPROTO;
  for (size_t i = 0; i < sizeof AGENT_RULES / sizeof *AGENT_RULES; i++) {
    const struct rule *rule = &AGENT_RULES[i];
    if (rule->kind != out->kind) continue;
    return out->body_bytes <= rule->max_body_bytes && out->fd_count <= rule->max_fds ? 0 : -EPROTO;
  }
  return -EPROTO;
}

int wire_decode_agent(const struct wire_header *header, const uint8_t *body, struct wire_agent_frame *out) {
  struct reader in = {.at = body, .left = header->body_bytes, .failed = false};

  memset(out, 0, sizeof *out);
  out->kind = (enum wire_kind)header->kind;
  switch (header->kind) {
    case WIRE_REFUSED: get_refused(&in, out); break;
    case WIRE_QUEUED:
      out->queued.position = get_u32(&in);
      if (out->queued.position == 0) in.failed = true;
      break;
    case WIRE_SPAWNED: get_spawned(&in, out); break;
    case WIRE_NOT_STARTED: get_not_started(&in, out); break;
    case WIRE_STOPPED:
      out->stopped.signal = get_u8(&in);
      if (out->stopped.signal == 0 || out->stopped.signal > MAX_SIGNAL) in.failed = true;
      break;
    case WIRE_CONTINUED: break;
    case WIRE_EXITED: get_exited(&in, &out->exited); break;
    case WIRE_ANSWER:
      if (in.left < 2) in.failed = true; /* no JSON object is shorter; what it says is for its reader */
      out->answer.json.len = in.left;
      out->answer.json.data = take(&in, in.left);
      break;
    case WIRE_NOTICE:
      out->notice.message = get_string(&in);
      out->notice.hint = get_string(&in);
      break;
    default: return -EPROTO;
  }
  return in.failed || in.left != 0 ? -EPROTO : 0;
}
