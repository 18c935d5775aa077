#include "client_jobserver.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client_descriptors.h"
#include "client_messages.h"
#include "client_values.h"

/* The text behind the last announcement: make itself goes by the last one. "--jobserver-fds" is make before 4.2. */
static const char *announcement(const char *flags) {
  static const char *const names[] = {"--jobserver-auth=", "--jobserver-fds="};
  const char *last = NULL;
  for (size_t i = 0; i < 2; i++)
    for (const char *at = flags; (at = strstr(at, names[i])) != NULL;) {
      at += strlen(names[i]);
      if (last == NULL || at > last) last = at;
    }
  return last;
}

/* "R,W" up to a blank. Make writes negative numbers when it has taken the server away; they are no numbers here. */
static bool parse_pipe(const char *text, struct jobserver *out) {
  char word[32];
  uint64_t read_fd, write_fd;
  size_t length = strcspn(text, " ");
  if (length >= sizeof word) return false;
  memcpy(word, text, length);
  word[length] = '\0';
  char *comma = strchr(word, ',');
  if (comma == NULL) return false;
  *comma = '\0';
  if (!parse_number(word, INT32_MAX, &read_fd) || !parse_number(comma + 1, INT32_MAX, &write_fd)) return false;
  out->read_fd = (int)read_fd;
  out->write_fd = (int)write_fd;
  return true;
}

static const char *find(struct jobserver *out) {
  const char *flags = getenv("MAKEFLAGS");
  const char *text = flags == NULL ? NULL : announcement(flags);
  if (text == NULL) return "MAKEFLAGS announces none";
  if (strncmp(text, "fifo:", 5) == 0) return out->there = true, NULL;
  if (!parse_pipe(text, out)) return "the make above has none to share";
  /* Make closes them for a recipe line that it does not take for a make. */
  out->there = descriptor_is_open(out->read_fd) && descriptor_is_open(out->write_fd);
  return out->there ? NULL : "make did not pass its descriptors to this recipe line";
}

int jobserver_find(const struct options *options, struct jobserver *out) {
  *out = (struct jobserver){.there = false, .read_fd = -1, .write_fd = -1};
  /* A job outlives the make that calls, and would keep its slots' pipe open, or a slot itself. */
  bool unwanted = options->exact || options->detach;
  if (options->jobserver == JOBSERVER_OFF || (unwanted && options->jobserver != JOBSERVER_REQUIRED)) return OPTIONS_GO_ON;
  const char *missing = find(out);
  if (missing == NULL) return OPTIONS_GO_ON;
  out->read_fd = out->write_fd = -1;
  if (options->jobserver != JOBSERVER_REQUIRED) return OPTIONS_GO_ON;
  say("put a '+' in front of the recipe line, or leave '--jobserver' out", "there is no job server: %s", missing);
  return EXIT_OURS;
}
