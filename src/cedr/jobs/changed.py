"""What may change in a job file between two runs on one checkpoint, and what may not.

Readings: R38 (another level), R44 (queries come and go).  What a query means decides what its state means: a
query under the same name with another text is refused, by name.  Sources may be added; one that has been read stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.jobs.compiling import running_names
from cedr.jobs.file.description import JobFile
from cedr.language.render import render
from cedr.language.syntax import Query

_HINT = "put it back as it was, or start anew with another checkpoint"


def identity(job: JobFile, levels: Mapping[str, list[str]]) -> dict[str, Any]:
    """What of a job file the state depends on, as plain data."""
    texts = {each.name: render(each) for each in job.queries.statements if isinstance(each, Query)}
    return {
        "queries": {name: texts[name] for name in running_names(job)},
        "others": {name: text for name, text in texts.items() if name not in running_names(job)},
        "levels": dict(levels),
        "sources": {each.name: _source(job, each.kind, each.options, each.words) for each in job.sources},
        "mode": job.run.mode,
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
    found = [*_of_queries(before, now), *_of_sources(before["sources"], now["sources"])]
    if before["clock"] != now["clock"]:
        found.append(_changed(f'run.clock was "{before["clock"]}" and is "{now["clock"]}"', ""))
    if found:
        raise HostError(found)


def _of_queries(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Diagnostic]:
    found = []
    for name, text in before["queries"].items():
        if name not in now["queries"]:
            found.append(_changed(f'the query "{name}" is gone', "its state would stay behind"))
        elif now["queries"][name] != text:
            found.append(
                _changed(f'the query "{name}" has another text', "give the new one another name and keep both")
            )
        elif len(before["levels"].get(name, ())) != len(now["levels"].get(name, ())):
            found.append(_changed(f'the query "{name}" is emitted at another number of levels', ""))
    for name in now["queries"]:
        if name not in before["queries"]:
            found.append(_changed(f'the query "{name}" is new', "a job of its own has its whole history"))
    for name, text in before["others"].items():
        if now["others"].get(name) != text:
            found.append(_changed(f'"{name}", which other queries read, has another text', ""))
    return found


def _of_sources(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Diagnostic]:
    found = []
    for name, source in before.items():
        if name not in now:
            found.append(_changed(f'the source "{name}" is gone', ""))
        elif now[name] != source:
            differing = ", ".join(_differing(source, now[name]))
            found.append(_changed(f'the source "{name}" has changed: {differing}', ""))
    return found


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    found = [] if before["kind"] == now["kind"] else ["kind"]
    for part in ("options", "words"):
        names = {**before[part], **now[part]}
        found += [name for name in names if before[part].get(name) != now[part].get(name)]
    return found


def _changed(primary: str, detail: str) -> Diagnostic:
    return Diagnostic("job-changed", f"{primary} since the last run on this checkpoint", detail=detail, hint=_HINT)
