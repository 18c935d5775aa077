#include "client_refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "client_messages.h"
#include "client_values.h"

enum { TEXT_BYTES = 1024 };

static const char *text_of(struct wire_bytes bytes, char out[TEXT_BYTES]) {
  size_t length = bytes.len < TEXT_BYTES - 1 ? bytes.len : TEXT_BYTES - 1;
  if (length > 0) memcpy(out, bytes.data, length);
  out[length] = '\0';
  return out;
}

/* What a shell does itself and no program does. Those that are programs as well (echo, test, kill …) are found before this matters. */
static bool is_of_the_shell(const char *name) {
  static const char *const words[] = {
    "!", ".", ":", "[[", "alias", "bg", "bind", "break", "builtin", "caller", "case", "cd", "command", "compgen", "complete", "continue",
    "declare", "dirs", "disown", "enable", "eval", "exec", "exit", "export", "fc", "fg", "for", "function", "getopts", "hash", "help", "history",
    "if", "jobs", "let", "local", "logout", "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return", "select", "set", "shift", "shopt",
    "source", "suspend", "times", "trap", "type", "typeset", "ulimit", "umask", "unalias", "unset", "until", "wait", "while", "{",
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(name, words[i]) == 0) return true;
  return false;
}

/* Then the session's PATH is not the one that was searched. */
static bool says_of_path(const struct options *options) {
  bool says = options->exact;
  for (size_t i = 0; i < options->env_count; i++) {
    const struct env_option *each = &options->env[i];
    if (each->kind == ENV_PATH_PREPEND) says = true;
    else if (each->kind == ENV_SET) says = says || strncmp(each->text, "PATH=", 5) == 0;
    else says = says || strcmp(each->text, "PATH") == 0;
  }
  return says;
}

static int say_not_found(const char *name, const struct session *session, const struct options *options) {
  char hint[TEXT_BYTES];
  if (strchr(name, '/') != NULL) {
    say("a path with a slash is taken from the command's working directory", "cannot run '%s': no such file", name);
    return EXIT_NOT_FOUND;
  }
  if (options->shim != NULL) snprintf(hint, sizeof hint, "the environment has to bring it: a session passes over shims; 'holdfast shim remove DIR %.200s' takes this one away", name);
  else if (is_of_the_shell(name)) snprintf(hint, sizeof hint, "it is a shell builtin: run it as sh -c '%s ...', or bash -c", name);
  else if (session->kind == SESSION_SOCKET) snprintf(hint, sizeof hint, "'-- printenv PATH' shows that PATH");
  else if (says_of_path(options)) snprintf(hint, sizeof hint, "'holdfast explain %.300s PATH', with the options of this command, shows that PATH and where it came from", session->name);
  else snprintf(hint, sizeof hint, "'holdfast explain %.300s PATH' shows that PATH and where it came from", session->name);
  say(hint, "cannot run '%s': not found on the PATH of session '%s'", name, session->name);
  return EXIT_NOT_FOUND;
}

/* `why` is the agent's word for it: docs/protocol.md §5. */
static int say_function(const char *name, const char *why, const struct session *session) {
  char hint[TEXT_BYTES];
  if (strcmp(why, "snapshot") == 0) {
    snprintf(hint, sizeof hint, "open it with mode = \"session\", and run it as bash -c '%.300s ...'", name);
    say(hint, "cannot run '%s': it is a shell function, which session '%s' lacks: a snapshot keeps variables alone", name, session->name);
  } else if (strcmp(why, "filtered") == 0) {
    snprintf(hint, sizeof hint, "name it there, open the session again, and run it as bash -c '%.300s ...'", name);
    say(hint, "cannot run '%s': it is a shell function, which session '%s' lacks: its 'functions' leaves it out", name, session->name);
  } else {
    snprintf(hint, sizeof hint, "run it as bash -c '%.300s ...'", name);
    say(hint, "cannot run '%s': it is a shell function of session '%s', and no program", name, session->name);
  }
  return EXIT_NOT_FOUND;
}

