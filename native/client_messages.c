/* The one place that writes to the caller's stderr. */
#include "client_messages.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_BYTES = 1536 };

/* Names the caller's stderr without being one of its writers (O_PATH); -1: descriptor 2 is still that stderr. */
static int stepped_back = -1;

struct line {
  char bytes[4 * TEXT_BYTES];
  size_t length;
};

static void put(struct line *line, const char *text) {
  for (; *text != '\0' && line->length + 1 < sizeof line->bytes; text++) line->bytes[line->length++] = *text;
}

/* A program's name may hold a newline or an escape sequence: neither may reach the caller's terminal or log. */
static void put_foreign(struct line *line, const char *text) {
  char one[8];
  for (; *text != '\0'; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte == '\n') put(line, "\\n");
    else if (byte == '\t') put(line, "\\t");
    else if (byte < 0x20 || byte == 0x7f) (snprintf(one, sizeof one, "\\x%02x", byte), put(line, one));
    else (one[0] = *text, one[1] = '\0', put(line, one));
  }
}

void messages_step_back(int filler) {
  struct stat facts, output;
  if (stepped_back >= 0 || fstat(STDERR_FILENO, &facts) == -1 || !S_ISFIFO(facts.st_mode)) return;
  if (fstat(STDOUT_FILENO, &output) == -1 || output.st_dev != facts.st_dev || output.st_ino != facts.st_ino) return;
  stepped_back = open("/proc/self/fd/2", O_PATH | O_CLOEXEC);
  if (stepped_back >= 0) dup2(filler, STDERR_FILENO);
}

/* Fails where the last reader has gone meanwhile: then nobody is there to be told. */
static void step_forward(void) {
  char path[32];
  if (stepped_back < 0) return;
  snprintf(path, sizeof path, "/proc/self/fd/%d", stepped_back);
  int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0) (dup2(fd, STDERR_FILENO), close(fd));
  close(stepped_back);
  stepped_back = -1;
}

void say(const char *hint, const char *format, ...) {
  struct line line = {.length = 0};
  char text[TEXT_BYTES];
  va_list values;

  va_start(values, format);
  step_forward();
  int length = vsnprintf(text, sizeof text, format, values);
  va_end(values);
  put(&line, "runner-exec: ");
  put_foreign(&line, text);
  if (length >= (int)sizeof text) put(&line, "…");
  if (hint != NULL && hint[0] != '\0') {
    put(&line, isatty(STDERR_FILENO) ? "\nhint: " : "; hint: ");
    put_foreign(&line, hint);
  }
  line.bytes[line.length++] = '\n';
  /* Nobody is left to tell when even this fails. */
  if (write(STDERR_FILENO, line.bytes, line.length) < 0) return;
}
