"""Signals that are sent to what was started: each once, to the program, and to what it ignores not."""

import os
import signal

from scenes import scene

RELAYED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH)
FOCUS = ["signals-seen", "signal.*", "end"]


def each_is_seen(case, send, numbers=RELAYED):
    """The next one is sent when the last one has been seen, as equal ones would merge; SIGTERM ends it."""
    case.start("signals", "-", "exit", 5)
    case.event("ready")
    for number in (*numbers, signal.SIGTERM):
        send(number)
        event = case.event("signal")
        case.facts["signal.code"] = event["code"]
        case.facts["signal.sender"] = "the caller" if event["sender"] == os.getpid() else "another"
    case.ends()
    case.facts["signals-seen"] = case.signals_seen()


@scene("signals-to-it", FOCUS)
def signals_to_it(case):
    each_is_seen(case, case.kill)


@scene("signals-to-its-group", FOCUS)
def signals_to_its_group(case):
    case.setup(os.setpgid, 0, 0)
    each_is_seen(case, lambda number: os.killpg(case.pid, number))


@scene("signals-ignored-are-not-seen", FOCUS)
def signals_ignored_are_not_seen(case):
    case.ignore(signal.SIGHUP, signal.SIGINT, signal.SIGWINCH)
    case.start("signals", "-", "exit", 5)
    case.event("ready")
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGWINCH, signal.SIGTERM):
        case.kill(number)
    case.event("signal")
    case.ends()
    case.facts["signals-seen"] = case.signals_seen()


@scene("stop-and-continue", FOCUS)
def stop_and_continue(case):
    case.setup(os.setpgid, 0, 0)
    case.start("say", "ready", "hold", "-")
    case.event("ready")
    case.kill(signal.SIGTSTP)
    case.stops()
    case.kill(signal.SIGCONT)
    case.continues()
    case.kill(signal.SIGTERM)
    case.ends()


@scene("stop-is-caught", FOCUS)
def stop_is_caught(case):
    each_is_seen(case, case.kill, (signal.SIGTSTP,))


@scene("continue-is-caught", FOCUS)
def continue_is_caught(case):
    each_is_seen(case, case.kill, (signal.SIGCONT,))


def lone_signal(number):
    """Those that the caller sends by name, but that a stand-in cannot all pass on."""
    @scene(f"signal-{signal.Signals(number).name}", FOCUS)
    def run(case):
        case.start("signals", "-", "exit", 5)
        case.event("ready")
        case.kill(number)
        case.kill(signal.SIGTERM)
        case.ends()
        case.facts["signals-seen"] = sorted(case.signals_seen())


for each in (signal.SIGALRM, signal.SIGURG, signal.SIGIO, signal.SIGTTIN, signal.SIGRTMIN):
    lone_signal(each)


@scene("terminated-at-once", ["end"])
def terminated_at_once(case):
    """Before anybody could have got ready for it."""
    case.start("hold", "-")
    case.kill(signal.SIGTERM)
    case.ends()
    case.events.clear()


@scene("dies-of-the-signal", ["end"])
def dies_of_the_signal(case):
    case.start("say", "ready", "hold", "-")
    case.event("ready")
    case.kill(signal.SIGINT)
    case.ends()


@scene("stopped-hard", ["end", "target"])
def stopped_hard(case):
    """SIGSTOP can be neither caught nor passed on."""
    case.start("say", "ready", "hold", "-")
    case.event("ready")
    target = case.events[0]["facts"]["pid"]
    case.kill(signal.SIGSTOP)
    case.stops()
    with open(f"/proc/{target}/stat") as file:
        case.facts["target.stops"] = file.read().rsplit(") ", 1)[1][0] == "T"
    case.kill(signal.SIGCONT)
    case.kill(signal.SIGTERM)
    case.ends()
    case.statuses = [status for status in case.statuses if not os.WIFCONTINUED(status)]
