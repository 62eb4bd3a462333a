"""The FROM queries of README.md and docs/, each with random events of the types that it reads."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import cedr
from cedr.diagnostics.exceptions import CedrError
from cedr.language.parse import parse
from cedr.language.syntax import AlgebraBody, Query
from cedr.model.schema import DataType, EventType
from cedr.model.time import MINUTE, SECOND
from cedr.plan.analyses.reads import types_read
from tests.docs.pages import ROOT, blocks, pages
from tests.docs.test_code_blocks import joined

START = 1_700_000_000 * SECOND
_STRINGS = re.compile(r'"""(.*?)"""|\'\'\'(.*?)\'\'\'|"(.*?)"', re.DOTALL)


class FromQuery(NamedTuple):
    """A query by its page and name, in the text of all that it needs."""

    page: str
    name: str
    text: str

    @property
    def types(self) -> list[EventType]:
        """The event types that it reads."""
        return list(types_read(cedr.compile(self.text).queries[self.name].plan).values())


def from_queries() -> list[FromQuery]:
    """Every FROM query of the docs that has a name of its own on its page, and all types declared."""
    found: dict[tuple[str, str], FromQuery] = {}
    for path in pages():
        page = str(path.relative_to(ROOT))
        for text in _texts(path.read_text("utf-8"), page):
            for name in _named(text):
                found.setdefault((page, name), FromQuery(page, name, text))
    return list(found.values())


def _texts(page: str, name: str) -> Iterator[str]:
    """The ``cedr`` blocks of a page together, and the texts in its Python."""
    together = ""
    for block in blocks(ROOT / name, page):
        if block.language == "cedr" and "error" not in block.options:
            together = joined(together, block.text)
        elif block.language == "python":
            for groups in _STRINGS.findall(re.sub(r"^(>>>|\.\.\.) ?", "", block.text, flags=re.MULTILINE)):
                text = "".join(groups)
                if "TYPE " in text and "EVENT " in text:
                    yield text
    if together:
        yield together


def _named(text: str) -> Iterator[str]:
    """The FROM queries of a text over types with declared attributes."""
    try:
        asked, program = parse(text), cedr.compile(text)
    except CedrError:
        return
    for statement in asked.statements:
        if isinstance(statement, Query) and isinstance(statement.body, AlgebraBody) and statement.as_of is None:
            read = types_read(program.queries[statement.name].plan).values()
            kinds = {kind for of in read for kind in of.attributes.values()}
            if kinds and kinds <= _VALUES.keys():
                yield statement.name


def _instant(chance: random.Random) -> int:
    return START + chance.randrange(90) * MINUTE


_VALUES: dict[DataType, Any] = {
    DataType.INTEGER: lambda chance: chance.randrange(8),
    DataType.FLOAT: lambda chance: chance.randrange(40) / 4,
    DataType.DECIMAL: lambda chance: Decimal(chance.randrange(400)) / 100,
    DataType.STRING: lambda chance: chance.choice("abc"),
    DataType.BOOLEAN: lambda chance: chance.random() < 0.5,
}


def events(of: EventType, count: int, seed: int) -> list[dict[str, Any]]:
    """Random events of a type: ID, start, end or None, payload with NULLs now and then."""
    chance = random.Random(f"{of.name}{seed}")
    found = []
    for number in range(count):
        start = _instant(chance) + chance.randrange(60) * SECOND
        end = start + chance.randrange(1, 60) * MINUTE if chance.random() < 0.3 else None
        payload = {
            name: None if chance.random() < 0.05 else _VALUES[kind](chance) for name, kind in of.attributes.items()
        }
        found.append({"type": of.name, "id": f"{of.name}{number}", "vs": start, "ve": end, "payload": payload})
    return found


def messages(query: FromQuery, count: int = 40, seed: int = 1) -> list[dict[str, Any]]:
    """The events of all types that a query reads, as messages in no order of time."""
    return [{"insert": each} for of in query.types for each in events(of, count, seed)]
