#include "render.h"

#include <inttypes.h>

static void render_bytes(FILE *to, struct wire_bytes bytes) {
  for (size_t i = 0; i < bytes.len; i++) {
    uint8_t byte = bytes.data[i];
    if (byte < 0x21 || byte > 0x7e || byte == '%') fprintf(to, "%%%02X", byte);
    else fputc(byte, to);
  }
}

static void render_named(FILE *to, const char *name, struct wire_bytes bytes) {
  fprintf(to, " %s=", name);
  render_bytes(to, bytes);
}

static void render_count(FILE *to, const char *name, uint64_t count) {
  if (count == UINT64_MAX) fprintf(to, " %s=-", name);
  else fprintf(to, " %s=%" PRIu64, name, count);
}

static void render_exited(FILE *to, const struct wire_exited *exited) {
  fprintf(to, "EXITED status=%" PRIu32 " cancelled=%u", exited->wait_status, exited->cancelled_by);
  render_count(to, "user", exited->user_us);
  render_count(to, "system", exited->system_us);
  render_count(to, "rss", exited->max_rss_kib);
  render_count(to, "minor", exited->minor_faults);
  render_count(to, "major", exited->major_faults);
  render_count(to, "in", exited->blocks_in);
  render_count(to, "out", exited->blocks_out);
  render_count(to, "voluntary", exited->voluntary_switches);
  render_count(to, "involuntary", exited->involuntary_switches);
  render_count(to, "queued", exited->queued_us);
  render_count(to, "spawn", exited->spawn_us);
  render_count(to, "run", exited->run_us);
  render_count(to, "tree-cpu", exited->tree_cpu_us);
  render_count(to, "tree-peak", exited->tree_peak_bytes);
  for (size_t i = 0; i < exited->leftover_count; i++) fprintf(to, " leftover=%" PRIu32, wire_u32(exited->leftovers + 4 * i));
}

void render_agent_frame(FILE *to, const struct wire_header *header, const struct wire_agent_frame *frame) {
  switch ((int)frame->kind) {
    case WIRE_REFUSED:
      fprintf(to, "REFUSED code=%u", frame->refused.code);
      render_named(to, "message", frame->refused.message);
      render_named(to, "hint", frame->refused.hint);
      break;
    case WIRE_QUEUED: fprintf(to, "QUEUED position=%" PRIu32, frame->queued.position); break;
    case WIRE_SPAWNED:
      fprintf(to, "SPAWNED fds=%u pid=%" PRIu32 " start=%" PRIu64, header->fd_count, frame->spawned.pid, frame->spawned.start_ns);
      render_named(to, "job", frame->spawned.job);
      break;
    case WIRE_NOT_STARTED:
      fprintf(to, "NOT_STARTED step=%u errno=%" PRIu32, frame->not_started.step, frame->not_started.error);
      render_named(to, "subject", frame->not_started.subject);
      render_named(to, "searched", frame->not_started.searched);
      break;
    case WIRE_STOPPED: fprintf(to, "STOPPED signal=%u", frame->stopped.signal); break;
    case WIRE_CONTINUED: fputs("CONTINUED", to); break;
    case WIRE_EXITED: render_exited(to, &frame->exited); break;
    case WIRE_ANSWER:
      fputs("ANSWER ", to);
      render_bytes(to, frame->answer.json);
      break;
    case WIRE_NOTICE:
      fputs("NOTICE", to);
      render_named(to, "message", frame->notice.message);
      render_named(to, "hint", frame->notice.hint);
      break;
    default: fprintf(to, "KIND %d", (int)frame->kind);
  }
}
