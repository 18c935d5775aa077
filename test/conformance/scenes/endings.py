"""How a program ends, what its caller sees of that, and what stays."""

import os
import signal

from case import cpu_seconds_of_children
from scenes import scene

FOCUS = ["end", "end.core"]


def exits(code):
    @scene(f"exit-{code}", FOCUS)
    def run(case):
        case.start("exit", code)
        case.ends()


def dies(number):
    @scene(f"dies-of-{number}", FOCUS)
    def run(case):
        case.start("raise", number)
        case.ends()


for each in (0, 1, 7, 124, 125, 126, 127, 128, 130, 255):
    exits(each)
for each in (1, 2, 3, 4, 6, 8, 9, 10, 11, 13, 14, 15, 24, 31, 34, 64):
    dies(each)


@scene("dumps-core", [*FOCUS, "core-file"])
def dumps_core(case):
    case.start("cores", int(signal.SIGSEGV))
    case.ends()
    # Where core_pattern names a file here.
    case.facts["core-file"] = [name for name in os.listdir(".") if name.startswith("core")] != []


@scene("leaves-a-child", ["end", "child"])
def leaves_a_child(case):
    case.start("child", "-", "exit", 3)
    pid = case.event("child")["pid"]
    case.ends()
    case.facts["child.lives"] = case.living(pid)


@scene("leaves-an-output", ["end", "output"])
def leaves_an_output(case):
    """A caller that waits for the program, and not for the end of its output, waits no longer than that."""
    reader, case.fds[1] = os.pipe()
    case.start_program(["sh", "-c", "sleep 1000 & exit 4"])
    case.ends()
    case.fds.pop(1)


@scene("killed", [*FOCUS, "target", "child"])
def killed(case):
    case.start("child", "-", "say", "ready", "hold", "-")
    child = case.event("child")["pid"]
    case.event("ready")
    case.kill(signal.SIGKILL)
    case.ends()
    target = case.events[0]["facts"]["pid"]
    case.until("end of the target", lambda: not case.living(target))
    case.facts["target.lives"] = case.living(target)
    case.facts["child.lives"] = case.living(child) and not goes_away(case, child)


def goes_away(case, pid):
    """A session needs a moment for it, and tells nobody when it has done so."""
    if case.column["judged"] is False or case.column["name"].startswith("direct"):
        return False
    case.until("end of the child", lambda: not case.living(pid))
    return True


@scene("cpu-time", ["cpu-time"])
def cpu_time(case):
    case.start("burn", 200)
    case.ends()
    case.facts["cpu-time.of-the-child"] = cpu_seconds_of_children() >= 0.19


@scene("stops-itself", ["end"])
def stops_itself(case):
    case.setup(os.setpgid, 0, 0)
    case.start("raise", int(signal.SIGTSTP), "exit", 6)
    goes_on(case)


@scene("stops-hard", ["end"])
def stops_hard(case):
    case.start("raise", int(signal.SIGSTOP), "exit", 6)
    goes_on(case)


def goes_on(case):
    case.stops()
    case.kill(signal.SIGCONT)
    case.ends()
    # It may end before anybody has looked whether it goes on.
    case.statuses = [status for status in case.statuses if not os.WIFCONTINUED(status)]


@scene("stops-itself-orphaned", ["end"])
def stops_itself_orphaned(case):
    """Nobody could continue a group whose leader's parent is in another session: the kernel does not let it be stopped."""
    case.start("raise", int(signal.SIGTSTP), "exit", 6)
    case.ends()
