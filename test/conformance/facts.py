"""From what the probe saw to facts that can be compared: whatever has another number in each run (a pid, an inode, a namespace)
is said in relation to the caller."""

import os
import re
import stat

LIMITS = ["cpu", "fsize", "data", "stack", "core", "rss", "nproc", "nofile", "memlock", "as", "locks", "sigpending", "msgqueue", "nice", "rtprio", "rttime"]
TYPES = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFCHR: "device", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFBLK: "disk", 0: "anonymous"}
ACCESS = {os.O_RDONLY: "read", os.O_WRONLY: "write", os.O_RDWR: "read and write"}
STATUS = {
    "Uid": "ids.user", "Gid": "ids.group", "Groups": "ids.groups", "CapInh": "caps.inheritable", "CapPrm": "caps.permitted", "CapEff": "caps.effective",
    "CapBnd": "caps.bounding", "CapAmb": "caps.ambient", "NoNewPrivs": "security.no-new-privs", "Seccomp": "security.seccomp",
    "Seccomp_filters": "security.seccomp-filters", "Speculation_Store_Bypass": "security.store-bypass",
    "SpeculationIndirectBranch": "security.indirect-branch", "SigPnd": "signals.pending", "ShdPnd": "signals.pending-shared", "SigBlk": "signals.blocked",
    "SigIgn": "signals.ignored", "SigCgt": "signals.caught", "Umask": "umask", "TracerPid": "process.tracer", "Threads": "process.threads",
    "Cpus_allowed": "schedule.cpus", "Mems_allowed": "schedule.memory-nodes",
}
SAME = {
    "pdeathsig": "process.pdeathsig", "subreaper": "process.subreaper", "dumpable": "security.dumpable", "securebits": "security.securebits",
    "keepcaps": "security.keepcaps", "timerslack": "schedule.timerslack", "thp-disable": "memory.thp-disable", "mce-kill": "memory.mce-kill",
    "io-flusher": "memory.io-flusher", "mdwe": "memory.mdwe", "memory-policy": "memory.policy", "tsc": "process.tsc", "personality": "process.personality",
    "nice": "schedule.nice", "ioprio": "schedule.ioprio", "scheduler": "schedule.policy", "alarm": "process.alarm",
    "secure-execution": "security.secure-execution", "oom-score-adj": "oom-score-adj", "coredump-filter": "memory.coredump-filter",
    "login-uid": "ids.login", "security-label": "security.label", "comm": "process.name", "devtty": "terminal./dev/tty", "exe": "process.program",
}


def place_of(facts):
    return f"{facts.st_dev:x}:{facts.st_ino}"


def relation(number, **known):
    """The first of `known` that has this number: its name, with blanks."""
    return next((name.replace("_", " ").replace("caller s", "caller's") for name, value in known.items() if value == number), "another")


def type_of(mode):
    return TYPES.get(stat.S_IFMT(mode), oct(mode))


class Seen:
    """What the caller knows at the moment of the call."""

    def __init__(self, pid, fds, directory, slave_name):
        self.started = pid
        self.caller = os.getpid()
        self.group = os.getpgrp()
        self.session = os.getsid(0)
        self.fds = {number: place_of(os.fstat(fd)) for number, fd in fds.items()}
        self.directory = directory
        self.slave_name = slave_name
        self.spaces = {name: os.readlink(f"/proc/self/ns/{name}") for name in os.listdir("/proc/self/ns")}
        with open("/proc/self/cgroup") as file:
            self.cgroups = cgroups_of(file.read())
        self.root = place_of(os.stat("/"))
        self.keyring = None


def cgroups_of(text):
    return {line.split(":")[1] or "v2": line.split(":", 2)[2] for line in text.splitlines()}


