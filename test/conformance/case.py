"""One scene: a caller in a state of its own making, what it calls, and what it sees of it.

A case is the whole process that it runs in: it leads a session, is the subreaper of all it starts, and leaves nothing. Waits
for states, never for durations; at the deadline it says what it saw last. Longer than most files: state, call, events and end of one
process share everything."""

import ctypes
import fcntl
import json
import os
import resource
import select
import shutil
import signal
import struct
import termios
import time

from facts import Seen, normal, place_of

DEADLINE_S = 10
PR_SET_CHILD_SUBREAPER = 36
FIRST_FREE = 300  # above every number that a scene gives to a program
libc = ctypes.CDLL(None, use_errno=True)
SYS_KEYCTL = {"x86_64": 250}.get(os.uname().machine, 219)


def session_keyring():
    return libc.syscall(SYS_KEYCTL, 0, ctypes.c_long(-3), 0)


class Late(Exception):
    pass


def status_text(status):
    if os.WIFSTOPPED(status):
        return f"stopped {signal_name(os.WSTOPSIG(status))}"
    if os.WIFCONTINUED(status):
        return "continued"
    if os.WIFSIGNALED(status):
        return f"died {signal_name(os.WTERMSIG(status))}"
    return f"exited {os.WEXITSTATUS(status)}"


def signal_name(number):
    return signal.Signals(number).name if number in set(signal.Signals) else str(number)


