/* The relay of client_pty.h: bytes between the caller's descriptors and the master, and the end of input as a terminal has it.
 * The caller's descriptors stay as they are (no O_NONBLOCK: their descriptions are shared), so each write is as small as poll(2)
 * promises room for. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "client_pty.h"
#include "client_signals.h"
#include "client_terminal.h"

enum {
  POLL_INPUT, POLL_MASTER, POLL_OUTPUT,
  INPUT_CHUNK_BYTES = 4096,
  OUTPUT_CHUNK_BYTES = 4096,    /* a writable pipe has room for one page */
  LINE_PUSH_BYTES = 2048,       /* a line discipline drops what is above 4095 bytes in one line */
  END_AGAIN_MS = 100, FOREGROUND_AGAIN_MS = 250,
  DRAIN_MOST_BYTES = 1 << 20,   /* above what the kernel buffers for a terminal: whoever still writes is not the target */
};

static size_t waiting(const struct pty_buffer *buffer) { return buffer->end - buffer->start; }
static size_t room(const struct pty_buffer *buffer) { return PTY_BUFFER_BYTES - buffer->end; }

static void compact(struct pty_buffer *buffer) {
  memmove(buffer->bytes, buffer->bytes + buffer->start, waiting(buffer));
  buffer->end -= buffer->start;
  buffer->start = 0;
}

static void put(struct pty_buffer *buffer, const uint8_t *bytes, size_t count) {
  compact(buffer);
  if (count > room(buffer)) return; /* cannot be: input is read only into an empty buffer */
  memcpy(buffer->bytes + buffer->end, bytes, count);
  buffer->end += count;
}

/* The target's end-of-file key: it hands an unfinished line over as it is, and on an empty line means the end of input. */
static void put_end_key(struct pty *pty, const struct termios *modes) {
  if ((modes->c_lflag & ICANON) != 0) put(&pty->to_target, &modes->c_cc[VEOF], 1);
  pty->line_bytes = 0;
}

static void put_data(struct pty *pty, const uint8_t *bytes, size_t count, const struct termios *modes) {
  bool returns_end_lines = (modes->c_iflag & ICRNL) != 0;
  for (size_t i = 0; i < count; i++) {
    put(&pty->to_target, bytes + i, 1);
    bool ends_line = bytes[i] == '\n' || (bytes[i] == '\r' && returns_end_lines);
    pty->line_bytes = ends_line ? 0 : pty->line_bytes + 1;
    if (pty->line_bytes == LINE_PUSH_BYTES) put_end_key(pty, modes);
  }
}

static void end_data(struct pty *pty, const struct termios *modes) {
  if (pty->line_bytes > 0) put_end_key(pty, modes);
  if ((modes->c_lflag & ICANON) == 0) put(&pty->to_target, &modes->c_cc[VEOF], 1); /* line editors read the key itself */
  else put_end_key(pty, modes);
  pty->input_open = false;
}

/* A line of the caller's terminal, which has already edited it. Without a newline it was ended by the end-of-file key. */
static void put_typed_line(struct pty *pty, const uint8_t *bytes, size_t count, const struct termios *modes) {
  put(&pty->to_target, bytes, count);
  if (count == 0 || bytes[count - 1] != '\n') put_end_key(pty, modes);
}

static void read_input(struct pty *pty) {
  uint8_t chunk[INPUT_CHUNK_BYTES];
  struct termios modes;
  if (pty->typed && !terminal_in_foreground(0)) {
    pty->raw = false;
    return;
  }
  ssize_t got = read(STDIN_FILENO, chunk, sizeof chunk);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got < 0 && pty->typed && !terminal_in_foreground(0)) return; /* EIO: it was taken from us in between */
  if (!pty_modes(pty, &modes)) return;
  if (!pty->typed) {
    if (got > 0) put_data(pty, chunk, (size_t)got, &modes);
    else end_data(pty, &modes);
  } else if (got < 0 || (got == 0 && pty->use == PTY_WHOLE)) pty_hang_up(pty);
  else if (pty->use == PTY_STAND_IN) put_typed_line(pty, chunk, (size_t)got, &modes);
  else put(&pty->to_target, chunk, (size_t)got);
}

static void write_input(struct pty *pty) {
  if (pty->master < 0 || waiting(&pty->to_target) == 0) return;
  ssize_t sent = write(pty->master, pty->to_target.bytes + pty->to_target.start, waiting(&pty->to_target));
  if (sent > 0) pty->to_target.start += (size_t)sent;
}

