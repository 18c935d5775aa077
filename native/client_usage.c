#include "client_usage.h"

#include <string.h>

enum { LONGEST_NAME = 31, MOST_SLIPS = 2 };

const char usage_text[] =
  "Runs a command inside an environment that 'holdfast open' holds open, on your own\n"
  "terminal, files and pipes, and ends as the command ends.\n"
  "\n"
  "usage: runner-exec [options] -- COMMAND [ARGUMENT...]\n"
  "\n"
  "  runner-exec -- make test                    in the session of this project (opened on first use)\n"
  "  runner-exec --session web -- npm run build  in the session called 'web'\n"
  "  runner-exec -e DEBUG=1 --cwd sub -- ./tool  with a variable, in another directory\n"
  "\n"
  "Which session\n"
  "  --session NAME       a session opened with 'holdfast open NAME -- LAUNCHER...'; './sub': the project's\n"
  "  --socket PATH        the agent that listens on this socket\n"
  "                       without either: $HOLDFAST_SESSION, else the nearest directory upwards that has\n"
  "                       holdfast.toml, devenv.nix, flake.nix, shell.nix, .envrc, devbox.json,\n"
  "                       .flox/env.json, mise.toml, .mise.toml, pixi.toml, pixi.lock, manifest.scm,\n"
  "                       guix.scm, .conda/conda-meta, environment.yml, .venv/bin/activate or\n"
  "                       venv/bin/activate\n"
  "Environment (the command gets the session's; nothing of yours unless named here)\n"
  "  -e, --env K=V        set a variable for this command\n"
  "  --pass-env K         pass your own variable on; '*': all that the session does not set itself\n"
  "  --unset K            leave a variable out\n"
  "  --path-prepend DIR   put a directory in front of PATH\n"
  "  --exact              only what these options say, nothing of the session's\n"
  "Process\n"
  "  --cwd DIR            work in DIR instead of the current directory\n"
  "  --argv0 NAME         the name the program sees itself called by\n"
  "  --fd N               pass descriptor N too, under the same number (0, 1 and 2 always are)\n"
  "  --limit NAME=SOFT[:HARD]  a resource limit: nofile, core, cpu, as, stack, nproc, ... or 'unlimited'\n"
  "  --nice N             niceness, -20 to 19\n"
  "  --jobserver, --no-jobserver  share the job slots of the make that calls us (on where there is one)\n"
  "Terminal and time\n"
  "  -t, --pty            give the command a terminal of its own, relayed to yours\n"
  "  --detach             start it in the background, print its job id and return\n"
  "  --timeout DUR        end it after 500ms, 5s, 2m, 1h (a plain number is seconds); status 124\n"
  "  --kill-grace DUR     how long it may take to end after a polite signal, before it is killed\n"
  "  --report FILE        write how it ended, what it used and where its environment came from, as JSON\n"
  "  --help, --version\n"
  "\n"
  "All words after '--' belong to the command. Status: the command's own, or it dies of the same signal;\n"
  "124 deadline, 125 runner-exec itself failed, 126 found but not runnable, 127 not found.\n";

static size_t least(size_t a, size_t b, size_t c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

/* Levenshtein's distance by rows; names longer than LONGEST_NAME count as far away. */
static size_t slips(const char *a, const char *b) {
  size_t row[LONGEST_NAME + 1], a_length = strlen(a), b_length = strlen(b);
  if (a_length > LONGEST_NAME || b_length > LONGEST_NAME) return LONGEST_NAME;
  for (size_t j = 0; j <= b_length; j++) row[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      size_t above = row[j];
      row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row[b_length];
}

const char *nearest_name(const char *typed, const char *const *names, size_t count) {
  const char *best = NULL;
  size_t fewest = MOST_SLIPS + 1;
  for (size_t i = 0; i < count; i++) {
    size_t n = slips(typed, names[i]);
    if (n < fewest && n < strlen(names[i])) (fewest = n, best = names[i]);
  }
  return best;
}
