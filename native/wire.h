/* The C half of the codec of docs/protocol.md: encodes what a client says, decodes what an agent says.
 * Pure: no sockets, no descriptors, no clock. */
#ifndef HOLDFAST_WIRE_H
#define HOLDFAST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* A view of bytes that somebody else owns; never NUL-terminated. */
struct wire_bytes {
  const uint8_t *data;
  size_t len;
};

struct wire_limit {
  uint8_t resource;
  uint64_t soft, hard; /* UINT64_MAX: infinity */
};

/* All pointers are borrowed for the time of wire_encode_run(). */
struct wire_run {
  uint16_t flags;
  uint8_t terminal;
  uint32_t terminal_fd;
  bool nice_set;
  int8_t nice;
  uint32_t umask;
  uint64_t ignored;
  uint32_t kill_grace_ms, timeout_ms;
  const uint32_t *fd_numbers;
  size_t fd_count; /* without the directory descriptor */
  const struct wire_limit *limits;
  size_t limit_count;
  const char *const *argv;
  size_t argc;
  const char *program; /* NULL or "": argv[0] */
  const char *const *env; /* each with its leading '=', '-', '?' or ':'; '~' with WIRE_RUN_CALLER */
  size_t env_count;
  const char *cwd; /* NULL or "": only with WIRE_RUN_CWD_FD */
};

/* The whole RUN frame, header included, in one block that comes from `take`. 0, or -E2BIG (over the cap), -ENOMEM. */
int wire_encode_run(const struct wire_run *run, void *(*take)(size_t bytes), uint8_t **frame, size_t *frame_bytes);

/* Writes a SIGNAL frame (9 bytes), or SUSPEND/RESUME (8 bytes), into `out`; returns its length. */
size_t wire_encode_signal(uint8_t out[9], int signal);
size_t wire_encode_plain(uint8_t out[9], enum wire_kind kind);

struct wire_header {
  uint32_t body_bytes;
  uint8_t kind;
  uint8_t fd_count;
};

/* Judges the header of a frame that comes from an agent. 0, or -EPROTO (unknown kind, over its cap, descriptors or reserved wrong). */
int wire_decode_header(const uint8_t header[WIRE_HEADER_BYTES], struct wire_header *out);

struct wire_exited {
  uint32_t wait_status;
  uint8_t cancelled_by;
  uint64_t user_us, system_us, max_rss_kib, minor_faults, major_faults, blocks_in, blocks_out, voluntary_switches, involuntary_switches;
  uint64_t queued_us, spawn_us, run_us, tree_cpu_us, tree_peak_bytes; /* the last two UINT64_MAX: not known */
  uint16_t leftover_count;
  const uint8_t *leftovers; /* big-endian u32 each: read with wire_u32() */
};

/* One decoded frame of an agent; views point into the body given to wire_decode_agent(). */
struct wire_agent_frame {
  enum wire_kind kind;
  union {
    struct { uint16_t code; struct wire_bytes message, hint; } refused;
    struct { uint32_t position; } queued;
    struct { uint32_t pid; uint64_t start_ns; struct wire_bytes job; } spawned;
    struct { uint8_t step; uint32_t error; struct wire_bytes subject, searched; } not_started;
    struct { uint8_t signal; } stopped;
    struct wire_exited exited;
    struct { struct wire_bytes json; } answer;
    struct { struct wire_bytes message, hint; } notice;
  };
};

/* 0, or -EPROTO for a body that is short, long, or out of range. */
int wire_decode_agent(const struct wire_header *header, const uint8_t *body, struct wire_agent_frame *out);

uint32_t wire_u32(const uint8_t *at);

#endif
