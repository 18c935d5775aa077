/* Parses the command line. Every misuse is one line with its cure and status 125: what comes later may trust what is here. */
#include "client_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client_memory.h"
#include "client_messages.h"
#include "client_usage.h"
#include "client_values.h"
#include "shim.h"

#ifndef HOLDFAST_VERSION
#define HOLDFAST_VERSION "0.0.0"
#endif

enum option_id {
  OPTION_SESSION, OPTION_SOCKET, OPTION_ENV, OPTION_PASS_ENV, OPTION_UNSET, OPTION_EXACT, OPTION_PATH_PREPEND, OPTION_CWD, OPTION_ARGV0,
  OPTION_FD, OPTION_LIMIT, OPTION_NICE, OPTION_PTY, OPTION_DETACH, OPTION_TIMEOUT, OPTION_KILL_GRACE, OPTION_REPORT, OPTION_JOBSERVER,
  OPTION_NO_JOBSERVER, OPTION_HELP, OPTION_VERSION, OPTION_COUNT,
};

static const char *const names[OPTION_COUNT] = {
  "session", "socket", "env", "pass-env", "unset", "exact", "path-prepend", "cwd", "argv0", "fd", "limit", "nice", "pty", "detach",
  "timeout", "kill-grace", "report", "jobserver", "no-jobserver", "help", "version",
};

static bool takes_value(enum option_id id) {
  switch (id) {
  case OPTION_EXACT: case OPTION_PTY: case OPTION_DETACH: case OPTION_JOBSERVER: case OPTION_NO_JOBSERVER: case OPTION_HELP: case OPTION_VERSION:
    return false;
  default:
    return true;
  }
}

static const char see_help[] = "'runner-exec --help' lists all options";

static int unknown(const char *word, const char *typed) {
  const char *near = nearest_name(typed, names, OPTION_COUNT);
  char hint[128];
  if (near == NULL) snprintf(hint, sizeof hint, "%s; words of the command go behind '--'", see_help);
  else snprintf(hint, sizeof hint, "did you mean '--%s'? %s", near, see_help);
  say(hint, "unknown option '%s'", word);
  return EXIT_OURS;
}

static int bad_value(enum option_id id, const char *value, const char *why, const char *hint) {
  say(hint, "bad value '%s' of '--%s': %s", value, names[id], why);
  return EXIT_OURS;
}

static int take_env(struct options *out, enum option_id id, const char *value) {
  const char *equals = strchr(value, '=');
  if ((out->env_count & (out->env_count - 1)) == 0) { /* full: it doubles at each power of two */
    struct env_option *grown = memory_take((out->env_count == 0 ? 1 : out->env_count * 2) * sizeof *grown);
    if (grown == NULL) return say(NULL, "out of memory"), EXIT_OURS;
    if (out->env_count > 0) memcpy(grown, out->env, out->env_count * sizeof *grown);
    out->env = grown;
  }
  struct env_option *env = &out->env[out->env_count++];
  env->text = value;
  switch (id) {
  case OPTION_ENV:
    env->kind = ENV_SET;
    if (equals == NULL) return bad_value(id, value, "it has no '='", "'--env K=V' sets a value, '--pass-env K' passes your own on");
    return equals == value ? bad_value(id, value, "it has no name", see_help) : OPTIONS_GO_ON;
  case OPTION_PATH_PREPEND:
    env->kind = ENV_PATH_PREPEND;
    if (value[0] == '\0') return bad_value(id, value, "it is empty", see_help);
    return strchr(value, ':') != NULL ? bad_value(id, value, "PATH cannot hold a directory with ':' in its name", see_help) : OPTIONS_GO_ON;
  default:
    env->kind = id == OPTION_PASS_ENV ? ENV_PASS : ENV_UNSET;
    if (equals != NULL) return bad_value(id, value, "it takes a name alone", "'--env K=V' sets a value");
    return value[0] == '\0' ? bad_value(id, value, "it is empty", see_help) : OPTIONS_GO_ON;
  }
}

static int take_fd(struct options *out, const char *value) {
  uint64_t number;
  if (!parse_number(value, INT32_MAX, &number)) return bad_value(OPTION_FD, value, "it is not the number of a descriptor", see_help);
  for (size_t i = 0; i < out->fd_count; i++)
    if (out->fds[i] == number) return OPTIONS_GO_ON;
  if (out->fd_count == WIRE_MAX_FDS) {
    say("the kernel passes no more than that in one message", "cannot pass descriptor %s: a command takes at most %d of them", value, WIRE_MAX_FDS);
    return EXIT_OURS;
  }
  out->fds[out->fd_count++] = (uint32_t)number;
  return OPTIONS_GO_ON;
}

static int take_limit(struct options *out, const char *value) {
  struct wire_limit limit = {0};
  const char *wrong = parse_limit(value, &limit);
  if (wrong != NULL) return bad_value(OPTION_LIMIT, value, wrong, "limits have the long names of prlimit(1): nofile, core, cpu, as, stack, nproc, …");
  size_t i = 0;
  while (i < out->limit_count && out->limits[i].resource != limit.resource) i++;
  out->limits[i] = limit; /* the last one of a name counts; there are no more names than places */
  if (i == out->limit_count) out->limit_count++;
  return OPTIONS_GO_ON;
}

static int take_nice(struct options *out, const char *value) {
  uint64_t number;
  bool negative = value[0] == '-';
  if (!parse_number(value + negative, negative ? 20 : 19, &number)) return bad_value(OPTION_NICE, value, "it is not a number from -20 to 19", see_help);
  out->nice = (int8_t)(negative ? -(int)number : (int)number);
  out->nice_set = true;
  return OPTIONS_GO_ON;
}

