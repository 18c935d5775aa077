/* runner-exec: runs one command in a session that an agent holds open, and ends as the command ends. This file only puts the
 * parts together; docs/protocol.md is what it speaks. Three more programs share the file, since each must be static and small:
 * `__enter` (enter.h), `__guard` (guard.h), `__keeper` (keeper.h) and `__warden` (warden.h). */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client_descriptors.h"
#include "client_directory.h"
#include "client_environment.h"
#include "client_jobserver.h"
#include "client_lost.h"
#include "client_messages.h"
#include "client_options.h"
#include "client_pty.h"
#include "client_relay.h"
#include "client_report.h"
#include "client_request.h"
#include "client_session.h"
#include "client_shim.h"
#include "client_signals.h"
#include "client_terminal.h"
#include "client_verdict.h"
#include "enter.h"
#include "guard.h"
#include "keeper.h"
#include "warden.h"

enum { MOST_TRIES = 3 };

/* One for the process, and static: its buffers are large, and it is needed to the very end. */
static struct client {
  struct options options;
  struct jobserver jobserver;
  struct descriptors descriptors;
  struct directory directory;
  struct session session;
  struct changes changes;
  struct ending ending;
  char *runtime_pass;
  bool caller_wanted; /* a wrapper is to run in our environment */
  uint64_t ignored;
  int signals;     /* the signalfd, once there is one */
  int handed_over; /* the terminal that the target is to get for good; -1: none */
  int report;      /* -1: none */
  struct pty pty;
} client;

/* The order matters: descriptors are judged before any of ours is opened. */
static int prepare(const char *tool, int argc, char **argv) {
  struct client *c = &client;
  int status;
  c->signals = c->handed_over = c->report = c->pty.master = c->pty.slave = -1; /* here, so that the whole stays out of the file */
  status = tool == NULL ? options_parse(argc, argv, &c->options) : options_of_shim(tool, argv, &c->options);
  if (status != OPTIONS_GO_ON) return status;
  if ((status = jobserver_find(&c->options, &c->jobserver)) != OPTIONS_GO_ON) return status;
  if ((status = descriptors_collect(&c->options, &c->jobserver, &c->descriptors)) != OPTIONS_GO_ON) return status;
  if (c->options.report != NULL && (c->report = report_open(c->options.report)) < 0) return EXIT_OURS;
  if ((status = directory_find(&c->options, &c->directory)) != OPTIONS_GO_ON) return status;
  return session_choose(&c->options, &c->directory, &c->session);
}

static int collect_changes(void) {
  struct client *c = &client;
  const bool *terminal = c->descriptors.terminal;
  c->runtime_pass = session_read(&c->session, "pass");
  struct change_sources sources = {
    .options = &c->options, .directory = &c->directory, .jobserver = &c->jobserver, .runtime_pass = c->runtime_pass,
    .caller = c->caller_wanted, .terminal = c->options.pty || (!c->options.detach && (terminal[0] || terminal[1] || terminal[2])),
  };
  return changes_collect(&sources, &c->changes);
}

/* Which terminal the target gets. Only now, with the agent reached: a terminal given away would have to be fetched back. */
static int set_up_terminal(struct request *request) {
  struct client *c = &client;
  if (c->options.detach) return OPTIONS_GO_ON;
  int leads = c->options.pty ? -1 : terminal_to_hand_over(c->descriptors.terminal);
  if (leads >= 0 && terminal_drop(leads)) {
    c->handed_over = leads;
    request->terminal = WIRE_TERMINAL_HANDOVER;
    request->terminal_fd = (uint32_t)leads;
    return OPTIONS_GO_ON;
  }
  enum pty_use use = pty_needed(c->options.pty, &c->descriptors);
  if (use == PTY_NONE) return OPTIONS_GO_ON;
  int error = c->pty.use == PTY_NONE ? pty_open(&c->pty, use, &c->descriptors) : 0; /* a second try finds it ready */
  if (error < 0) return say("'holdfast doctor' checks /dev/ptmx", "cannot make a pseudo-terminal: %s", strerror(-error)), EXIT_OURS;
  request->terminal = use == PTY_WHOLE ? WIRE_TERMINAL_PTY : WIRE_TERMINAL_PLAIN;
  return OPTIONS_GO_ON;
}

/* Sees the request, which is encoded, to its ending. */
static void converse(int socket, const struct request *request) {
  struct client *c = &client;
  struct relay_job job = {
    .socket = socket, .signals = c->signals, .frame = request->frame, .frame_bytes = request->frame_bytes, .descriptors = &c->descriptors,
    .fd_count = request->fd_count, .ignored = c->ignored, .options = &c->options, .pty = &c->pty,
  };
  if (c->pty.use == PTY_WHOLE) pty_resize(&c->pty); /* a window that has changed before its signal was watched for */
  relay_run(&job, &c->ending);
  if (c->pty.use == PTY_WHOLE && c->ending.spawned) {
    int deadly = pty_drain(&c->pty, c->signals, c->ignored);
    if (deadly != 0) (pty_leave(&c->pty), signals_die(deadly));
  }
  pty_leave(&c->pty);
}

