"""Runs a console block and compares what is shown with what comes out.

A line that begins with ``$ `` is a command; the lines up to the next one are its output, standard error included.  A
line ``...`` stands for any number of lines.  A command that fails must show its output: silence means success.
``make`` runs in the project's folder, everything else in the page's own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import ROOT, Block

PROMPT = "$ "
# Of make only what is quick and does not call the tests again.
_MAKE = re.compile(r"make( demo| help)?")
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Command:
    """A command and the output that the page shows for it."""

    text: str
    shown: list[str]


def commands(text: str) -> Iterator[Command]:
    """The commands of a block; a line that ends in a backslash goes on in the next."""
    current: Command | None = None
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(PROMPT):
            if current:
                yield current
            command = line.removeprefix(PROMPT)
            while command.endswith("\\"):
                command += "\n" + next(lines, "").removeprefix("> ")
            current = Command(command, [])
        elif current:
            current.shown.append(line.rstrip())
        elif line.strip():
            message = f"a console block begins with a command ({PROMPT!r}), not with {line!r}"
            raise AssertionError(message)
    if current:
        yield current


def run(block: Block, folder: Path) -> None:
    """Runs each command of a block; an assertion names the page and the command."""
    for command in commands(block.text):
        status, printed = _run(command.text, folder)
        place = f"{block.place}: {PROMPT}{command.text}"
        both = f"--- shown\n{_joined(command.shown)}\n--- printed\n{_joined(printed)}"
        assert matches(command.shown, printed), f"{place}\n{both}"
        assert status == 0 or any(command.shown), f"{place}\nended with {status}"


def _run(command: str, folder: Path) -> tuple[int, list[str]]:
    if command.startswith("make"):
        assert _MAKE.fullmatch(command), f'{command!r} calls the tests again: give its block notest="reason"'
        folder = ROOT
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_SECONDS,
        check=False,
    )
    return done.returncode, [line.rstrip() for line in done.stdout.decode("utf-8").splitlines()]


def _environment() -> dict[str, str]:
    """The same width, colours and interpreter on every machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "COV_", "PYTEST"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**kept, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether the output is what is shown, ``...`` standing for any lines; blank lines at the ends do not count."""
    shown, printed = _trimmed(shown), _trimmed(printed)
    parts = ["(?:.*\n)*" if line.strip() == "..." else re.escape(line) + "\n" for line in shown]
    return re.fullmatch("".join(parts), "".join(line + "\n" for line in printed)) is not None


def _trimmed(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").split("\n")


def _joined(lines: list[str]) -> str:
    return "\n".join(lines)
