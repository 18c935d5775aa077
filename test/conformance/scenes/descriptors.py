"""Descriptors: the very same open files, with their offsets and flags, and nothing else."""

import fcntl
import os
import select
import socket

from scenes import scene

INPUT = ["fds", "fd.0.*", "after.fd.0.*", "read", "tty.0", "end"]


@scene("stdin-file", INPUT)
def stdin_file(case):
    case.fds[0] = case.file("input", b"0123456789\nrest\n", os.O_RDWR | os.O_APPEND, offset=4)
    read(case)
    case.facts["after.fd.0.offset"] = os.lseek(case.fds[0], 0, os.SEEK_CUR)


@scene("stdin-pipe", INPUT)
def stdin_pipe(case):
    case.fds[0], writer = os.pipe()
    os.write(writer, b"first\nsecond\n")
    read(case, 3)
    os.set_blocking(case.fds[0], False)
    case.facts["read.left"] = os.read(case.fds[0], 100).decode()


@scene("stdin-socket", INPUT)
def stdin_socket(case):
    ours, theirs = socket.socketpair()
    case.fds[0] = theirs.detach()
    ours.send(b"line\n")
    read(case)


@scene("stdin-null", INPUT)
def stdin_null(case):
    read(case)


@scene("stdin-directory", INPUT)
def stdin_directory(case):
    case.fds[0] = os.open("/usr", os.O_RDONLY | os.O_DIRECTORY)
    read(case)


@scene("stdin-path", INPUT)
def stdin_path(case):
    case.fds[0] = os.open("/usr", os.O_PATH)
    read(case)


@scene("stdin-memory", INPUT)
def stdin_memory(case):
    case.fds[0] = os.memfd_create("odd")
    os.write(case.fds[0], b"in memory\n")
    os.lseek(case.fds[0], 3, os.SEEK_SET)
    read(case)


@scene("stdin-fifo", INPUT)
def stdin_fifo(case):
    os.mkfifo("fifo")
    case.fds[0] = os.open("fifo", os.O_RDWR)
    os.write(case.fds[0], b"through\n")
    read(case)


@scene("stdin-event", INPUT)
def stdin_event(case):
    # An epoll instance stands for all that is neither file nor pipe.
    case.epoll = select.epoll()
    case.fds[0] = case.epoll.fileno()
    read(case)


@scene("stdin-nonblocking", INPUT)
def stdin_nonblocking(case):
    case.fds[0], case.writer = os.pipe()
    os.set_blocking(case.fds[0], False)
    read(case)


@scene("stdin-made-nonblocking", INPUT)
def stdin_made_nonblocking(case):
    case.fds[0], case.writer = os.pipe()
    case.start("nonblock", "-", "read", 100)
    case.facts["read"] = case.event("read")
    case.ends()


@scene("stdin-seeks", ["after.fd.0.*"])
def stdin_seeks(case):
    case.fds[0] = case.file("input", b"0123456789", os.O_RDONLY)
    case.start("seek", 7)
    case.ends()
    case.facts["after.fd.0.offset"] = os.lseek(case.fds[0], 0, os.SEEK_CUR)


@scene("stdin-closed", ["fds", "fd.0.*", "end"])
def stdin_closed(case):
    del case.fds[0]
    case.start()
    case.ends()


@scene("stdout-closed", ["fds", "fd.1.*", "end"])
def stdout_closed(case):
    del case.fds[1]
    case.start()
    case.ends()


@scene("stderr-closed", ["fds", "fd.2.*", "end"])
def stderr_closed(case):
    del case.fds[2]
    case.start()
    case.ends()


@scene("all-closed", ["fds", "fd.*", "end"])
def all_closed(case):
    case.fds.clear()
    case.start()
    case.ends()


@scene("one-file-thrice", ["fds", "fd.*", "output"])
def one_file_thrice(case):
    case.fds[0] = case.fds[2] = case.fds[1]
    case.start("write", "a\n", "write", "b\n")
    case.ends()


@scene("swapped", ["fds", "fd.*", "output", "errors"])
def swapped(case):
    case.fds[1], case.fds[2] = case.fds[2], case.fds[1]
    case.start("write", "to what was stderr\n")
    case.ends()


@scene("stdout-append", ["fd.1.*", "after.fd.1.*", "output"])
def stdout_append(case):
    case.fds[1] = case.file("stdout", b"before\n", os.O_RDWR | os.O_APPEND)
    case.start("write", "after\n")
    case.ends()
    case.facts["after.fd.1.offset"] = os.lseek(case.fds[1], 0, os.SEEK_CUR)


@scene("stdout-locked", ["fd.1.*", "output"])
def stdout_locked(case):
    fcntl.flock(case.fds[1], fcntl.LOCK_EX)
    case.start_program(["flock", "-n", "1", "echo", "the lock is shared"])
    case.ends()


@scene("stdout-pipe-full", ["end", "output"])
def stdout_pipe_full(case):
    reader, case.fds[1] = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    case.start_program(["head", "-c", "300000", "/dev/zero"])
    os.close(case.fds.pop(1))
    total = 0
    while part := os.read(reader, 1 << 16):
        total += len(part)
    case.ends()
    case.facts["output.bytes"] = total


@scene("stdout-reader-gone", ["end", "output"])
def stdout_reader_gone(case):
    reader, case.fds[1] = os.pipe()
    os.close(reader)
    case.start_program(["sh", "-c", "while :; do echo x; done"])
    case.ends()


@scene("more-descriptors", ["fds", "fd.*"])
def more_descriptors(case):
    case.fds[5] = case.file("five", b"0123456789", os.O_RDONLY, offset=5)
    case.fds[77] = os.pipe()[0]
    case.start()
    case.ends()


@scene("more-descriptors-named", ["fds", "fd.*"])
def more_descriptors_named(case):
    case.fds[3] = case.file("three", b"0123456789", os.O_RDWR | os.O_APPEND, offset=5)
    case.fds[4] = os.open("/usr", os.O_PATH)
    case.fds[77] = os.pipe()[0]
    case.flags = ["--fd", "77", "--fd", "3", "--fd", "4"]
    case.start()
    case.ends()


def read(case, most=100):
    case.start("read", most)
    case.facts["read"] = case.event("read")
    case.ends()
