"""The log of a job: a line for each thing that happens, as text or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from cedr.jobs.figures import Figures
from cedr.model.time import BEGINNING, FOREVER, Time, format_timestamp

LEVELS: Final = ("debug", "info", "warning", "error")


class Journal:
    """Writes lines on standard error, without any secret in them."""

    def __init__(self, form: str, least: str, hide: Callable[[str], str], stream: TextIO | None = None) -> None:
        """``least``: of which level a line is at least."""
        self._json, self._least, self._hide = form == "json", LEVELS.index(least), hide
        self._stream = stream or sys.stderr

    def write(self, level: str, event: str, **more: Any) -> None:
        """Something has happened."""
        if LEVELS.index(level) < self._least:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self._json:
            line = json.dumps({"time": now, "level": level, "event": event, **more}, ensure_ascii=False, default=str)
        else:
            told = " ".join(f"{name}={value}" for name, value in more.items() if value is not None)
            line = f"{now} {level:<7} {event}{' ' if told else ''}{told}"
        print(self._hide(line), file=self._stream, flush=True)

    def batch(self, figures: Figures) -> None:
        """A batch is committed."""
        for each in figures.queries:
            self.write(
                "info",
                "batch",
                batch=figures.batch,
                query=each.query,
                rows_per_second=round(figures.rate),
                seconds=round(figures.seconds, 3),
                held=each.measures.held,
                state=each.measures.total_rows,
                inserts=each.measures.inserts,
                retractions=each.measures.retractions,
                late=each.measures.late,
                rejected=figures.rejected,
                guarantee=shown_time(each.guarantee),
                held_back_by=each.held_back_by,
            )


def shown_time(time: Time, *, timestamps: bool = True) -> str:
    """A guarantee as people read it."""
    if time <= BEGINNING:
        return "none"
    if time >= FOREVER - 1:
        return "everything"
    return format_timestamp(time) if timestamps else str(time)