/* OPTIONS_GO_ON with an ending, or the status to exit with. The signals stay watched, that is blocked: most calls end here. */
static int request_once(int socket) {
  struct client *c = &client;
  struct request request = {
    .options = &c->options, .descriptors = &c->descriptors, .directory = &c->directory, .changes = &c->changes, .ignored = c->ignored,
  };
  int status = collect_changes();
  if (status == OPTIONS_GO_ON) status = set_up_terminal(&request);
  if (status == OPTIONS_GO_ON) status = request_encode(&request);
  if (status == OPTIONS_GO_ON && (c->signals = signals_watch()) < 0) status = (say(NULL, "cannot watch for signals: %s", strerror(-c->signals)), EXIT_OURS);
  if (status == OPTIONS_GO_ON) converse(socket, &request);
  if (c->handed_over >= 0 && (status != OPTIONS_GO_ON || !c->ending.spawned)) terminal_retake(c->handed_over);
  c->handed_over = -1;
  return status;
}

static bool is_refused(const struct ending *ending, enum wire_refusal code) {
  return ending->kind == ENDING_ANSWERED && ending->answer.kind == WIRE_REFUSED && ending->answer.refused.code == code;
}

/* A project's session ends by itself when it idles, and any session ends when it is opened again. A request that met its end can be given
 * to the next one: nothing of it was done. */
static bool is_to_be_repeated(void) {
  const struct ending *ending = &client.ending;
  if (ending->spawned || !(ending->kind == ENDING_LOST ? ending->unread : is_refused(ending, REFUSED_STOPPING))) return false;
  return client.session.kind == SESSION_PROJECT || session_await_turn(&client.session);
}

/* With the words as they were typed. */
static int step_aside(const char *why) {
  union { const char *in; char *out; } typed = {.in = client.options.argv0};
  if (typed.in != NULL) client.options.command[0] = typed.out;
  return shim_step_aside(client.options.shim, client.options.command, why);
}

/* The agent of a session with a wrapper asks once for what the wrapper is to have: other sessions need not be sent it. */
static bool is_caller_wanted(void) {
  if (client.caller_wanted || !is_refused(&client.ending, REFUSED_CALLER)) return false;
  return client.caller_wanted = true;
}

static int run(void) {
  struct client *c = &client;
  for (int tries = 1;; tries++) {
    int socket = session_connect(&c->session);
    if (socket < 0) return EXIT_OURS;
    if (tries == 1) c->ignored = signals_ignored(); /* sixty calls, while the agent wakes up */
    int status = request_once(socket);
    if (status != OPTIONS_GO_ON) return status;
    bool stale = tries < MOST_TRIES && is_refused(&c->ending, REFUSED_REOPEN);
    if (!stale && !is_caller_wanted() && !(tries < MOST_TRIES && is_to_be_repeated())) return status;
    close(socket);
    signals_unwatch(c->signals);
    c->signals = -1;
    if (c->ending.early_signal != 0) raise(c->ending.early_signal); /* it was for a command that has not been started */
    free(c->ending.large);
    c->ending.large = NULL;
    if (stale && !session_reopen(&c->session)) return EXIT_OURS;
  }
}

static int print_job(const struct wire_agent_frame *spawned) {
  char line[4096 + 1];
  size_t length = spawned->spawned.job.len < sizeof line - 1 ? spawned->spawned.job.len : sizeof line - 1;
  if (length > 0) memcpy(line, spawned->spawned.job.data, length);
  line[length++] = '\n';
  if (write(STDOUT_FILENO, line, length) == (ssize_t)length) return 0;
  say("'holdfast jobs' lists it", "the job was started, but its id cannot be written: %s", strerror(errno));
  return EXIT_OURS;
}

static struct verdict conclude(void) {
  struct client *c = &client;
  const struct ending *ending = &c->ending;
  if (ending->kind == ENDING_LOST || ending->kind == ENDING_OVERDUE) lost_settle(&c->ending);
  struct verdict verdict = verdict_of(ending, &c->session, &c->options);
  if (ending->kind == ENDING_ANSWERED && ending->answer.kind == WIRE_SPAWNED) verdict.status = print_job(&ending->answer);
  return verdict;
}

static void write_report(const struct ending *ending, int exit_code) {
  struct client *c = &client;
  struct report report = {.ending = ending, .session = &c->session, .options = &c->options, .changes = &c->changes, .exit_code = exit_code};
  if (c->report >= 0) report_write(c->report, &report);
}

/* What has come since the last look ends or stops us now, as it would have the command: a loop of short commands would otherwise swallow
 * Ctrl-C. Before the report, which may be into a pipe that nobody reads. */
static void take_last_signals(void) {
  if (client.signals >= 0) signals_let_in();
}

int main(int argc, char **argv) {
  const char *tool = shim_tool(argv);
  if (tool == NULL && argc > 1 && strcmp(argv[1], "__enter") == 0) return enter_main(argc - 2, argv + 2);
  if (tool == NULL && argc > 2 && strcmp(argv[1], "__guard") == 0) return guard_main(argv[2]);
  if (tool == NULL && argc > 2 && strcmp(argv[1], "__keeper") == 0) return keeper_main(argc - 2, argv + 2);
  if (tool == NULL && argc > 2 && strcmp(argv[1], "__warden") == 0) return warden_main(argc - 2, argv + 2);
  if (tool != NULL && shim_serves_holdfast(argv)) return shim_step_aside(tool, argv, "holdfast itself enters no session");
  int status = prepare(tool, argc, argv);
  if (status == SESSION_NONE) status = step_aside("no project is here");
  if (status == OPTIONS_GO_ON && tool != NULL && shim_is_inside(client.session.id)) status = step_aside("its session has none");
  if (status == OPTIONS_GO_ON) status = run();
  if (status != OPTIONS_GO_ON) {
    write_report(NULL, status);
    return status;
  }
  struct verdict verdict = conclude();
  take_last_signals();
  write_report(&client.ending, verdict.status);
  if (verdict.signal != 0) signals_die(verdict.signal);
  return verdict.status;
}
