#include "client_report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client_json.h"
#include "client_messages.h"
#include "client_signals.h"

enum { REPORT_VERSION = 1 };

int report_open(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
  if (fd < 0) say("name a file that you can write", "cannot write the report '%s': %s", path, strerror(errno));
  return fd;
}

static const char *step_name(uint8_t step) {
  static const char *const names[] = {NULL,   "PROGRAM", "INTERPRETER", "DIRECTORY", "DESCRIPTOR", "LIMIT",   "NICE", "EXEC",
                                      "UMASK", "GROUP",   "SESSION",     "TERMINAL",  "SIGNALS",    "FORK", "CONTAINMENT", "FUNCTION"};
  return step > 0 && step < sizeof names / sizeof *names ? names[step] : "UNKNOWN";
}

static void put_ending(struct json *json, uint32_t wait_status) {
  char name[16];
  int status = (int)wait_status;
  if (WIFSIGNALED(status)) {
    json_string(json, "kind", "signaled");
    json_string(json, "signal", signal_name(WTERMSIG(status), name));
    json_number(json, "number", (uint64_t)WTERMSIG(status));
    json_bool(json, "core", (status & 0x80) != 0);
    return;
  }
  json_string(json, "kind", "exited");
  json_number(json, "code", (uint64_t)WEXITSTATUS(status));
}

static void put_cancelled(struct json *json, const char *by, const uint32_t *wait_status) {
  json_string(json, "kind", "cancelled");
  json_string(json, "by", by);
  if (wait_status == NULL) return;
  json_open(json, "ending", '{');
  put_ending(json, *wait_status);
  json_close(json, '}');
}

static void put_answer(struct json *json, const struct wire_agent_frame *answer) {
  static const char *const by[] = {NULL, "client", "deadline", "shutdown"};
  switch (answer->kind) {
  case WIRE_EXITED:
    if (answer->exited.cancelled_by == CANCELLED_NOBODY) put_ending(json, answer->exited.wait_status);
    else put_cancelled(json, by[answer->exited.cancelled_by % 4], &answer->exited.wait_status);
    break;
  case WIRE_NOT_STARTED:
    json_string(json, "kind", "notStarted");
    json_string(json, "step", step_name(answer->not_started.step));
    json_number(json, "errno", answer->not_started.error);
    json_bytes(json, "subject", answer->not_started.subject.data, answer->not_started.subject.len);
    json_bytes(json, "searched", answer->not_started.searched.data, answer->not_started.searched.len);
    break;
  case WIRE_REFUSED:
    json_string(json, "kind", "refused");
    json_number(json, "code", answer->refused.code);
    json_bytes(json, "message", answer->refused.message.data, answer->refused.message.len);
    break;
  default:
    json_string(json, "kind", "detached");
    json_bytes(json, "job", answer->spawned.job.data, answer->spawned.job.len);
    break;
  }
}

static void put_outcome(struct json *json, const struct ending *ending) {
  json_open(json, "outcome", '{');
  if (ending == NULL || ending->kind == ENDING_LOST) {
    json_string(json, "kind", "lost");
    json_string(json, "when", ending == NULL || ending->unread ? "before-spawn" : ending->spawned ? "after-spawn" : "unknown");
    if (ending != NULL && ending->status_known) {
      json_open(json, "ending", '{');
      put_ending(json, ending->wait_status);
      json_close(json, '}');
    }
  } else if (ending->kind == ENDING_ANSWERED) put_answer(json, &ending->answer);
  else put_cancelled(json, ending->kind == ENDING_OVERDUE ? "deadline" : "client", NULL);
  json_close(json, '}');
}

static void put_known_number(struct json *json, const char *name, uint64_t number) {
  if (number == UINT64_MAX) json_null(json, name);
  else json_number(json, name, number);
}

static void put_counters(struct json *json, const struct wire_exited *exited) {
  json_number(json, "waitStatus", exited->wait_status);
  json_open(json, "usage", '{');
  json_number(json, "userUs", exited->user_us);
  json_number(json, "systemUs", exited->system_us);
  json_number(json, "maxRssKib", exited->max_rss_kib);
  json_number(json, "minorFaults", exited->minor_faults);
  json_number(json, "majorFaults", exited->major_faults);
  json_number(json, "blocksIn", exited->blocks_in);
  json_number(json, "blocksOut", exited->blocks_out);
  json_number(json, "voluntarySwitches", exited->voluntary_switches);
  json_number(json, "involuntarySwitches", exited->involuntary_switches);
  json_close(json, '}');
  json_open(json, "timings", '{');
  json_number(json, "queuedUs", exited->queued_us);
  json_number(json, "spawnUs", exited->spawn_us);
  json_number(json, "runUs", exited->run_us);
  json_close(json, '}');
  json_open(json, "tree", '{');
  put_known_number(json, "cpuUs", exited->tree_cpu_us);
  put_known_number(json, "peakBytes", exited->tree_peak_bytes);
  json_close(json, '}');
  json_open(json, "leftovers", '[');
  for (size_t i = 0; i < exited->leftover_count; i++) json_number(json, NULL, wire_u32(exited->leftovers + 4 * i));
  json_close(json, ']');
}

/* `mark` and `passed` choose which of the changes are listed, by name alone. */
static void put_names(struct json *json, const char *list, const struct changes *changes, const char *marks, bool passed) {
  json_open(json, list, '[');
  for (size_t i = 0; i < changes->count; i++) {
    const char *word = changes->words[i];
    bool is_unset = word[0] == '-';
    if (strchr(marks, word[0]) == NULL || (!is_unset && changes->passed[i] != passed)) continue;
    json_bytes(json, NULL, word + 1, strcspn(word + 1, "="));
  }
  json_close(json, ']');
}

static void put_environment(struct json *json, const struct report *report) {
  json_open(json, "environment", '{');
  json_bool(json, "exact", report->options->exact);
  put_names(json, "passed", report->changes, "=?", true);
  put_names(json, "set", report->changes, "=", false);
  put_names(json, "unset", report->changes, "-", false);
  put_names(json, "pathPrepend", report->changes, ":", false);
  json_close(json, '}');
}

static bool write_all(int fd, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(fd, bytes, count);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) (bytes += written, count -= (size_t)written);
  }
  return true;
}

void report_write(int fd, const struct report *report) {
  struct json json = {.bytes = NULL};
  const struct ending *ending = report->ending;
  json_open(&json, NULL, '{');
  json_number(&json, "version", REPORT_VERSION);
  if (report->session->name != NULL) json_string(&json, "session", report->session->name);
  put_outcome(&json, ending);
  if (ending != NULL && ending->spawned) {
    json_number(&json, "pid", ending->pid);
    json_number(&json, "startNs", ending->start_ns);
  }
  if (ending != NULL && ending->kind == ENDING_ANSWERED && ending->answer.kind == WIRE_EXITED) put_counters(&json, &ending->answer.exited);
  put_environment(&json, report);
  json_open(&json, "client", '{');
  json_number(&json, "exitCode", (uint64_t)report->exit_code);
  json_close(&json, '}');
  json_close(&json, '}');
  if (json.failed || !write_all(fd, json.bytes, json.length) || !write_all(fd, "\n", 1)) say("name a file that you can write", "cannot write the report '%s'", report->options->report);
  free(json.bytes);
  close(fd);
}
