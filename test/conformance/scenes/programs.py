"""Which file is executed, how it is found, and what is said when it cannot be."""

import os

from scenes import scene

FOCUS = ["end", "output"]


def run(case, *words):
    case.start_program(words)
    case.ends()
    # Whoever fails to start a program words it in his own way; the status is what a caller goes by.
    if os.WIFEXITED(case.statuses[-1]) and os.WEXITSTATUS(case.statuses[-1]) in (126, 127):
        os.ftruncate(case.fds[2], 0)


def make(name, content, mode=0o755):
    with open(name, "wb") as file:
        file.write(content)
    os.chmod(name, mode)


@scene("program-on-path", FOCUS)
def program_on_path(case):
    os.mkdir("bin")
    make("bin/only-there", b"#!/bin/sh\necho found \"$0\" \"$@\"\n")
    case.environment["PATH"] = f"{case.directory}/bin:{case.environment['PATH']}"
    case.flags = ["--path-prepend", f"{case.directory}/bin"]
    run(case, "only-there", "x")


@scene("program-below", FOCUS)
def program_below(case):
    os.mkdir("d")
    make("d/tool", b"#!/bin/sh\necho \"$0\" \"$@\"\n")
    run(case, "d/tool", "x")


@scene("script-without-line", FOCUS)
def script_without_line(case):
    make("script", b"echo run by a shell \"$0\" \"$@\"\nexit 7\n")
    run(case, "./script", "a b")


@scene("script-empty", FOCUS)
def script_empty(case):
    make("script", b"")
    run(case, "./script")


@scene("program-of-nothing", FOCUS)
def program_of_nothing(case):
    make("garbage", b"\x00\x01\x02\x7f")
    run(case, "./garbage")


@scene("interpreter-missing", FOCUS)
def interpreter_missing(case):
    make("script", b"#!/no/such/interpreter\n")
    run(case, "./script")


@scene("program-missing", FOCUS)
def program_missing(case):
    run(case, "no-such-program-9")


@scene("path-missing", FOCUS)
def path_missing(case):
    run(case, "./no/such/program")


@scene("program-is-file", FOCUS)
def program_is_file(case):
    make("plain", b"x", 0o644)
    run(case, "./plain")


@scene("program-is-directory", FOCUS)
def program_is_directory(case):
    run(case, "/usr")


@scene("path-through-file", FOCUS)
def path_through_file(case):
    make("plain", b"x", 0o644)
    run(case, "./plain/below")


@scene("links-in-a-circle", FOCUS)
def links_in_a_circle(case):
    os.symlink("loop", "loop")
    run(case, "./loop")


@scene("name-too-long", FOCUS)
def name_too_long(case):
    run(case, "n" * 300)


@scene("builtin-only", FOCUS)
def builtin_only(case):
    run(case, "cd", "/")


@scene("empty-name", FOCUS)
def empty_name(case):
    run(case, "")
