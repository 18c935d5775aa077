"""Terminals: what the program sees of one, what is typed on it, and how it is afterwards."""

import fcntl
import os
import signal
import struct
import termios

from scenes import scene

LOOK = ["tty.*", "terminal.*", "fd.*", "process.*", "env.TERM", "env.COLORTERM", "screen", "after.terminal.*", "end"]
TYPED = ["screen", "read", "signals-seen", "end", "after.terminal.*"]


def afterwards(case):
    modes = termios.tcgetattr(case.slave)
    case.facts["after.terminal.raw"] = not modes[3] & termios.ICANON
    case.facts["after.terminal.echo"] = bool(modes[3] & termios.ECHO)


def looks(case, **how):
    case.environment.update({"TERM": "xterm-odd", "COLORTERM": "odd"})
    case.terminal(**how)
    case.start("write", "out\n")
    case.ends()
    if case.facts.get("no-screen") is None and 1 in how.get("on", (0, 1, 2)):
        case.shows(b"out\r\n")
    afterwards(case)


@scene("terminal-job", LOOK, tags=["terminal"])
def terminal_job(case):
    looks(case)


@scene("terminal-leader", LOOK, tags=["terminal"])
def terminal_leader(case):
    looks(case, leader=True)


@scene("terminal-stdin-only", LOOK, tags=["terminal"])
def terminal_stdin_only(case):
    looks(case, on=(0,))


@scene("terminal-stdout-only", LOOK, tags=["terminal"])
def terminal_stdout_only(case):
    looks(case, on=(1,))


@scene("terminal-stderr-only", LOOK, tags=["terminal"])
def terminal_stderr_only(case):
    looks(case, on=(2,))


@scene("terminal-leader-stdin-pipe", LOOK, tags=["terminal"])
def terminal_leader_stdin_pipe(case):
    case.fds[0], writer = os.pipe()
    os.write(writer, b"piped\n")
    os.close(writer)
    case.terminal(leader=True, on=(1, 2))
    case.start("read", 100)
    case.facts["read"] = case.event("read")
    case.ends()
    afterwards(case)


def types(name, what, focus=TYPED, leader=False):
    def register(function):
        @scene(name, focus, tags=["terminal"])
        def run(case):
            case.terminal(leader=leader)
            function(case, what)
            afterwards(case)
    return register


def reads(case, what):
    case.start("say", "ready", "read", 100)
    case.event("ready")
    case.type(what)
    case.facts["read"] = case.event("read")
    case.ends()


def is_signalled(case, what):
    case.start("say", "ready", "hold", "-")
    case.event("ready")
    case.type(what)
    case.ends()


def sees_signal(case, what):
    case.start("signals", "-", "exit", 5)
    case.event("ready")
    case.type(what)
    case.event("signal")
    case.kill(signal.SIGTERM)
    case.ends()
    case.facts["signals-seen"] = case.signals_seen()


types("typed-line", b"hello \xe9\n")(reads)
types("typed-end", b"\x04")(reads)
types("typed-interrupt", b"\x03")(is_signalled)
types("typed-quit", b"\x1c")(is_signalled)
types("typed-interrupt-caught", b"\x03")(sees_signal)
types("typed-line-leader", b"hello\n", leader=True)(reads)
types("typed-interrupt-leader", b"\x03", leader=True)(is_signalled)


@scene("typed-stop", [*TYPED, "stops-at-once"], tags=["terminal"])
def typed_stop(case):
    case.terminal()
    case.start("say", "ready", "hold", "-")
    case.event("ready")
    case.type(b"\x1a")
    case.facts["stops-at-once"] = case.happens(lambda: case.statuses and os.WIFSTOPPED(case.statuses[-1]))
    if case.facts["stops-at-once"]:
        os.tcsetpgrp(case.slave, os.getpgrp())
        afterwards(case)
        os.tcsetpgrp(case.slave, case.pid)
        os.killpg(case.pid, signal.SIGCONT)
        case.continues()
    case.type(b"\x03")
    case.ends()


@scene("resized", ["signals-seen", "tty.0.rows-after", "end"], tags=["terminal"])
def resized(case):
    case.terminal()
    case.start("signals", "-", "exit", 5)
    case.event("ready")
    fcntl.ioctl(case.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 55, 0, 0))
    case.facts["tty.0.rows-after"] = case.event("signal")["rows"]
    case.kill(signal.SIGTERM)
    case.ends()
    case.facts["signals-seen"] = case.signals_seen()


def hung_up(leader):
    @scene(f"hung-up{'-leader' if leader else ''}", ["signals-seen", "end"], tags=["terminal"])
    def run(case):
        case.terminal(leader=leader)
        case.start("signals", "-", "exit", 5)
        case.event("ready")
        os.close(case.master)
        case.master = None
        if not leader:
            os.killpg(case.pid, signal.SIGHUP)  # as the shell does, which alone is told
        case.event("signal")
        case.kill(signal.SIGTERM)
        case.ends()
        # The kernel sends SIGHUP and then SIGCONT, so that a stopped process hears of it; how often is nobody's concern.
        seen = case.signals_seen()
        case.facts["signals-seen"] = sorted({"SIGCONT"} & set(seen)) + sorted(name for name in seen if name != "SIGCONT")


hung_up(False)
hung_up(True)


@scene("reads-in-background", ["stops-at-once", "read", "end"], tags=["terminal"])
def reads_in_background(case):
    """What is typed is the shell's, until the job is in the foreground."""
    case.terminal(background=True)
    case.start("say", "ready", "read", 100)
    case.event("ready")
    case.facts["stops-at-once"] = case.happens(lambda: case.statuses and os.WIFSTOPPED(case.statuses[-1]))
    if not case.is_over():
        case.statuses.clear()
        os.tcsetpgrp(case.slave, case.pid)
        os.killpg(case.pid, signal.SIGCONT)
        case.type(b"for the job\n")
    case.facts["read"] = case.event("read")
    case.ends()
    case.statuses = [status for status in case.statuses if not os.WIFCONTINUED(status)]
    afterwards(case)


@scene("writes-in-background", ["end", "screen"], tags=["terminal"])
def writes_in_background(case):
    case.terminal(background=True)
    case.start("write", "from behind\n")
    case.ends()
    case.shows(b"behind")


@scene("raw-is-left", ["after.terminal.*", "end"], tags=["terminal"])
def raw_is_left(case):
    case.terminal()
    case.start("raw", "-")
    case.ends()
    afterwards(case)


@scene("writes-to-dev-tty", ["screen", "end"], tags=["terminal"])
def writes_to_dev_tty(case):
    case.terminal()
    case.start("tty", "by name\n", "write", "plainly\n")
    case.ends()
    case.shows(b"plainly")


@scene("types-ahead", ["typed-ahead", "screen"], tags=["terminal"])
def types_ahead(case):
    """TIOCSTI puts characters into the terminal's input, for the caller's shell to read; root may, on any terminal."""
    case.terminal()
    case.start("sti", "echo pushed")
    case.facts["typed-ahead"] = case.event("typed-ahead")["error"]
    case.ends()
    case.screen = b""


@scene("output-is-complete", ["screen.*", "end"], tags=["terminal"])
def output_is_complete(case):
    case.terminal()
    case.start_program(["head", "-c", "200000", "/dev/zero"])
    case.ends()
    case.until("output", lambda: len(case.screen) >= 200000)
    case.pump(0)
    case.facts["screen.bytes"] = len(case.screen)
    case.screen = b""
