#include "client_environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client_memory.h"
#include "client_messages.h"

static bool grow(struct changes *out) {
  size_t room = out->room == 0 ? 16 : out->room * 2;
  const char **words = memory_take(room * sizeof *words);
  bool *passed = memory_take(room * sizeof *passed);
  if (words == NULL || passed == NULL) return false;
  if (out->count > 0) (memcpy(words, out->words, out->count * sizeof *words), memcpy(passed, out->passed, out->count * sizeof *passed));
  out->words = words;
  out->passed = passed;
  out->room = room;
  return true;
}

static bool add(struct changes *out, char mark, const char *text, bool passed) {
  if (out->count == out->room && !grow(out)) return false;
  size_t length = strlen(text);
  char *word = memory_take(length + 2);
  if (word == NULL) return false;
  word[0] = mark;
  memcpy(word + 1, text, length + 1);
  out->words[out->count] = word;
  out->passed[out->count++] = passed;
  return true;
}

/* "K=V" of our own environment: getenv(3) would lose the name. */
static const char *find_variable(const char *name) {
  size_t length = strlen(name);
  for (char **at = environ; at != NULL && *at != NULL; at++)
    if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at;
  return NULL;
}

static bool pass_if_there(struct changes *out, const char *name) {
  const char *variable = find_variable(name);
  return variable == NULL || add(out, '=', variable, true);
}

/* What the caller lacks, the target is to lack too. */
static bool pass(struct changes *out, const char *name) {
  const char *variable = find_variable(name);
  return variable == NULL ? add(out, '-', name, true) : add(out, '=', variable, true);
}

/* These tell of the calling shell itself, not of its environment. */
static bool is_of_the_shell(const char *variable) {
  static const char *const names[] = {"PWD=", "OLDPWD=", "SHLVL=", "_="};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(variable, names[i], strlen(names[i])) == 0) return true;
  return false;
}

static bool pass_all(struct changes *out, bool exact) {
  for (char **at = environ; at != NULL && *at != NULL; at++) {
    const char *equals = strchr(*at, '=');
    if (equals == NULL || equals == *at || is_of_the_shell(*at)) continue;
    if (!add(out, exact ? '=' : '?', *at, true)) return false;
  }
  return true;
}

static bool add_typed(const struct change_sources *from, struct changes *out) {
  char joined[DIRECTORY_BYTES];
  for (size_t i = 0; i < from->options->env_count; i++) {
    const struct env_option *env = &from->options->env[i];
    bool added = false;
    switch (env->kind) {
    case ENV_SET: added = add(out, '=', env->text, false); break;
    case ENV_UNSET: added = add(out, '-', env->text, false); break;
    case ENV_PASS: added = strcmp(env->text, "*") == 0 ? pass_all(out, from->options->exact) : pass(out, env->text); break;
    case ENV_PATH_PREPEND: added = add(out, ':', directory_join(from->directory, env->text, joined) ? joined : env->text, false); break;
    }
    if (!added) return false;
  }
  return true;
}

/* Before the names there may be a line "~": the session has a wrapper that is to have our environment. */
static bool wants_caller(const char *names) { return names != NULL && names[0] == '~' && names[1] == '\n'; }

static bool add_runtime_pass(struct changes *out, char *names) {
  for (char *line = wants_caller(names) ? names + 2 : names, *end; line != NULL && *line != '\0'; line = end) {
    end = strchr(line, '\n');
    if (end != NULL) *end++ = '\0';
    if (line[0] != '\0' && !(strcmp(line, "*") == 0 ? pass_all(out, false) : pass_if_there(out, line))) return false;
  }
  return true;
}

/* For a wrapper, which runs as if we had started it. What tells of the calling shell is of no use to it. */
static bool add_caller(struct changes *out) {
  for (char **at = environ; at != NULL && *at != NULL; at++) {
    const char *equals = strchr(*at, '=');
    if (equals != NULL && equals != *at && !is_of_the_shell(*at) && !add(out, '~', *at, true)) return false;
  }
  return true;
}

static bool add_all(const struct change_sources *from, struct changes *out) {
  if (!from->options->exact) {
    if (from->terminal && !(pass_if_there(out, "TERM") && pass_if_there(out, "COLORTERM"))) return false;
    if (!add_runtime_pass(out, from->runtime_pass)) return false;
  }
  if (from->jobserver->there && !(pass_if_there(out, "MAKEFLAGS") && pass_if_there(out, "MFLAGS") && pass_if_there(out, "MAKELEVEL"))) return false;
  return add_typed(from, out) && (!out->caller || add_caller(out));
}

int changes_collect(const struct change_sources *from, struct changes *out) {
  out->count = 0;
  out->caller = from->caller || wants_caller(from->runtime_pass);
  if (add_all(from, out)) return OPTIONS_GO_ON;
  say(NULL, "out of memory");
  return EXIT_OURS;
}
