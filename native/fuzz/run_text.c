#include "run_text.h"

#include <stdlib.h>
#include <string.h>

static uint64_t number(const char *text) {
  if (strcmp(text, "infinity") == 0) return UINT64_MAX;
  return strtoull(text, NULL, 0);
}

/* Undoes %XX in place. A vector with a NUL inside of a word is never one that C encodes. */
static char *unescape(char *word) {
  char *to = word;

  for (const char *from = word; *from != '\0'; from++) {
    if (*from == '%') {
      char pair[3] = {from[1], from[2], '\0'};
      *to++ = (char)strtoul(pair, NULL, 16);
      from += 2;
    } else {
      *to++ = *from;
    }
  }
  *to = '\0';
  return word;
}

static bool parse_flag(struct wire_run *run, const char *word) {
  static const char *const NAMES[] = {"exact", "detach", "cwd-fd", "report", "caller"};

  for (unsigned i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (strcmp(word, NAMES[i]) != 0) continue;
    run->flags = (uint16_t)(run->flags | 1u << i);
    return true;
  }
  return false;
}

static bool parse_terminal(struct wire_run *run, const char *value) {
  const char *fd = strchr(value, ':');

  if (strcmp(value, "plain") == 0) return true;
  run->terminal = strncmp(value, "pty:", 4) == 0 ? WIRE_TERMINAL_PTY : WIRE_TERMINAL_HANDOVER;
  run->terminal_fd = fd == NULL ? 0 : (uint32_t)number(fd + 1);
  return fd != NULL;
}

static bool parse_limit(struct run_text *run, char *value) {
  struct wire_limit *limit = &run->limits[run->request.limit_count++];
  char *soft = strchr(value, ':');
  char *hard = soft == NULL ? NULL : strchr(soft + 1, ':');

  if (hard == NULL) return false;
  *soft++ = *hard++ = '\0';
  limit->resource = (uint8_t)number(value);
  limit->soft = number(soft);
  limit->hard = number(hard);
  return true;
}

static bool parse_attribute(struct wire_run *run, const char *name, const char *value) {
  bool set = strcmp(value, "-") != 0;

  if (strcmp(name, "terminal") == 0) return parse_terminal(run, value);
  if (strcmp(name, "nice") == 0) {
    run->nice_set = set;
    run->nice = set ? (int8_t)strtol(value, NULL, 10) : 0;
  } else if (strcmp(name, "umask") == 0) run->umask = (uint32_t)number(value);
  else if (strcmp(name, "ignored") == 0) run->ignored = number(value);
  else if (strcmp(name, "grace") == 0) run->kill_grace_ms = set ? (uint32_t)number(value) : UINT32_MAX;
  else if (strcmp(name, "timeout") == 0) run->timeout_ms = set ? (uint32_t)number(value) : 0;
  else return false;
  return true;
}

static bool parse_word(struct run_text *run, char *word) {
  struct wire_run *request = &run->request;
  char *value = strchr(word, '=');

  if (value == NULL) return parse_flag(request, word);
  *value++ = '\0';
  if (strcmp(word, "argv") == 0) run->argv[request->argc++] = unescape(value);
  else if (strcmp(word, "env") == 0) run->env[request->env_count++] = unescape(value);
  else if (strcmp(word, "program") == 0) request->program = unescape(value);
  else if (strcmp(word, "cwd") == 0) request->cwd = unescape(value);
  else if (strcmp(word, "fd") == 0) run->fds[request->fd_count++] = (uint32_t)number(value);
  else if (strcmp(word, "limit") == 0) return parse_limit(run, value);
  else return parse_attribute(request, word, value);
  return true;
}

static bool is_full(const struct wire_run *request) {
  return request->argc == RUN_TEXT_MOST || request->env_count == RUN_TEXT_MOST || request->fd_count == RUN_TEXT_MOST ||
         request->limit_count == RUN_TEXT_MOST;
}

bool run_text_parse(struct run_text *run, const char *text) {
  memset(run, 0, sizeof *run);
  run->request.fd_numbers = run->fds;
  run->request.limits = run->limits;
  run->request.argv = run->argv;
  run->request.env = run->env;
  run->words = strdup(text);
  if (run->words == NULL) return false;
  char *rest = NULL;
  strtok_r(run->words, " ", &rest); /* RUN */
  for (char *word = strtok_r(NULL, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
    if (is_full(&run->request) || !parse_word(run, word)) return false;
  return true;
}

void run_text_free(struct run_text *run) { free(run->words); }
