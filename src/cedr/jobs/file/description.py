"""What a job file describes, as plain data.

Readings: R33 (levels), R43 (several queries in one catalog).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cedr.jobs.file.places import Places
from cedr.jobs.file.secrets import Secrets
from cedr.language.syntax import File


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """A source: its kind with the settings of that kind, and the words that describe its columns."""

    name: str
    kind: str
    options: Mapping[str, Any]
    words: Mapping[str, Any]
    idle: int | None = None
    """After so many microseconds of silence the source holds nothing back."""


@dataclass(frozen=True, slots=True)
class OutputSettings:
    """An output: which queries go there, at which level, and the settings of its kind of sink."""

    name: str
    kind: str
    queries: tuple[str, ...]
    level: str | None
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a job runs."""

    batch: int = 10_000
    """So many rows of each source are taken at a time, at most."""
    every: float = 0.5
    """Seconds between two looks at sources that had nothing."""
    clock: str = "system"
    """CEDR time: microseconds of the ``system``, or the number of the ``batch``."""
    mode: str = "continuous"
    """``continuous``; ``once``: to the end of the sources; ``available``: what is there now, and more another time."""
    bad_rows: float = 0.1
    """Up to this share of the rows of a file may be unusable."""
    stop_after: int | None = None
    """End after so many batches."""


@dataclass(frozen=True, slots=True)
class JobFile:
    """A job as its file, the command line and the environment say it."""

    name: str
    folder: Path
    host: str
    checkpoint: Path
    level: str | None
    levels: Mapping[str, str]
    queries: File
    """All texts together."""
    running: tuple[str, ...]
    """The queries that run; none: all that no other one reads."""
    retained: bool
    """Whether a query that comes later begins with what is still known.  Reading: R44."""
    sources: tuple[SourceSettings, ...]
    outputs: tuple[OutputSettings, ...]
    functions: tuple[Path, ...]
    run: RunSettings
    log: Mapping[str, Any]
    metrics: Mapping[str, Any]
    spark: Mapping[str, Any]
    secrets: Secrets
    places: Places = field(repr=False)
