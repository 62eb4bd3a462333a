"""Reads a job file into its description; everything that is wrong with it is told together, each at its line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from glob import glob
from pathlib import Path
from typing import Any, Final

from cedr.connect.files import read_text
from cedr.data.words import Words
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import CedrError, StreamError
from cedr.hosts.queries import parse_duration, parse_level
from cedr.jobs.file.description import JobFile, OutputSettings, RunSettings, SourceSettings
from cedr.jobs.file.settings import Settings
from cedr.language.parse import parse, parse_all
from cedr.language.syntax import File, Query, Statement, TypeDeclaration
from cedr.sinks.kinds import KINDS as OUTPUT_KINDS
from cedr.sources.kinds import KINDS, kind_of

HOSTS: Final = ("local", "spark")
_TOP: Final = (
    "name", "host", "checkpoint", "consistency", "functions", "types", "sources", "queries", "levels", "outputs", "run",
    "log", "metrics", "spark",
)  # fmt: skip
_QUERIES: Final = ("text", "files", "catalog", "run", "retained")
_LOG: Final = {"format": ("text", "json"), "level": ("debug", "info", "warning", "error")}
_METRICS: Final = ("port", "host")
_WORDS: Final = tuple(each.name for each in fields(Words) if each.name not in ("disorder_has_unit", "idle", "arrival"))


def read_job(
    path: str | os.PathLike[str], overrides: Iterable[str] = (), environment: Mapping[str, str] | None = None
) -> JobFile:
    """The job that a file describes.  Raises ``StreamError`` or ``LanguageError``, without any secret in it."""
    settings = Settings(Path(path), overrides, os.environ if environment is None else environment)
    try:
        return _Reading(settings).job()
    except CedrError as error:
        raise settings.secrets.hidden(error) from None


class _Reading:
    """Goes through the settings section by section."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._tree = settings, settings.tree
        self._folder = settings.path.parent

    def job(self) -> JobFile:
        self._known((), self._tree, _TOP)
        name = self._text(("name",), self._settings.path.stem)
        sources = self._sources()
        queries = self._queries()
        outputs = self._outputs([each.name for each in queries.statements if isinstance(each, Query)])
        run = self._run()
        log = self._log()
        self._settings.check()
        return JobFile(
            name=name,
            folder=self._folder,
            host=self._one_of(("host",), HOSTS, "local"),
            checkpoint=self._folder / self._text(("checkpoint",), f"{name}.checkpoint"),
            level=self._level(("consistency",)),
            levels={each: level for each in self._table(("levels",)) if (level := self._level(("levels", each)))},
            queries=queries,
            running=tuple(self._texts(("queries", "run"))),
            retained=self._get(("queries", "retained")) is True,
            sources=sources,
            outputs=outputs,
            functions=tuple(self._folder / each for each in self._texts(("functions",))),
            run=run,
            log=log,
            metrics=self._metrics(),
            spark=self._table(("spark",)),
            secrets=self._settings.secrets,
            places=self._settings.places,
        )

    # -- sections -----------------------------------------------------------------------------------------------------

    def _sources(self) -> tuple[SourceSettings, ...]:
        found = []
        for name, given in self._table(("sources",)).items():
            path = ("sources", name)
            if not isinstance(given, dict):
                self._wrong(path, given, "a table: [sources.name]")
                continue
            kind = kind_of(given)
            if kind is None or kind not in KINDS:
                hint = f"kinds: {', '.join(KINDS)}; files has path, kafka has topics"
                told = "says neither its kind nor a path" if kind is None else f'has the kind "{kind}", which is none'
                self._settings.problem("unknown-source", (*path, "kind"), f"source {name} {told}", hint=hint)
                continue
            own = KINDS[kind].options
            self._known(path, given, ("kind", "idle", *own, *_WORDS))
            options = {each: value for each, value in given.items() if each in own}
            for each in KINDS[kind].required:
                if each not in options:
                    primary = f'source {name}: "{each}" is missing'
                    self._settings.problem("missing-setting", path, primary, hint=KINDS[kind].example)
            words = {each: value for each, value in given.items() if each in _WORDS and each not in own}
            for each in ("path", "table"):
                if isinstance(options.get(each), str) and "://" not in options[each]:
                    options[each] = _joined(self._folder, options[each])
            idle = self._duration((*path, "idle"), given.get("idle"))
            found.append(SourceSettings(name, kind, options, words, idle))
        if not found and not self._settings.problems:
            found = self._declared_sources()
        return tuple(found)

    def _declared_sources(self) -> list[SourceSettings]:
        """Files that the TYPE statements name."""
        found = []
        for each in self._statements():
            if isinstance(each, TypeDeclaration) and each.origin is not None and each.origin.path is not None:
                words = {option.name: option.value for option in each.origin.options}
                options = {"path": _joined(self._folder, each.origin.path)}
                found.append(SourceSettings(each.name, "files", options, {"type": f"'{each.name}'", **words}))
        if not found:
            hint = '[sources.tx]\n      path = "tx.csv"\n      type = "TX"'
            self._settings.problem("missing-setting", ("sources",), "the job has no source", hint=hint)
        return found

    def _queries(self) -> File:
        self._known(("queries",), self._table(("queries",)), _QUERIES)
        statements = self._statements()
        names = [each.name for each in statements if isinstance(each, Query)]
        if not names and not self._settings.problems:
            hint = '[queries]\n      files = ["queries.cedr"]'
            self._settings.problem("missing-setting", ("queries",), "the job has no query", hint=hint)
        for each in {each for each in names if names.count(each) > 1}:
            self._settings.problem("query-twice", ("queries",), f'there are two queries "{each}"')
        retained = self._get(("queries", "retained"))
        if retained not in (None, True, False):
            self._wrong(("queries", "retained"), retained, "true or false")
        for each in self._texts(("queries", "run")):
            if each not in names:
                self._unknown_query(("queries", "run"), each, names)
        for each in self._table(("levels",)):
            if each not in names:
                self._unknown_query(("levels", each), each, names)
        return File(tuple(statements))

    def _statements(self) -> list[Statement]:
        """All texts one after the other: catalogs, files and folders, then what stands in the job itself."""
        found: list[Statement] = []
        for named in [*self._texts(("queries", "catalog")), *self._texts(("queries", "files"))]:
            for path in _query_files(self._folder, named):
                found += parse(read_text(path), path).statements
        for name, given in self._table(("types",)).items():
            found += self._type(name, given)
        text = self._table(("queries",)).get("text")
        if isinstance(text, str):
            parsed = parse_all(text, f"{self._settings.path} (queries.text)")
            if parsed.errors:
                parse(text, f"{self._settings.path} (queries.text)")
            found += parsed.file.statements
        elif text is not None:
            self._wrong(("queries", "text"), text, "a text")
        return found

    def _type(self, name: str, given: Any) -> tuple[Statement, ...]:
        """A [types.NAME] as the TYPE statement that it stands for."""
        path = ("types", name)
        if not isinstance(given, dict) or not isinstance(given.get("attributes"), dict):
            hint = 'attributes = { card = "STRING", amount = "FLOAT" }'
            self._settings.problem("missing-setting", path, f'type {name}: "attributes" is missing', hint=hint)
            return ()
        self._known(path, given, ("attributes", "revisable"))
        listed = ", ".join(f'"{each}" {of}' for each, of in given["attributes"].items())
        revisable = given.get("revisable")
        ending = "" if revisable is None else " REVISABLE" if revisable is True else f" REVISABLE FOR {revisable}"
        return parse(f'TYPE "{name}" ({listed}){ending}', f"{self._settings.path} (types.{name})").statements

    def _outputs(self, names: list[str]) -> tuple[OutputSettings, ...]:
        found = []
        for name, given in self._table(("outputs",)).items():
            path = ("outputs", name)
            if not isinstance(given, dict):
                self._wrong(path, given, "a table: [outputs.name]")
                continue
            kind = str(given.get("kind", "console"))
            if kind not in OUTPUT_KINDS:
                hint = f"kinds: {', '.join(OUTPUT_KINDS)}"
                self._settings.problem("unknown-output", (*path, "kind"), f'output {name}: no kind "{kind}"', hint=hint)
                continue
            own = OUTPUT_KINDS[kind]
            self._known(path, given, ("kind", "query", "queries", "consistency", *own.required, *own.options))
            for each in own.required:
                if each not in given:
                    primary = f'output {name}: "{each}" is missing'
                    self._settings.problem("missing-setting", path, primary, hint=own.example)
            asked = [given["query"]] if "query" in given else given.get("queries", [])
            for query in asked:
                if query not in names:
                    self._unknown_query((*path, "query"), str(query), names)
            options = {each: value for each, value in given.items() if each in (*own.required, *own.options)}
            for each in own.paths:
                if isinstance(options.get(each), str):
                    options[each] = _joined(self._folder, options[each])
            level = self._level((*path, "consistency"))
            found.append(OutputSettings(name, kind, tuple(asked), level, options))
        return tuple(found) if found else (OutputSettings("console", "console", (), None, {}),)

    def _run(self) -> RunSettings:
        given = self._table(("run",))
        self._known(("run",), given, [each.name for each in fields(RunSettings)])
        plain = RunSettings()
        every = given.get("every", plain.every)
        batch, stop, bad = given.get("batch", plain.batch), given.get("stop_after"), given.get("bad_rows", 0.1)
        for name, value in (("batch", batch), ("stop_after", stop)):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                self._wrong(("run", name), value, "a whole number from 1")
        if not isinstance(bad, int | float) or not 0 <= bad <= 1:
            self._wrong(("run", "bad_rows"), bad, "a share from 0 to 1")
        waits = (self._duration(("run", "every"), every) or 0) / 1e6 if isinstance(every, str) else every
        clock = self._one_of(("run", "clock"), ("system", "batch"), plain.clock)
        mode = self._one_of(("run", "mode"), ("continuous", "once", "available"), plain.mode)
        return RunSettings(batch, float(waits), clock, mode, bad, stop)

    def _log(self) -> Mapping[str, Any]:
        given = self._table(("log",))
        self._known(("log",), given, _LOG)
        return {each: self._one_of(("log", each), of, of[0]) for each, of in _LOG.items() if each in given}

    def _metrics(self) -> Mapping[str, Any]:
        given = self._table(("metrics",))
        self._known(("metrics",), given, _METRICS)
        return given

    # -- values -------------------------------------------------------------------------------------------------------

    def _get(self, path: tuple[str, ...]) -> Any:
        value: Any = self._tree
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def _table(self, path: tuple[str, ...]) -> dict[str, Any]:
        value = self._get(path)
        if value is not None and not isinstance(value, dict):
            self._wrong(path, value, f"a table: [{'.'.join(path)}]")
        return value if isinstance(value, dict) else {}

    def _text(self, path: tuple[str, ...], default: str) -> str:
        value = self._get(path)
        if value is not None and (not isinstance(value, str) or not value):
            self._wrong(path, value, "a text")
        return value if isinstance(value, str) and value else default

    def _texts(self, path: tuple[str, ...]) -> list[str]:
        value = self._get(path)
        listed = [value] if isinstance(value, str) else [] if value is None else value
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            self._wrong(path, value, "a text or a list of texts")
            return []
        return listed

    def _one_of(self, path: tuple[str, ...], allowed: Iterable[str], default: str) -> str:
        value = self._get(path)
        if value is not None and value not in allowed:
            self._wrong(path, value, f"one of {', '.join(allowed)}")
        return default if value is None else str(value)

    def _level(self, path: tuple[str, ...]) -> str | None:
        value = self._get(path)
        if value is None:
            return None
        try:
            parse_level(str(value))
        except CedrError:
            levels = "STRONG, MIDDLE, WEAK or BLOCKING duration MEMORY duration"
            self._wrong(path, value, levels)
        return str(value)

    def _duration(self, path: tuple[str, ...], value: Any) -> int | None:
        if value is None:
            return None
        try:
            return parse_duration(str(value), ".".join(path))
        except CedrError:
            self._wrong(path, value, 'a duration, such as "10 seconds"')
            return None

    def _known(self, path: tuple[str, ...], given: Mapping[str, Any], allowed: Iterable[str]) -> None:
        listed = list(allowed)
        for name in given:
            if name not in listed:
                near = get_close_matches(name, listed, 1)
                hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(listed)}"
                where = f" in [{'.'.join(path)}]" if path else ""
                primary = f'there is no setting "{name}"{where}'
                self._settings.problem("unknown-setting", (*path, name), primary, hint=hint)

    def _unknown_query(self, path: tuple[str, ...], name: str, names: list[str]) -> None:
        detail = f"queries: {', '.join(names) or 'none'}"
        self._settings.problem("unknown-query", path, f'there is no query "{name}"', detail=detail)

    def _wrong(self, path: tuple[str, ...], value: Any, wanted: str) -> None:
        primary = f'"{".".join(path)}" must be {wanted}, not {value!r}'
        self._settings.problem("bad-setting", path, primary)


def _joined(folder: Path, path: str) -> str:
    """A path that begins at the folder of the job file; a slash at its end says that it is a folder."""
    return str(folder / path) + ("/" if path.endswith("/") else "")


def _query_files(folder: Path, named: str) -> list[str]:
    """The query files that a name stands for: a file, a folder or a pattern."""
    path = folder / named
    if path.is_dir():
        found = sorted(str(each) for each in path.rglob("*.cedr"))
    elif any(mark in named for mark in "*?["):
        found = sorted(glob(str(path), recursive=True))
    else:
        return [str(path)]
    if not found:
        raise StreamError(Diagnostic("no-files", f'no query file is at "{named}"', hint="query files end in .cedr"))
    return found