class Case:
    def __init__(self, column, scratch, probe):
        self.column = column
        self.scratch = scratch
        self.probe = probe
        self.fifo = f"{scratch}/report"
        self.directory = f"{scratch}/work"
        self.pwd = self.directory
        self.fds = {}
        self.in_child = []  # called in the child, in order, last before exec
        self.environment = dict(column["env"])
        self.flags = []  # options of runner-exec that say what a direct caller says by what it does
        self.facts = {}
        self.events = []
        self.statuses = []
        self.screen = b""
        self.master = self.slave = None
        self.pid = None
        self.job = False
        self._taken = 0

        os.setsid()
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        shutil.rmtree(self.directory, ignore_errors=True)
        os.mkdir(self.directory)
        os.chdir(self.directory)
        if os.path.lexists(self.fifo):
            os.unlink(self.fifo)
        os.mkfifo(self.fifo)
        # Open for both, it never hangs up between two writers.
        self._reader = os.open(self.fifo, os.O_RDWR | os.O_NONBLOCK)
        self._partial = b""
        self._wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.fds[0] = os.open("/dev/null", os.O_RDONLY)
        self.fds[1] = self.file("stdout", b"", os.O_RDWR)
        self.fds[2] = self.file("stderr", b"", os.O_RDWR)

    # --- the caller's state -------------------------------------------------------------------------------------------------

    def file(self, name, content=b"", flags=os.O_RDWR, offset=0):
        path = f"{self.scratch}/{name}"
        with open(path, "wb") as made:
            made.write(content)
        fd = os.open(path, flags)
        os.lseek(fd, offset, os.SEEK_SET)
        return fd

    def setup(self, function, *arguments):
        self.in_child.append(lambda: function(*arguments))

    def ignore(self, *signals):
        for number in signals:
            self.setup(signal.signal, number, signal.SIG_IGN)

    def terminal(self, rows=33, columns=101, leader=False, background=False, on=(0, 1, 2)):
        """A fresh terminal. The command is its session's leader, or a job of the session that the caller leads on it."""
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.set_blocking(self.master, False)
        for number in on:
            self.fds[number] = self.slave
        if leader:
            self.setup(os.setsid)
            self.setup(lambda: fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0))
            return
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        self.job = True
        self.setup(os.setpgid, 0, 0)
        if not background:
            self.setup(self._to_foreground)

    def _to_foreground(self):
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(self.slave, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)

    # --- the call -----------------------------------------------------------------------------------------------------------

    def start(self, *acts):
        self.start_program([self.probe, self.fifo, *(str(act) for act in acts)])

    def start_program(self, words):
        column = self.column
        flags = self.flags if column["takesFlags"] else []
        argv = [*column["before"], *flags, *column["after"], *words]
        self.environment.setdefault("PWD", self.pwd)
        environment = [f"{name}={value}".encode("latin1") for name, value in self.environment.items()]
        directory = place_of(os.stat("."))
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        self.pid = os.fork()
        if self.pid == 0:
            os.close(write_end)
            os.read(read_end, 1)  # the caller looks at its descriptors first
            self._exec(argv, environment)
        self.seen = Seen(self.pid, self.fds, directory, os.ttyname(self.slave) if self.slave is not None else None)
        self.seen.keyring = session_keyring()
        if self.job:
            os.setpgid(self.pid, self.pid)
        os.close(read_end)
        os.close(write_end)

    def _exec(self, argv, environment):
        try:
            signal.set_wakeup_fd(-1)
            for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_DFL)
            high = {number: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE) for number, fd in self.fds.items()}
            if self.slave is not None:
                self.slave = fcntl.fcntl(self.slave, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE)
            for number, fd in high.items():
                os.dup2(fd, number, inheritable=True)
            below = 0
            for number in [*sorted(high), FIRST_FREE]:
                if below < number:  # an empty range would be taken for an endless one
                    os.closerange(below, number)
                below = number + 1
            for function in self.in_child:
                function()
            array_of = lambda words: (ctypes.c_char_p * (len(words) + 1))(*words, None)
            words = [word.encode("latin1") for word in argv]
            os.environ.clear()
            os.environ.update({"PATH": self.environment["PATH"]} if "PATH" in self.environment else {})  # where execvp looks
            libc.execvpe(ctypes.c_char_p(words[0]), array_of(words), array_of(environment))  # execvp: a script without #! goes to sh
            os._exit(127 if ctypes.get_errno() == 2 else 126)  # as shells and env(1) do
        finally:
            os._exit(99)

    # --- what happens -------------------------------------------------------------------------------------------------------

    def pump(self, wait_s):
        watched = [self._reader, self._wake] + ([self.master] if self.master is not None else [])
        ready = select.select(watched, [], [], wait_s)[0]
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._reader in ready:
            self._partial += os.read(self._reader, 1 << 20)
            *lines, self._partial = self._partial.split(b"\n")
            self.events += [json.loads(line) for line in lines]
        if self.master in ready:
            try:
                self.screen += os.read(self.master, 1 << 20)
            except OSError:
                os.close(self.master)
                self.master = None
        while self.pid is not None and not self.is_over():
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            if pid == 0:
                break
            self.statuses.append(status)
            if self.is_over():
                self.pump(0)  # its last words came between our look at the FIFO and its end

    def is_over(self):
        return bool(self.statuses) and (os.WIFEXITED(self.statuses[-1]) or os.WIFSIGNALED(self.statuses[-1]))

    def until(self, what, predicate, within_s=DEADLINE_S):
        """@returns what `predicate` hands back as soon as that is something."""
        deadline = time.monotonic() + within_s
        while True:
            self.pump(0)
            found = predicate()
            if found:
                return found
            left = deadline - time.monotonic()
            if left <= 0:
                raise Late(f"no {what}; statuses {[status_text(status) for status in self.statuses]}, events {[e.get('event', 'facts') for e in self.events]}, "
                           f"screen {self.screen[-200:]!r}, stderr {self.written(2)[-300:]!r}")
            self.pump(left)

    def event(self, kind):
        """The next event of that kind that was not yet handed out."""
        def find():
            for index in range(self._taken, len(self.events)):
                if self.events[index].get("event") == kind:
                    self._taken = index + 1
                    return self.events[index]
            if self.is_over():
                raise Late(f"over without '{kind}': {status_text(self.statuses[-1])}, {self.written(2)!r}")
            return None
        return self.until(f"'{kind}'", find)

    def report(self):
        """Waits for the target's look at itself."""
        def find():
            return next((event["facts"] for event in self.events if "facts" in event), None) or self.is_over()
        return self.until("report", find)

    def ends(self):
        """Waits for the end of what was started. The last words of the target are in the FIFO by then."""
        self.until("end", self.is_over)
        self.pump(0)

    def stops(self):
        self.until("stop", lambda: self.statuses and os.WIFSTOPPED(self.statuses[-1]))

    def continues(self):
        self.until("continuation", lambda: self.statuses and os.WIFCONTINUED(self.statuses[-1]))

    def type(self, data):
        # A relayed terminal echoes twice what is typed before its client has seen that the target runs.
        deadline = time.monotonic() + DEADLINE_S
        while self.column["name"] == "-t" and termios.tcgetattr(self.slave)[3] & termios.ICANON and time.monotonic() < deadline:
            self.pump(0.005)  # modes are told to nobody
        os.write(self.master, data)

    def shows(self, data):
        self.until(f"{data!r} on the screen", lambda: data in self.screen)

    def happens(self, predicate):
        """For what one side does and the other does not: a second is enough for it."""
        try:
            return bool(self.until("that", predicate, 1))
        except Late:
            return False

    def kill(self, number):
        os.kill(self.pid, number)

    def written(self, number):
        """What is in the file behind descriptor 1 or 2, when it is one of ours."""
        try:
            return os.pread(self.fds[number], 1 << 20, 0)
        except (OSError, KeyError):
            return b""

    # --- what it comes to ---------------------------------------------------------------------------------------------------

    def conclude(self):
        report = next((event["facts"] for event in self.events if "facts" in event), None)
        if report is not None:
            self.facts.update(normal(report, self.seen))
        self.facts["end"] = [status_text(status) for status in self.statuses]
        self.facts["end.core"] = any(os.WIFSIGNALED(status) and os.WCOREDUMP(status) for status in self.statuses)
        self.facts["output"] = self.written(1).decode("latin1")
        self.facts["errors"] = self.written(2).decode("latin1")
        if self.slave is not None:
            self.facts["screen"] = self.screen.decode("latin1")
        for number in (0, 1):
            if number in self.fds:
                self.facts[f"after.fd.{number}.flags"] = oct(fcntl.fcntl(self.fds[number], fcntl.F_GETFL))

    def signals_seen(self):
        return [signal_name(event["number"]) for event in self.events if event.get("event") == "signal"]

    def living(self, pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rsplit(") ", 1)[1][0] not in "ZX"
        except OSError:
            return False

    def clean_up(self):
        """Ends whatever the case has started and is still there; all of it is a child of ours by now, or becomes one."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                children = [int(word) for word in file.read().split()]
            for pid in children:
                os.kill(pid, signal.SIGKILL)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


def cpu_seconds_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
