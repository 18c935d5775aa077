"""The prefix where people write it: in shells, behind nohup and timeout, in Python and make. `"$@"` is the prefix."""

import os

from scenes import scene

SCRIPTS = {
    "and-wait": "\"$@\" sh -c 'exit 3' & wait $!; echo $?",
    "captures": "x=$(\"$@\" sh -c 'printf \"a\\n\\nb\\n\\n\"'); printf '[%s]' \"$x\"",
    "here-document": "\"$@\" cat <<E\na\n\tb\nE",
    "rest-of-input": "printf 'a\\nb\\nc\\n' | { \"$@\" sh -c 'read x; echo got $x'; cat; }",
    "order-of-output": "\"$@\" sh -c 'echo 1; echo 2 >&2; echo 3' 2>&1; echo 4",
    "loop-reads-on": "printf 'a\\nb\\n' >l; while read x; do \"$@\" echo \"$x\" </dev/null; done <l",
    "signal-status": "\"$@\" sh -c 'kill -9 $$'; echo $?",
    "and-or": "\"$@\" false || echo no; \"$@\" true && echo yes; ! \"$@\" false && echo not",
    "set-e": "set -e; \"$@\" true; \"$@\" sh -c 'exit 9'; echo unreachable",
    "trap-ignored": "(trap '' INT TERM; \"$@\" sh -c 'kill -INT $$; kill -TERM $$; echo alive')",
    "mask": "umask 027; \"$@\" touch f; stat -c %a f",
    "substituted-file": "echo in >i; \"$@\" cat /dev/stdin <i; \"$@\" cat /proc/self/fd/0 <i",
    "nohup": "nohup \"$@\" sh -c 'kill -HUP $$; echo alive' 2>/dev/null",
    "timeout": "timeout 0.2 \"$@\" sleep 1000; echo $?",
    "timeout-kill": "timeout -s KILL 0.2 \"$@\" sleep 1000; echo $?",
    "setsid": "setsid -w \"$@\" sh -c 'echo in; exit 8'; echo $?",
    "xargs": "printf 'a b c' | xargs -n1 \"$@\" printf '%s-'",
    "find-exec": "mkdir d; touch d/a 'd/b c'; find d -type f -exec \"$@\" printf '<%s>' {} + | tr '<' '\\n' | sort",
    "parallel": "for i in 1 2 3 4 5; do \"$@\" sh -c \"exit $i\" & p=\"$p $!\"; done; for q in $p; do wait $q; printf '%s ' $?; done",
    "fifo": "mkfifo p; \"$@\" cat p & echo through >p; wait",
    "cd-link": "mkdir r; ln -s r l; cd l; \"$@\" sh -c pwd | sed 's,.*/,,'; \"$@\" sh -c 'pwd -P' | sed 's,.*/,,'; \"$@\" sh -c 'echo $PWD' | sed 's,.*/,,'",
    "nested": "\"$@\" sh -c '\"$@\" sh -c \"exit 5\"' sh \"$@\"; echo $?",
    "disowned": "\"$@\" sh -c 'sleep 1000 >/dev/null 2>&1 & echo started'",
    "which-shell": "\"$@\" sh -c 'echo $0 $#' a b c",
    "exec-it": "exec \"$@\" sh -c 'exit 44'",
    "env-in-front": "env -u EMPTY \"$@\" sh -c 'exit 0'; echo $?",
    "locked": "flock lock \"$@\" sh -c 'echo held'; echo $?",
    "tee": "\"$@\" echo both | \"$@\" tee copy; cat copy",
    "large-through": "head -c 3000000 /dev/zero | \"$@\" cat | wc -c",
}
BASH_SCRIPTS = {
    "pipe-status": "\"$@\" yes 2>/dev/null | head -n1; echo ${PIPESTATUS[@]}",
    "process-substitution": "\"$@\" cat < <(\"$@\" echo inside)",
    "job-control": "set -m; \"$@\" sh -c 'exit 6' & wait %1; echo $?",
    "jobs-stop": "set -m; \"$@\" sh -c 'kill -STOP $$; exit 2' & while ! jobs -s | grep -q .; do :; done; jobs -s | sed 's/ .*//'; kill -CONT %1; wait %1; echo $?",
    "coproc": "coproc \"$@\" cat; echo to >&\"${COPROC[1]}\"; read -r x <&\"${COPROC[0]}\"; echo \"$x\"; exec {COPROC[1]}>&-; wait $COPROC_PID; echo $?",
    "kill-job": "\"$@\" sleep 1000 & kill %1; wait $!; echo $?",
}
PYTHON = {
    "python-run": "r = subprocess.run(p + ['sh', '-c', 'cat; exit 3'], input=b'in', capture_output=True); print(r.returncode, r.stdout, r.stderr)",
    "python-signal": "print(subprocess.run(p + ['sh', '-c', 'kill -TERM $$']).returncode)",
    "python-session": "r = subprocess.run(p + ['sh', '-c', 'exit 4'], start_new_session=True); print(r.returncode)",
    "python-timeout": "try: subprocess.run(p + ['sleep', '1000'], timeout=0.2)\nexcept subprocess.TimeoutExpired: print('expired')",
    "python-terminate": "c = subprocess.Popen(p + ['sh', '-c', 'echo up; exec sleep 1000'], stdout=subprocess.PIPE); c.stdout.readline(); c.terminate(); print(c.wait())",
    "python-restore-off": "r = subprocess.run(p + ['sh', '-c', 'kill -PIPE $$; echo alive'], restore_signals=False, capture_output=True); print(r.returncode, r.stdout)",
    "python-large": "r = subprocess.run(p + ['cat'], input=b'x' * 2000000, capture_output=True); print(len(r.stdout))",
}
MAKE = "printf 'all:\\n\\t+@$(P) $(MAKE) --no-print-directory -f sub\\n' >Makefile; printf 'all: a b\\na b:\\n\\t@echo made\\n' >sub; make -j2 --no-print-directory P=\"$*\""


def register(name, words):
    @scene(f"sh-{name}", ["output", "errors", "end"], tags=["shell"])
    def run(case):
        prefix = [*case.column["before"], *case.column["after"]]
        case.column = {**case.column, "before": [], "after": []}
        case.start_program([*words, *prefix])
        case.ends()


for _name, _script in SCRIPTS.items():
    register(_name, ["sh", "-c", _script, "sh"])
for _name, _script in BASH_SCRIPTS.items():
    register(_name, ["bash", "-c", _script, "bash"])
for _name, _script in PYTHON.items():
    register(_name, ["/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3", "-c", f"import subprocess, sys\np = sys.argv[1:]\n{_script}"])
register("make-jobs", ["sh", "-c", MAKE, "sh"])
