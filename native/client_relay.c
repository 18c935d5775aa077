#include "client_relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "client_background.h"
#include "client_memory.h"
#include "client_messages.h"
#include "client_process.h"
#include "client_refusal.h"
#include "client_signals.h"
#include "client_socket.h"
#include "client_stderr.h"
#include "client_wire.h"

enum {
  POLL_SOCKET, POLL_SIGNALS, POLL_PTY, POLLS = POLL_PTY + PTY_POLLS,
  /* A signal that ends a command may come while the agent's word that it has started is still on its way. For so long it counts
   * as the command's; then as ours, and a frozen or full session can be left with Ctrl-C. */
  SIGNAL_GRACE_MS = 500,
  /* Two within this are of a program that sends both (HUP and TERM), and not of somebody who has lost patience. */
  IMPATIENCE_MS = 100,
  /* Above the deadline and the grace, the client no longer believes that the agent keeps the deadline. */
  DEADLINE_SLACK_MS = 5000, UNKNOWN_GRACE_MS = 10000,
  /* A wait in the queue is worth a word when somebody looks on and it is not over at once. */
  QUEUED_WORD_MS = 1000,
  /* Most commands are over within this: then one wakeup, for the connection's end, serves for all that the agent has said. Whatever it
   * says of a longer one is heard so much later. */
  LISTEN_AFTER_MS = 4,
  INBOX_BYTES = 4096, /* most frames are far smaller; a larger one gets memory of its own */
};

struct relay {
  const struct relay_job *job;
  struct ending *ending;
  struct outbox out;
  struct inbox in;
  bool ended, signalled;
  bool listening;      /* for each frame, and not only for the connection's end */
  bool settled;        /* what the target's start asks of us is done */
  int stop;            /* the target has stopped by this signal, and we have not followed yet; 0: no */
  bool stopped_once;   /* SIGCONT concerns us then, ignored or not */
  struct background background;
  int early_signal;    /* came before the target had started; 0: none */
  uint32_t position;   /* in the queue */
  int64_t tell_at;     /* when that is worth a word; 0: never */
  int64_t early_at;    /* when that was, CLOCK_MONOTONIC ms */
  int64_t overdue_at, look_at; /* the same clock; 0: never */
};

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void end(struct relay *relay, enum ending_kind kind) {
  relay->ending->kind = kind;
  relay->ended = true;
}

static void lose(struct relay *relay, int error) {
  /* The kernel resets a connection whose receiver closes it unread: the request as a whole was never taken out. */
  bool cut = relay->out.request_sent < relay->out.request_bytes;
  relay->ending->unread = (cut || error == ECONNRESET) && !relay->ending->spawned && !relay->signalled;
  relay->ending->error = error == ENODATA ? 0 : error;
  end(relay, ENDING_LOST);
}

static bool is_spawned_in_turn(struct relay *relay, const struct wire_header *header) { return !relay->ending->spawned && (header->fd_count == 1) == (relay->in.given != GIVEN_NONE); }

/* A terminal stays open as our input: whether we are in its foreground is to be seen. */
static void release_descriptors(struct relay *relay) {
  const struct relay_job *job = relay->job;
  bool whole = job->pty->use == PTY_WHOLE;
  relay->background.shares = job->pty->use == PTY_NONE && job->descriptors->terminal[0];
  descriptors_release(job->descriptors, job->signals, job->pty->use != PTY_NONE || relay->background.shares, whole);
}

static int take_frame(struct relay *relay, const struct wire_header *header, const struct wire_agent_frame *frame) {
  struct ending *ending = relay->ending;
  switch (frame->kind) {
  case WIRE_QUEUED:
    if (ending->spawned) return -EPROTO;
    relay->position = frame->queued.position;
    relay->tell_at = isatty(STDERR_FILENO) == 1 ? now_ms() + QUEUED_WORD_MS : 0;
    return 0;
  case WIRE_SPAWNED:
    if (!is_spawned_in_turn(relay, header)) return -EPROTO;
    ending->spawned = true;
    ending->pid = frame->spawned.pid;
    ending->start_ns = frame->spawned.start_ns;
    ending->pidfd = relay->in.given == GIVEN_LOST ? -1 : relay->in.given; /* a help, not a need */
    relay->in.given = GIVEN_NONE;
    relay->early_signal = 0;
    relay->tell_at = 0;
    if (relay->job->options->detach) break;
    pty_start(relay->job->pty); /* also of a target that has ended: what it wrote is still to be shown */
    return 0;
  case WIRE_STOPPED: return ending->spawned ? background_on_stop(&relay->background, relay->stop = frame->stopped.signal), 0 : -EPROTO;
  case WIRE_CONTINUED: return ending->spawned ? relay->stop = 0, relay->background.stopped = false, 0 : -EPROTO;
  case WIRE_EXITED:
    if (!ending->spawned) return -EPROTO;
    break;
  case WIRE_NOT_STARTED:
    if (ending->spawned) return -EPROTO;
    break;
  case WIRE_NOTICE: return ending->spawned ? -EPROTO : (say_notice(frame), 0);
  case WIRE_REFUSED: break;
  default: return -EPROTO;
  }
  ending->answer = *frame;
  end(relay, ENDING_ANSWERED);
  return 0;
}

