"""What a message calls an object that a user gave in place of another one."""

from __future__ import annotations


def named(given: object) -> str:
    """What something is: an int, a pandas Series."""
    if given is None:
        return "None"
    kind = type(given)
    package = kind.__module__.partition(".")[0]
    name = kind.__name__ if package in ("builtins", "_io") else f"{package} {kind.__name__}"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
