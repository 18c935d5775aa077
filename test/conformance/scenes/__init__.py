"""The scenes, by name, in the order in which they are run and printed."""

import importlib

SCENES = {}


def scene(name, focus, tags=()):
    """@param focus the facts that the scene is about, as patterns; all others are compared as well and printed as one row.
    @param tags "terminal": also run with `-t`. "session": says nothing of a command prefix that is not ours."""
    def register(function):
        assert name not in SCENES, name
        SCENES[name] = {"run": function, "focus": focus, "tags": list(tags)}
        return function
    return register


for part in ("attributes", "descriptors", "programs", "endings", "signals", "terminals", "shell"):
    importlib.import_module(f"scenes.{part}")
