"""What may change in a job file between two runs on one checkpoint, and what may not.

Sources may be added; one that has been read stays.  Which queries may come and go is told by ``cedr.jobs.going_on``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.jobs.file.description import JobFile

_HINT = "put it back as it was, or start anew with another checkpoint"


def identity(job: JobFile) -> dict[str, Any]:
    """What the state depends on of a job file beside its queries, as plain data."""
    return {
        "sources": {each.name: _source(job, each.kind, each.options, each.words) for each in job.sources},
        "clock": job.run.clock,
    }


def _source(job: JobFile, kind: str, options: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Any]:
    """A source without what says only how to reach it, and without secrets."""
    shown = {name: job.secrets.hide(str(value)) for name, value in options.items() if name in _SAME}
    if "path" in shown:
        shown["path"] = str(Path(shown["path"]).name)
    return {"kind": kind, "options": shown, "words": {name: str(value) for name, value in words.items()}}


_SAME = ("path", "topics", "table", "rows", "cursor", "value", "seed", "events", "machines")
"""The settings that say which rows a source has."""


def check_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raises ``HostError`` with everything that has changed and must not."""
    found = _of_sources(before["sources"], now["sources"])
    if before["clock"] != now["clock"]:
        found.append(changed(f'run.clock was "{before["clock"]}" and is "{now["clock"]}"', ""))
    if found:
        raise HostError(found)


def _of_sources(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Diagnostic]:
    found = []
    for name, source in before.items():
        if name not in now:
            found.append(changed(f'the source "{name}" is gone', ""))
        elif now[name] != source:
            differing = ", ".join(_differing(source, now[name]))
            found.append(changed(f'the source "{name}" has changed: {differing}', ""))
    return found


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    found = [] if before["kind"] == now["kind"] else ["kind"]
    for part in ("options", "words"):
        names = {**before[part], **now[part]}
        found += [name for name in names if before[part].get(name) != now[part].get(name)]
    return found


def changed(primary: str, detail: str, hint: str = _HINT) -> Diagnostic:
    """Something has changed and must not."""
    return Diagnostic("job-changed", f"{primary} since the last run on this checkpoint", detail=detail, hint=hint)