/* The target has started, and has not ended yet. */
static void settle(struct relay *relay) {
  relay->settled = true;
  release_descriptors(relay);
  if (relay->job->pty->use != PTY_WHOLE && stderr_is_watched()) relay->look_at = now_ms() + STDERR_LOOK_MS;
}

static void take_frames(struct relay *relay) {
  struct wire_header header;
  struct wire_agent_frame frame;
  int result;
  while ((result = inbox_next(&relay->in, &header, &frame)) == 1) {
    result = take_frame(relay, &header, &frame);
    if (result < 0 || relay->ended) break; /* the answer's views need the inbox as it is */
    inbox_drop(&relay->in, &header);
  }
  if (result < 0) lose(relay, -result);
}

/* Of an agent that has closed, all that it has said. */
static void receive(struct relay *relay, bool closed) {
  do {
    int result = inbox_receive(&relay->in, relay->job->socket);
    if (result > 0) take_frames(relay);
    else if (result < 0) lose(relay, -result);
  } while (closed && !relay->ended);
  if (!relay->ended && relay->ending->spawned && !relay->settled) settle(relay);
}

static void relay_signal(struct relay *relay, int signal) {
  relay->signalled = true;
  outbox_signal(&relay->out, signal);
}

static void go_on(struct relay *relay) {
  relay->stop = 0;
  int again = background_stop_again(&relay->background, relay->ending->pidfd);
  if (again != 0 && signals_stop_self(again)) return; /* what has woken us waits in the signalfd */
  relay->signalled = true;
  pty_enter(relay->job->pty);
  if (relay->job->pty->use == PTY_WHOLE) pty_resize(relay->job->pty);
  outbox_plain(&relay->out, WIRE_RESUME);
}

/* Before the target has started: a second one is not discussed, unless it came with the first. */
static void take_early(struct relay *relay, int signal) {
  if (signal != SIGHUP && signal != SIGINT && signal != SIGQUIT && signal != SIGTERM && signal != SIGTSTP) return;
  if (relay->early_signal != 0 && signal != SIGTSTP && now_ms() >= relay->early_at + IMPATIENCE_MS) {
    relay->ending->signal = signal;
    end(relay, ENDING_INTERRUPTED);
    return;
  }
  if (relay->early_signal != 0) return;
  relay->early_signal = signal;
  relay->early_at = now_ms();
}

static void take_signal(struct relay *relay, int signal) {
  struct pty *pty = relay->job->pty;
  bool whole = pty->use == PTY_WHOLE, ignored = signal_in(relay->job->ignored, signal);
  if (signal == SIGCONT && (!ignored || relay->stopped_once)) return go_on(relay);
  if (signal == SIGWINCH && whole) return pty_resize(pty);
  if (ignored) return;
  if (!relay->ending->spawned) take_early(relay, signal);
  /* A window that was closed is closed for the target too, and the kernel says so to it. */
  if (signal == SIGHUP && whole && pty_caller_is_gone(pty)) return pty_hang_up(pty);
  /* The target leads a session of its own there, where SIGTSTP is thrown away. */
  if (signal == SIGTSTP) background_on_key(&relay->background);
  if (signal == SIGTSTP && whole) outbox_plain(&relay->out, WIRE_SUSPEND);
  else relay_signal(relay, signal);
  /* A stopped process takes a hang-up only when continued. The kernel continues what its shell has left behind like that, but in the
   * agent's session nobody has: it would be stopped for as long as the session is open. */
  if (signal == SIGHUP && !whole && process_group_has_stopped(relay->ending->pidfd)) outbox_plain(&relay->out, WIRE_RESUME);
}

/* What the agent has said before comes first: whether the target has started decides what a signal means. */
static void take_signals(struct relay *relay) {
  receive(relay, false);
  for (int signal; !relay->ended && (signal = signals_next(relay->job->signals)) != 0;) take_signal(relay, signal);
}

/* Only now that the target has stopped, and has put the terminal in order before it did. The SIGCONT that wakes us waits in
 * the signalfd, so the target is resumed by the loop. Where nobody looks after our group (an orphaned one, setpgid(2)), the kernel
 * throws our stop away, as it would have thrown away the target's had the target been in our place: so that goes on. */
static void follow_stop(struct relay *relay) {
  int signal = relay->stop;
  relay->stop = 0;
  relay->stopped_once = true;
  pty_leave(relay->job->pty);
  bool stopped = signals_stop_self(signal);
  pty_enter(relay->job->pty);
  if (!stopped) outbox_plain(&relay->out, WIRE_RESUME);
}

