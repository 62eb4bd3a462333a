"""The settings of a job as one tree: its file, then variables of the environment, then the command line.

``--set sources.tx.path=other.csv`` and ``CEDR__SOURCES__TX__PATH=other.csv`` say what a line of the file could say.
A value is read as TOML if it can be, and as text otherwise.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from cedr.connect.files import read_text
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.jobs.file.places import Places
from cedr.jobs.file.secrets import Secrets, written_secret

PREFIX: Final = "CEDR__"
"""The variables of the environment that are settings begin so."""
_WHERE: Final = re.compile(r"\(at line (\d+), column (\d+)\)")
Tree = dict[str, Any]


class Settings:
    """The tree, where its keys stand, and what must not be shown."""

    def __init__(self, path: Path, overrides: Iterable[str], environment: Mapping[str, str]) -> None:
        text = read_text(str(path), "the job file")
        self.path = path
        self.places = Places(str(path), text)
        self.secrets = Secrets(environment)
        self.problems: list[Diagnostic] = []
        self.tree: Tree = self._parsed(text)
        self._refuse_secrets(self.tree, ())
        for name, value in sorted(environment.items()):
            if name.upper().startswith(PREFIX):
                self._put([part.lower() for part in name[len(PREFIX) :].split("__")], value, folded=True)
        for given in overrides:
            name, mark, value = given.partition("=")
            if not mark or not name.strip():
                hint = "write it as --set run.batch=5000"
                raise StreamError(Diagnostic("bad-setting", f'"{given}" sets nothing', hint=hint))
            self._put([part.strip() for part in name.split(".")], value.strip(), folded=False)
        self.tree = self._filled(self.tree, ())

    def problem(self, code: str, path: Iterable[str], primary: str, *, detail: str = "", hint: str = "") -> None:
        """Something is wrong with a setting; all that is wrong is told together."""
        place = self.places.of(tuple(path))
        self.problems.append(Diagnostic(code, primary, place, detail=detail, hint=hint))

    def check(self) -> None:
        """Raises ``StreamError`` with all that is wrong so far."""
        if self.problems:
            raise self.secrets.hidden(StreamError(self.problems))

    def _parsed(self, text: str) -> Tree:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            found = _WHERE.search(str(error))
            span = self.places.at(int(found[1]), int(found[2])) if found else None
            reason = _WHERE.sub("", str(error)).strip()
            primary = f"the job file is not TOML: {reason[:1].lower()}{reason[1:]}"
            hint = "texts stand in quotes, tables begin with [name]"
            raise StreamError(Diagnostic("bad-toml", primary, span, hint=hint)) from None

    def _put(self, path: list[str], value: str, *, folded: bool) -> None:
        """Set one value; names from the environment fit whatever their case is."""
        table: Any = self.tree
        for part in path[:-1]:
            table = table.setdefault(_known(part, table) if folded else part, {})
            if not isinstance(table, dict):
                primary = f'"{".".join(path)}" lies within a setting that is no table'
                raise StreamError(Diagnostic("bad-setting", primary))
        table[_known(path[-1], table) if folded else path[-1]] = _value(value)

    def _refuse_secrets(self, value: Any, path: tuple[str, ...]) -> None:
        """A secret in plain text would be shown by whoever shows the file."""
        if isinstance(value, dict):
            for name, item in value.items():
                self._refuse_secrets(item, (*path, name))
        elif path and path[0] in ("sources", "outputs") and written_secret(".".join(path), value):
            self.secrets.add(value)
            name = re.sub(r"\W", "_", path[-1]).upper()
            hint = f'write {path[-1]} = "${{{name}}}" and set the variable {name}'
            span = self.places.of(path)
            primary = f'"{".".join(path)}" holds a secret in plain text (line {span.line if span else 0})'
            self.problems.append(Diagnostic("secret-in-file", primary, hint=hint))

    def _filled(self, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, dict):
            return {name: self._filled(item, (*path, name)) for name, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item, path) for item in value]
        if not isinstance(value, str) or path[:1] == ("queries",):
            return value
        text, missing = self.secrets.filled(value)
        if missing is not None:
            primary = f'the variable "{missing}" is not set, and "{".".join(path)}" needs it'
            self.problem("missing-variable", path, primary, hint=f"export {missing}=…")
        return text


def _known(name: str, table: Mapping[str, Any]) -> str:
    """A name as the file has it, whatever its case."""
    return next((each for each in table if each.lower() == name), name)


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
