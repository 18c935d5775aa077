#include "client_verdict.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "client_messages.h"
#include "client_refusal.h"
#include "client_signals.h"

static struct verdict exit_with(int status) { return (struct verdict){.status = status}; }

static struct verdict as_target(uint32_t wait_status) {
  int status = (int)wait_status;
  if (WIFSIGNALED(status)) return (struct verdict){.status = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
  return exit_with(WEXITSTATUS(status));
}

static struct verdict say_deadline(const struct options *options) {
  size_t length = strlen(options->timeout_text);
  char last = options->timeout_text[length - 1];
  bool plain = (last >= '0' && last <= '9') || last == '.';
  say(NULL, "'%s' did not end within %s%s and was ended", options->command[0], options->timeout_text, plain ? "s" : "");
  return exit_with(EXIT_DEADLINE);
}

static struct verdict of_exited(const struct wire_exited *exited, const struct session *session, const struct options *options) {
  switch (exited->cancelled_by) {
  case CANCELLED_DEADLINE: return say_deadline(options);
  case CANCELLED_SHUTDOWN:
    say("'holdfast open' starts it again", "session '%s' was closed while '%s' ran", session->name, options->command[0]);
    return exit_with(EXIT_OURS);
  default: return as_target(exited->wait_status);
  }
}

static void known_ending(const struct ending *ending, char out[64]) {
  char name[16];
  int status = (int)ending->wait_status;
  out[0] = '\0';
  if (!ending->status_known) return;
  if (WIFSIGNALED(status)) snprintf(out, 64, ", which then died of %s", signal_name(WTERMSIG(status), name));
  else snprintf(out, 64, ", which then ended with status %d", WEXITSTATUS(status));
}

static struct verdict say_lost(const struct ending *ending, const struct session *session, const struct options *options) {
  char hint[256], known[64], why[96] = "";
  const char *command = options->command[0];
  if (session->kind == SESSION_SOCKET) snprintf(hint, sizeof hint, "'holdfast list' shows what is open");
  else snprintf(hint, sizeof hint, "'holdfast logs %.150s' may tell why", session->name);
  known_ending(ending, known);
  if (ending->error == EPROTO) snprintf(why, sizeof why, ": its agent speaks another language");
  else if (ending->error != 0 && ending->error != ECONNRESET) snprintf(why, sizeof why, ": %s", strerror(ending->error));
  if (ending->spawned) say(hint, "session '%s' was lost while '%s' ran (pid %u%s)%s", session->name, command, ending->pid, known, why);
  else if (ending->unread) say(hint, "session '%s' was lost before '%s' was started%s", session->name, command, why);
  else say(hint, "session '%s' was lost; whether '%s' was started is not known%s", session->name, command, why);
  return exit_with(EXIT_OURS);
}

struct verdict verdict_of(const struct ending *ending, const struct session *session, const struct options *options) {
  switch (ending->kind) {
  case ENDING_LOST: return say_lost(ending, session, options);
  case ENDING_OVERDUE: return say_deadline(options);
  case ENDING_INTERRUPTED: return (struct verdict){.status = 128 + ending->signal, .signal = ending->signal};
  case ENDING_ANSWERED: break;
  }
  switch (ending->answer.kind) {
  case WIRE_EXITED: return of_exited(&ending->answer.exited, session, options);
  case WIRE_NOT_STARTED: return exit_with(say_not_started(&ending->answer, session, options));
  case WIRE_REFUSED:
    if (ending->answer.refused.code == REFUSED_DEADLINE) return say_deadline(options);
    return exit_with(say_refused(&ending->answer, session));
  default: return exit_with(0); /* SPAWNED: a detached job */
  }
}
