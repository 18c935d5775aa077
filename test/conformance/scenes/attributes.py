"""What a program is born with: argv, environment, directory, and the attributes that fork and exec hand down."""

import ctypes
import os
import resource
import signal

from case import libc
from scenes import scene

ALL = ["argv", "env.*", "directory.*", "fds", "fd.*", "tty.*", "terminal.*", "process.*", "ids.*", "caps.*", "security.*", "signals.*", "umask", "limits.*",
       "schedule.*", "oom-score-adj", "memory.*", "cgroup.*", "namespace.*"]
PR_SET_PDEATHSIG, PR_SET_TIMERSLACK, PR_SET_NO_NEW_PRIVS, PR_SET_THP_DISABLE = 1, 29, 38, 41
ADDR_NO_RANDOMIZE = 0x0040000


@scene("plain", ALL)
def plain(case):
    case.start("exit", 0)
    case.ends()


@scene("argv-bytes", ["argv"])
def argv_bytes(case):
    case.start("", "\xff\xfe\x01", "a b\n'\"$(x)`", "--", "-e", "=", "exit", 0)
    case.ends()


@scene("argv-large", ["argv", "end"])
def argv_large(case):
    case.start("x", "w" * 120_000, *(["x", "v" * 100_000] * 10))
    case.ends()
    # Compared by its length: it is long.
    for event in case.events:
        if "facts" in event:
            event["facts"]["argv"] = [len(word) if len(word) > 99 else word for word in event["facts"]["argv"]]


@scene("argv-too-large", ["end", "errors"])
def argv_too_large(case):
    case.start("x", "w" * 200_000)
    case.ends()
    # Shells word it as they like; the prefix itself cannot be executed with it either.
    case.written = lambda number: b""


@scene("env-by-name", ["env.*"])
def env_by_name(case):
    case.environment.update({"ODD_A": "1", "ODD_B": "two\nlines=", "ODD_C": ""})
    case.flags = ["--pass-env", "ODD_A", "--pass-env", "ODD_B", "--pass-env", "ODD_C"]
    case.start()
    case.ends()


@scene("env-changed", ["env.*"])
def env_changed(case):
    case.environment.update({"ODD_A": "\xff()", "LANG": "C", "PATH": f"/opt/odd/bin:{case.environment['PATH']}"})
    del case.environment["EMPTY"]
    case.flags = ["-e", "ODD_A=\xff()", "--pass-env", "LANG", "--unset", "EMPTY", "--path-prepend", "/opt/odd/bin"]
    case.start()
    case.ends()


@scene("env-unnamed", ["env.*"])
def env_unnamed(case):
    case.environment.update({"NOBODY_NAMED_IT": "1", "LANG": "C"})
    case.start()
    case.ends()


@scene("env-exact", ["env.*"])
def env_exact(case):
    case.environment = {"ONLY": "this"}
    case.flags = ["--exact", "-e", "ONLY=this", "-e", f"PWD={case.pwd}"]
    case.start()
    case.ends()


@scene("directory-by-link", ["directory.*", "env.PWD"])
def directory_by_link(case):
    os.mkdir("real")
    os.symlink("real", "link")
    os.chdir("real")
    case.pwd = f"{case.directory}/link"
    case.start()
    case.ends()


@scene("directory-pwd-lies", ["directory.*", "env.PWD"])
def directory_pwd_lies(case):
    os.mkdir("real")
    os.chdir("real")
    case.pwd = "/usr"
    case.start()
    case.ends()


@scene("directory-removed", ["directory.*", "env.PWD", "end"])
def directory_removed(case):
    os.mkdir("gone")
    os.chdir("gone")
    case.pwd = f"{case.directory}/gone"
    os.rmdir(case.pwd)
    case.start()
    case.ends()


@scene("directory-closed-above", ["directory.*", "env.PWD", "end"])
def directory_closed_above(case):
    os.mkdir("\xe9 \n".encode("latin1"))
    os.chdir("\xe9 \n".encode("latin1"))
    case.pwd = f"{case.directory}/\xe9 \n"
    case.start()
    case.ends()


@scene("umask", ["umask"])
def umask(case):
    case.setup(os.umask, 0o137)
    case.start()
    case.ends()


@scene("signals-ignored", ["signals.*"])
def signals_ignored(case):
    case.ignore(signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGUSR1, signal.SIGALRM, signal.SIGTSTP, signal.SIGTERM)
    case.setup(lambda: libc.signal(33 + 1, ctypes.c_void_p(1)))
    case.start()
    case.ends()


@scene("signals-blocked", ["signals.*"])
def signals_blocked(case):
    case.setup(signal.pthread_sigmask, signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGURG})
    case.start()
    case.ends()


@scene("caller-limits", ["limits.*"])
def caller_limits(case):
    case.setup(resource.setrlimit, resource.RLIMIT_NOFILE, (777, 888))
    case.setup(resource.setrlimit, resource.RLIMIT_CORE, (0, 0))
    case.start()
    case.ends()


@scene("caller-limits-named", ["limits.*"])
def caller_limits_named(case):
    case.setup(resource.setrlimit, resource.RLIMIT_NOFILE, (777, 888))
    case.flags = ["--limit", "nofile=777:888"]
    case.start()
    case.ends()


@scene("caller-nice", ["schedule.nice"])
def caller_nice(case):
    case.setup(os.setpriority, os.PRIO_PROCESS, 0, 7)
    case.start()
    case.ends()


@scene("caller-nice-named", ["schedule.nice"])
def caller_nice_named(case):
    case.setup(os.setpriority, os.PRIO_PROCESS, 0, 7)
    case.flags = ["--nice", "7"]
    case.start()
    case.ends()


@scene("caller-schedule", ["schedule.*", "oom-score-adj", "memory.*"])
def caller_schedule(case):
    case.setup(os.sched_setaffinity, 0, {min(os.sched_getaffinity(0))})
    case.setup(os.sched_setscheduler, 0, os.SCHED_BATCH, os.sched_param(0))
    case.setup(libc.prctl, PR_SET_TIMERSLACK, 123456, 0, 0, 0)
    case.setup(libc.prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0)
    case.setup(write_own, "oom_score_adj", "300")
    case.setup(write_own, "coredump_filter", "0x7")
    case.start()
    case.ends()


@scene("caller-privileges", ["security.*", "caps.*", "process.personality", "process.pdeathsig", "ids.*"])
def caller_privileges(case):
    case.setup(libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    case.setup(libc.prctl, PR_SET_PDEATHSIG, signal.SIGHUP, 0, 0, 0)
    case.setup(libc.personality, ADDR_NO_RANDOMIZE)
    case.start()
    case.ends()


@scene("caller-alarm", ["process.alarm", "end"])
def caller_alarm(case):
    case.setup(signal.alarm, 600)
    case.start()
    case.ends()


def write_own(name, text):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
