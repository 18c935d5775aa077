"""Runs scenes for columns. Reads what to do as JSON on its input, writes a line of JSON for each scene of each column:

   {"scratch", "probe", "columns": [{"name", "before", "after", "takesFlags", "judged", "tags", "scenes", "prepare", "tidy"}], "scenes": [pattern]}

A scene is run in a process of its own, so that the state it makes dies with it. Before the first scene of a column `prepare` is run, after
the last one `tidy`, with the same environment that its scenes start from: that is how a session gets the caller's variables."""

import fnmatch
import json
import os
import select
import signal
import subprocess
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from case import Case, Late  # noqa: E402
from scenes import SCENES  # noqa: E402

SCENE_S = 40
# Whatever a variable can hold, names included.
ODD = {"EMPTY": "", "EQUALS": "a=b=c", "MANY_LINES": "one\nTWO=x\n", "BYTES": "\xff\xfe", "odd.name-1": "x", "BASH_FUNC_said%%": "() {  echo said\n}"}


def environment(work):
    base = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**base, "SHELL": "/bin/sh", "TERM": "dumb", **ODD}


def run_scene(column, name, work):
    """@returns the facts; {"scene": why} when it could not be played to its end."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        play(column, name, work, writer)
    os.close(writer)
    text = b""
    while select.select([reader], [], [], SCENE_S)[0]:
        part = os.read(reader, 1 << 20)
        if not part:
            break
        text += part
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(reader)
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"scene": "never ended"}


def play(column, name, work, writer):
    case = None
    try:
        for number in range(1, 65):
            if number not in (9, 19, 32, 33):
                signal.signal(number, signal.SIG_DFL)
        case = Case(column, work["scratch"], work["probe"])
        facts = case.facts
        try:
            SCENES[name]["run"](case)
        except Late as late:
            facts["scene"] = str(late)
        case.conclude()
    except BaseException:
        facts = {"scene": traceback.format_exc()}
    try:
        if case is not None:
            case.clean_up()
        with os.fdopen(writer, "w") as out:
            json.dump(facts, out)
    finally:
        os._exit(0)


def run_column(column, work):
    column["env"] = environment(work)
    byte_env = {name.encode("latin1"): value.encode("latin1") for name, value in column["env"].items()}
    names = [name for name in SCENES if any(fnmatch.fnmatchcase(name, pattern) for pattern in work["scenes"])]
    names = [name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in column["scenes"])]
    if column["tags"]:
        names = [name for name in names if set(SCENES[name]["tags"]) & set(column["tags"])]
    try:
        for words in column["prepare"]:
            done = subprocess.run([word.encode("latin1") for word in words], env={**byte_env, **own(work)}, cwd=work["scratch"], stdin=subprocess.DEVNULL, capture_output=True)
            if done.returncode != 0:
                say({"column": column["name"], "absent": f"{' '.join(words[1:3])}: {done.stderr.decode(errors='replace').strip()}"})
                return
        for name in names:
            facts = run_scene(column, name, work)
            say({"column": column["name"], "scene": name, "focus": SCENES[name]["focus"], "facts": facts})
    finally:
        for words in column["tidy"]:
            subprocess.run(words, env={**byte_env, **own(work)}, cwd=work["scratch"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def own(work):
    return {name.encode(): value.encode() for name, value in work["ownEnvironment"].items()}


def say(line):
    print(json.dumps(line), flush=True)


def main():
    work = json.load(sys.stdin)
    os.umask(0o022)
    for column in work["columns"]:
        run_column(column, work)


main()
