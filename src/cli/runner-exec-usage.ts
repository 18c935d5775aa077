// The help of `holdfast __runner-exec`: that of runner-exec, word for word (test/unit/cli/runner-exec-usage.test.ts compares them).

export const usageText = `Runs a command inside an environment that 'holdfast open' holds open, on your own
terminal, files and pipes, and ends as the command ends.

usage: runner-exec [options] -- COMMAND [ARGUMENT...]

  runner-exec -- make test                    in the session of this project (opened on first use)
  runner-exec --session web -- npm run build  in the session called 'web'
  runner-exec -e DEBUG=1 --cwd sub -- ./tool  with a variable, in another directory

Which session
  --session NAME       a session opened with 'holdfast open NAME -- LAUNCHER...'; './sub': the project's
  --socket PATH        the agent that listens on this socket
                       without either: $HOLDFAST_SESSION, else the nearest directory upwards that has
                       holdfast.toml, devenv.nix, flake.nix, shell.nix, .envrc, devbox.json,
                       .flox/env.json, mise.toml, .mise.toml, pixi.toml, pixi.lock, manifest.scm,
                       guix.scm, .conda/conda-meta, environment.yml, .venv/bin/activate or
                       venv/bin/activate
Environment (the command gets the session's; nothing of yours unless named here)
  -e, --env K=V        set a variable for this command
  --pass-env K         pass your own variable on; '*': all that the session does not set itself
  --unset K            leave a variable out
  --path-prepend DIR   put a directory in front of PATH
  --exact              only what these options say, nothing of the session's
Process
  --cwd DIR            work in DIR instead of the current directory
  --argv0 NAME         the name the program sees itself called by
  --fd N               pass descriptor N too, under the same number (0, 1 and 2 always are)
  --limit NAME=SOFT[:HARD]  a resource limit: nofile, core, cpu, as, stack, nproc, ... or 'unlimited'
  --nice N             niceness, -20 to 19
  --jobserver, --no-jobserver  share the job slots of the make that calls us (on where there is one)
Terminal and time
  -t, --pty            give the command a terminal of its own, relayed to yours
  --detach             start it in the background, print its job id and return
  --timeout DUR        end it after 500ms, 5s, 2m, 1h (a plain number is seconds); status 124
  --kill-grace DUR     how long it may take to end after a polite signal, before it is killed
  --report FILE        write how it ended, what it used and where its environment came from, as JSON
  --help, --version

All words after '--' belong to the command. Status: the command's own, or it dies of the same signal;
124 deadline, 125 runner-exec itself failed, 126 found but not runnable, 127 not found.
`;