/* False: there was nothing. The kernel has then handed over all that was written so far (n_tty_read flushes its work first). */
static bool read_output(struct pty *pty) {
  if (pty->master < 0) return false;
  if (waiting(&pty->to_caller) < PTY_BUFFER_BYTES / 2) compact(&pty->to_caller);
  if (room(&pty->to_caller) == 0) return true;
  ssize_t got = read(pty->master, pty->to_caller.bytes + pty->to_caller.end, room(&pty->to_caller));
  if (got <= 0) return got < 0 && errno == EINTR;
  if (pty->output >= 0) pty->to_caller.end += (size_t)got;
  return true;
}

static void write_output(struct pty *pty) {
  struct pty_buffer *buffer = &pty->to_caller;
  size_t count = waiting(buffer) < OUTPUT_CHUNK_BYTES ? waiting(buffer) : OUTPUT_CHUNK_BYTES;
  if (pty->output < 0 || count == 0) return;
  ssize_t sent = write(pty->output, buffer->bytes + buffer->start, count);
  if (sent > 0) buffer->start += (size_t)sent;
  else if (sent < 0 && errno != EINTR && errno != EAGAIN) {
    /* Nobody reads any more: to the target that is a closed window. */
    pty->output = -1;
    buffer->start = buffer->end = 0;
    if (pty->use == PTY_WHOLE) pty_hang_up(pty);
  }
}

/* The end of a pipe is there for every reader, a typed end of file for one. So it is typed again, whenever the last one was read. */
static bool must_repeat_end(const struct pty *pty) { return pty->use == PTY_WHOLE && pty->started && !pty->typed && !pty->input_open && pty->slave >= 0; }

static void repeat_end(struct pty *pty) {
  struct pollfd slave = {.fd = pty->slave, .events = POLLIN};
  struct termios modes;
  if (waiting(&pty->to_target) > 0 || poll(&slave, 1, 0) != 0) return;
  if (pty_modes(pty, &modes) && (modes.c_lflag & ICANON) != 0) put_end_key(pty, &modes);
}

int pty_watch(struct pty *pty, struct pollfd polls[PTY_POLLS]) {
  bool may_read = pty->started && pty->input_open && waiting(&pty->to_target) == 0, waits_for_foreground = false;
  pty_enter(pty);
  if (pty->typed && pty->input_open && (pty->use == PTY_STAND_IN || !pty->raw) && !terminal_in_foreground(0)) {
    waits_for_foreground = true;
    may_read = false;
  }
  /* Not before it is known to have started: only then is the caller's terminal raw, and translates no line end a second time. */
  short master_events = (short)((pty->started && (room(&pty->to_caller) > 0 || waiting(&pty->to_caller) == 0) ? POLLIN : 0) | (waiting(&pty->to_target) > 0 ? POLLOUT : 0));
  polls[POLL_INPUT] = (struct pollfd){.fd = may_read ? STDIN_FILENO : -1, .events = POLLIN};
  polls[POLL_MASTER] = (struct pollfd){.fd = master_events != 0 ? pty->master : -1, .events = master_events};
  polls[POLL_OUTPUT] = (struct pollfd){.fd = waiting(&pty->to_caller) > 0 ? pty->output : -1, .events = POLLOUT};
  if (must_repeat_end(pty)) return END_AGAIN_MS;
  return waits_for_foreground ? FOREGROUND_AGAIN_MS : -1;
}

void pty_pump(struct pty *pty, const struct pollfd polls[PTY_POLLS]) {
  if (polls[POLL_INPUT].revents != 0) read_input(pty);
  if ((polls[POLL_MASTER].revents & (POLLIN | POLLHUP)) != 0) read_output(pty);
  write_input(pty);
  if (polls[POLL_OUTPUT].revents != 0) write_output(pty);
  if (must_repeat_end(pty)) repeat_end(pty);
}

static int deadly_signal(int signals, uint64_t ignored) {
  for (int signal; (signal = signals_next(signals)) != 0;)
    if ((signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM) && !signal_in(ignored, signal)) return signal;
  return 0;
}

int pty_drain(struct pty *pty, int signals, uint64_t ignored) {
  size_t left = DRAIN_MOST_BYTES;
  while (pty->output >= 0) {
    size_t before = waiting(&pty->to_caller);
    bool more = left > 0 && read_output(pty);
    size_t got = waiting(&pty->to_caller) - before;
    left -= got < left ? got : left;
    if (waiting(&pty->to_caller) == 0 && !more) break;
    struct pollfd polls[2] = {{.fd = pty->output, .events = POLLOUT}, {.fd = signals, .events = POLLIN}};
    if (poll(polls, 2, -1) < 0 && errno != EINTR) break;
    int signal = polls[1].revents != 0 ? deadly_signal(signals, ignored) : 0;
    if (signal != 0) return signal;
    if (polls[0].revents != 0) write_output(pty);
  }
  return 0;
}