def normal(raw, seen):
    """@param raw what the probe reports under "facts"."""
    facts = {}
    descriptors(raw, seen, facts)
    terminals(raw, seen, facts)
    process(raw, seen, facts)
    for key, name in SAME.items():
        facts[name] = raw[key].strip() if isinstance(raw[key], str) else raw[key]
    status = dict(line.split(":", 1) for line in raw["status"].splitlines() if ":" in line)
    for key, name in STATUS.items():
        if key in status:
            facts[name] = " ".join(status[key].split())
    for name, limit in zip(LIMITS, raw["limits"]):
        facts[f"limits.{name}"] = limit
    facts["argv"] = raw["argv"]
    environment(raw["environ"], facts)
    facts["directory.name"] = raw["cwd"]
    facts["directory.place"] = relation(raw["cwd-place"], the_caller_s=seen.directory)
    facts["directory.root"] = relation(raw["root-place"], the_caller_s=seen.root)
    facts["security.session-keyring"] = relation(raw["session-keyring"], the_caller_s=seen.keyring)
    for name, path in cgroups_of(raw["cgroup"]).items():
        facts[f"cgroup.{name}"] = relation(path, the_caller_s=seen.cgroups.get(name))
    for key in raw:
        if key.startswith("ns-"):
            facts[f"namespace.{key[3:]}"] = relation(raw[key], the_caller_s=seen.spaces.get(key[3:]))
    return facts



def descriptors(raw, seen, facts):
    facts["fds"] = sorted(int(number) for number in raw["fds"])
    for number, fd in raw["fds"].items():
        name = f"fd.{number}"
        facts[f"{name}.object"] = relation(fd["object"], the_caller_s=seen.fds.get(int(number)))
        facts[f"{name}.type"] = type_of(fd["mode"])
        facts[f"{name}.access"] = "path" if fd["flags"] & os.O_PATH else ACCESS.get(fd["flags"] & os.O_ACCMODE, "?")
        facts[f"{name}.flags"] = oct(fd["flags"])
        facts[f"{name}.cloexec"] = fd["cloexec"]
        facts[f"{name}.offset"] = fd["offset"]


def terminals(raw, seen, facts):
    for fd in range(3):
        tty = raw[f"tty{fd}"]
        facts[f"tty.{fd}"] = tty is not None
        if tty is None:
            continue
        facts[f"tty.{fd}.name"] = relation(tty["name"], the_caller_s=seen.slave_name)
        facts[f"tty.{fd}.size"] = [tty["rows"], tty["columns"]]
        facts[f"tty.{fd}.modes"] = [f"{tty[key]:o}" for key in ("input", "output", "control", "local")]
        facts[f"tty.{fd}.characters"] = tty["chars"].encode("latin1").hex()
        facts[f"tty.{fd}.session"] = relation(tty["session"], none=-1, own=raw["sid"])
        facts[f"tty.{fd}.foreground"] = relation(tty["foreground"], none=-1, own=raw["pgid"])


def process(raw, seen, facts):
    # The name in field 2 may hold anything.
    stat_fields = raw["stat"][raw["stat"].rindex(")") + 2:].split()
    facts["process.pid"] = relation(raw["pid"], the_one_started=seen.started)
    facts["process.parent"] = relation(raw["ppid"], the_caller=seen.caller)
    facts["process.group"] = relation(raw["pgid"], own=raw["pid"], the_caller_s=seen.group)
    facts["process.session"] = relation(raw["sid"], own=raw["pid"], the_caller_s=seen.session)
    facts["process.exit-signal"] = int(stat_fields[35])
    facts["process.group-and-session"] = relation(raw["pgid"], same_as_the_session=raw["sid"])
    facts["terminal.controlling"] = "none" if int(stat_fields[4]) == 0 else relation(device_name(int(stat_fields[4])), the_caller_s=seen.slave_name)
    facts["terminal.foreground-group"] = relation(int(stat_fields[5]), none=-1, own=raw["pgid"])


def device_name(device):
    """tty_nr of proc(5): the minor number is in bits 31-20 and 7-0, the major one in 15-8."""
    major, minor = (device >> 8) & 0xFF, (device & 0xFF) | ((device >> 12) & 0xFFF00)
    return f"/dev/pts/{minor + (major - 136) * 256}" if 136 <= major <= 143 else f"{major}:{minor}"


def environment(entries, facts):
    names = [entry.split("=", 1)[0] for entry in entries]
    facts["env"] = sorted(set(names))
    facts["env.doubled"] = sorted({name for name in names if names.count(name) > 1})
    facts["env.nameless"] = [entry for entry in entries if not re.match(r"[^=]+=", entry)]
    for entry in entries:
        name, _, value = entry.partition("=")
        facts[f"env.{name}"] = value
