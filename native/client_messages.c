/* The one place that writes to the caller's stderr. */
#include "client_messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client_stderr.h"

enum { TEXT_BYTES = 1536 };

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

void say(const char *hint, const char *format, ...) {
  struct line line = {.length = 0};
  char text[TEXT_BYTES];
  va_list values;

  va_start(values, format);
  stderr_take_back();
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