static int take_duration(enum option_id id, const char *value, uint32_t *ms) {
  if (parse_duration_ms(value, ms)) return OPTIONS_GO_ON;
  return bad_value(id, value, "it is not a duration", "write 500ms, 5s, 2m or 1h; a plain number is seconds");
}

static int take_text(enum option_id id, const char *value, const char **out) {
  if (value[0] == '\0') return bad_value(id, value, "it is empty", see_help);
  *out = value;
  return OPTIONS_GO_ON;
}

static int take_value(struct options *out, enum option_id id, const char *value) {
  switch (id) {
  case OPTION_SESSION: return take_text(id, value, &out->session);
  case OPTION_SOCKET: return take_text(id, value, &out->socket);
  case OPTION_CWD: return take_text(id, value, &out->cwd);
  case OPTION_REPORT: return take_text(id, value, &out->report);
  case OPTION_ARGV0: out->argv0 = value; return OPTIONS_GO_ON;
  case OPTION_FD: return take_fd(out, value);
  case OPTION_LIMIT: return take_limit(out, value);
  case OPTION_NICE: return take_nice(out, value);
  case OPTION_TIMEOUT: out->timeout_text = value; return take_duration(id, value, &out->timeout_ms);
  case OPTION_KILL_GRACE: return take_duration(id, value, &out->kill_grace_ms);
  default: return take_env(out, id, value);
  }
}

static int print(const char *text) {
  size_t length = strlen(text);
  return write(STDOUT_FILENO, text, length) == (ssize_t)length ? 0 : EXIT_OURS;
}

static int take_flag(struct options *out, enum option_id id) {
  switch (id) {
  case OPTION_EXACT: out->exact = true; break;
  case OPTION_PTY: out->pty = true; break;
  case OPTION_DETACH: out->detach = true; break;
  case OPTION_JOBSERVER: out->jobserver = JOBSERVER_REQUIRED; break;
  case OPTION_NO_JOBSERVER: out->jobserver = JOBSERVER_OFF; break;
  case OPTION_HELP: return print(usage_text);
  default: return print("runner-exec " HOLDFAST_VERSION "\n");
  }
  return OPTIONS_GO_ON;
}

/* `word` begins with "--": *next is the word behind it, and is moved when it was the value. */
static int take_long(struct options *out, char *word, char ***next) {
  char *equals = strchr(word, '='), typed[64];
  size_t length = equals == NULL ? strlen(word + 2) : (size_t)(equals - word - 2), id = 0;
  if (length >= sizeof typed) return unknown(word, word + 2);
  memcpy(typed, word + 2, length);
  typed[length] = '\0';
  while (id < OPTION_COUNT && strcmp(names[id], typed) != 0) id++;
  if (id == OPTION_COUNT) return unknown(word, typed);
  if (!takes_value((enum option_id)id)) return equals == NULL ? take_flag(out, (enum option_id)id) : bad_value((enum option_id)id, equals + 1, "this option takes none", see_help);
  if (equals == NULL && **next == NULL) {
    say(see_help, "option '--%s' needs a value", typed);
    return EXIT_OURS;
  }
  return take_value(out, (enum option_id)id, equals == NULL ? *(*next)++ : equals + 1);
}

static int take_short(struct options *out, char *word, char ***next) {
  if (strcmp(word, "-t") == 0) return take_flag(out, OPTION_PTY);
  if (strcmp(word, "-h") == 0) return take_flag(out, OPTION_HELP);
  if (word[1] != 'e') return unknown(word, word + 1);
  if (word[2] != '\0') return take_env(out, OPTION_ENV, word + 2);
  if (**next != NULL) return take_env(out, OPTION_ENV, *(*next)++);
  say(see_help, "option '-e' needs a value");
  return EXIT_OURS;
}

static const struct options none = {.kill_grace_ms = (uint32_t)KILL_GRACE_OF_SESSION};

int options_of_shim(const char *tool, char **argv, struct options *out) {
  union { const char *in; char *out; } name = {.in = tool};
  const char *typed = shim_base(argv[0]);
  *out = none;
  out->shim = tool;
  if (strcmp(typed, tool) != 0) out->argv0 = typed;
  out->command = argv;
  argv[0] = name.out;
  while (argv[out->command_words] != NULL) out->command_words++;
  return OPTIONS_GO_ON;
}

int options_parse(int argc, char **argv, struct options *out) {
  char **next = argc > 0 ? argv + 1 : argv;
  *out = none;
  /* Options end at "--", or at the first word that is none: that one begins the command. */
  while (*next != NULL && (*next)[0] == '-' && (*next)[1] != '\0') {
    char *word = *next++;
    if (strcmp(word, "--") == 0) break;
    int status = word[1] == '-' ? take_long(out, word, &next) : take_short(out, word, &next);
    if (status != OPTIONS_GO_ON) return status;
  }
  out->command = next;
  while (next[out->command_words] != NULL) out->command_words++;
  if (out->command_words == 0) return say("write it behind '--', as in 'runner-exec -- make test'; 'runner-exec --help' tells more", "no command to run"), EXIT_OURS;
  if (out->command[0][0] == '\0') return say("the first word behind '--' is the program", "cannot run '': a program needs a name"), EXIT_NOT_FOUND;
  if (out->detach && out->pty) return say("leave one of them out", "'--detach' and '--pty' exclude each other"), EXIT_OURS;
  return OPTIONS_GO_ON;
}