static int say_not_runnable(const char *name, int error) {
  struct stat status;
  /* The session may see other files than we do; so a look is good for a better word, and for no more. */
  bool directory = error == EISDIR || (error == EACCES && strchr(name, '/') != NULL && stat(name, &status) == 0 && S_ISDIR(status.st_mode));
  const char *why = strerror(error), *hint = NULL;
  if (directory) why = "is a directory";
  else if (error == EACCES) (why = "permission denied", hint = "it is not executable for you: 'chmod +x', or name its interpreter");
  else if (error == ENOEXEC) (why = "not a program of this machine", hint = "a script needs a '#!' line, a binary the right architecture");
  else if (error == E2BIG) (why = "Argument list too long", hint = "one word, or all words and variables together, are over the kernel's limit; give long lists in a file");
  say(hint, "cannot run '%s': %s", name, why);
  return EXIT_NOT_RUNNABLE;
}

static int say_interpreter(const char *name, const char *interpreter, int error) {
  bool missing = error == ENOENT || error == ENOTDIR;
  if (missing) say("its first line names it, or the loader it was linked with", "cannot run '%s': its interpreter '%s' is missing", name, interpreter);
  else say(NULL, "cannot run '%s': its interpreter '%s' cannot be run: %s", name, interpreter, strerror(error));
  return missing ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

static int say_step(uint8_t step, const char *name, const char *subject, int error) {
  const char *why = strerror(error);
  uint64_t number;
  switch (step) {
  case STEP_DIRECTORY: say("name another one with '--cwd'", "cannot enter the directory '%s': %s", subject, why); break;
  case STEP_DESCRIPTOR: say(NULL, "cannot give '%s' its descriptor %s: %s", name, subject, why); break;
  case STEP_LIMIT:
    if (parse_number(subject, INT32_MAX, &number) && limit_name((int)number) != NULL) subject = limit_name((int)number);
    say("a hard limit can only be lowered", "cannot set the limit '%s' of '%s': %s", subject, name, why);
    break;
  case STEP_NICE: say("only root can go below the session's own niceness", "cannot set the niceness of '%s': %s", name, why); break;
  case STEP_UMASK: say(NULL, "cannot set the file mode mask of '%s': %s", name, why); break;
  case STEP_GROUP: say(NULL, "cannot put '%s' into a process group: %s", name, why); break;
  case STEP_SESSION: say(NULL, "cannot put '%s' into a session of its own: %s", name, why); break;
  case STEP_TERMINAL: say("'-t' gives it a terminal of its own", "cannot give '%s' the terminal: %s", name, why); break;
  case STEP_SIGNALS: say(NULL, "cannot set the signals of '%s': %s", name, why); break;
  case STEP_FORK: say("the session is out of processes or memory", "cannot start '%s': fork: %s", name, why); break;
  default: say("'holdfast doctor' shows what this machine offers", "cannot contain '%s': %s: %s", name, subject, why); break;
  }
  return EXIT_OURS;
}

int say_not_started(const struct wire_agent_frame *answer, const struct session *session, const struct options *options) {
  char subject[TEXT_BYTES];
  const char *name = options->command[0];
  int error = (int)answer->not_started.error;
  text_of(answer->not_started.subject, subject);
  switch (answer->not_started.step) {
  case STEP_PROGRAM:
  case STEP_EXEC: return error == ENOENT || error == ENOTDIR ? say_not_found(name, session, options) : say_not_runnable(name, error);
  case STEP_FUNCTION: return say_function(name, subject, session);
  case STEP_INTERPRETER: return say_interpreter(name, subject, error);
  default: return say_step(answer->not_started.step, name, subject, error);
  }
}

int say_refused(const struct wire_agent_frame *answer, const struct session *session) {
  char message[TEXT_BYTES], hint[TEXT_BYTES];
  const char *cure = text_of(answer->refused.hint, hint);
  text_of(answer->refused.message, message);
  if (answer->refused.code == REFUSED_WRAPPER) say(cure, "%s", message); /* it is not the session that would not */
  else say(cure, "session '%s' refused: %s", session->name, message);
  return answer->refused.code == REFUSED_DEADLINE ? EXIT_DEADLINE : EXIT_OURS;
}

void say_notice(const struct wire_agent_frame *notice) {
  char message[TEXT_BYTES], hint[TEXT_BYTES];
  say(text_of(notice->notice.hint, hint), "%s", text_of(notice->notice.message, message));
}