static void take_time(struct relay *relay) {
  if (relay->early_signal == 0 && relay->overdue_at == 0 && relay->look_at == 0 && relay->tell_at == 0) return;
  int64_t now = now_ms();
  if (relay->tell_at != 0 && now >= relay->tell_at) {
    relay->tell_at = 0;
    say(NULL, "'%s' waits for its turn, at position %u", relay->job->options->command[0], relay->position);
  }
  if (relay->look_at != 0 && now >= relay->look_at) relay->look_at = stderr_look(relay->ending->pidfd, relay->job->signals) ? now + STDERR_LOOK_MS : 0;
  if (relay->early_signal != 0 && now >= relay->early_at + SIGNAL_GRACE_MS) {
    int signal = relay->early_signal;
    relay->early_signal = 0;
    if (signal == SIGTSTP) {
      relay->stopped_once = true;
      (void)signals_stop_self(signal);
    } else {
      relay->ending->signal = signal;
      end(relay, ENDING_INTERRUPTED);
    }
  } else if (relay->overdue_at != 0 && now >= relay->overdue_at) end(relay, ENDING_OVERDUE);
}

static int timeout_ms(const struct relay *relay, int most) {
  int64_t until = relay->overdue_at;
  if (relay->look_at != 0 && (until == 0 || relay->look_at < until)) until = relay->look_at;
  if (relay->tell_at != 0 && (until == 0 || relay->tell_at < until)) until = relay->tell_at;
  if (relay->early_signal != 0 && (until == 0 || relay->early_at + SIGNAL_GRACE_MS < until)) until = relay->early_at + SIGNAL_GRACE_MS;
  if (until == 0) return most;
  int64_t left = until - now_ms();
  if (left < 0) left = 0;
  if (most >= 0 && most < left) return most;
  return left < INT32_MAX ? (int)left : INT32_MAX;
}

static void step(struct relay *relay) {
  struct pollfd polls[POLLS] = {
    {.fd = relay->job->socket, .events = (short)(!relay->listening ? POLLRDHUP : outbox_is_empty(&relay->out) ? POLLIN : POLLIN | POLLOUT)},
    {.fd = relay->job->signals, .events = POLLIN},
  };
  struct pty *pty = relay->job->pty;
  bool terminal = pty->use != PTY_NONE && pty->master >= 0;
  int most = terminal ? pty_watch(pty, polls + POLL_PTY) : !relay->listening ? LISTEN_AFTER_MS : relay->background.watched ? BACKGROUND_LOOK_MS : -1;

  relay->listening = true;
  int ready = poll(polls, terminal ? POLLS : POLL_PTY, timeout_ms(relay, most));
  if (ready < 0) {
    if (errno != EINTR) lose(relay, errno);
    return;
  }
  /* SIGTTIN is what the kernel would send, to be handled or ignored like that. */
  if (ready == 0 && relay->background.watched && background_reads(&relay->background, relay->ending->pidfd)) relay_signal(relay, SIGTTIN);
  if ((polls[POLL_SOCKET].revents & ~POLLOUT) != 0) receive(relay, (polls[POLL_SOCKET].revents & POLLHUP) != 0);
  if (!relay->ended && polls[POLL_SIGNALS].revents != 0) take_signals(relay);
  if (!relay->ended) {
    int result = outbox_flush(&relay->out, relay->job->socket);
    if (result < 0) lose(relay, -result);
  }
  if (!relay->ended && relay->stop != 0) follow_stop(relay);
  if (!relay->ended && terminal) pty_pump(pty, polls + POLL_PTY);
  if (!relay->ended) take_time(relay);
}

void relay_run(const struct relay_job *job, struct ending *ending) {
  const struct options *options = job->options;
  struct relay relay = {.job = job, .ending = ending, .in = {.bytes = memory_take(INBOX_BYTES), .room = INBOX_BYTES, .given = GIVEN_NONE}};

  ending->spawned = ending->unread = ending->status_known = false;
  ending->pidfd = -1;
  ending->signal = ending->error = 0;
  ending->large = NULL;
  relay.out.request = job->frame;
  relay.out.request_bytes = job->frame_bytes;
  relay.out.fds = job->descriptors->held;
  relay.out.fd_count = job->fd_count;
  if (options->timeout_ms > 0) {
    int64_t grace = options->kill_grace_ms == (uint32_t)KILL_GRACE_OF_SESSION ? UNKNOWN_GRACE_MS : options->kill_grace_ms;
    relay.overdue_at = now_ms() + options->timeout_ms + grace + DEADLINE_SLACK_MS;
  }
  int result = outbox_flush(&relay.out, job->socket);
  if (result < 0) lose(&relay, -result);
  relay.listening = !outbox_is_empty(&relay.out) || job->pty->use != PTY_NONE;
  while (!relay.ended) step(&relay);
  ending->early_signal = relay.early_signal;
  if (relay.in.given >= 0) close(relay.in.given); /* rode on a frame that never came whole */
  if (relay.in.grown) ending->large = relay.in.bytes;
}
