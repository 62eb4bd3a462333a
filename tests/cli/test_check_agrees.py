"""``cedr check`` and ``cedr eval`` agree: with the same types, what one takes the other compiles, and refuses alike."""

from __future__ import annotations

from pathlib import Path

import pytest

import cedr
from cedr.cli.checking import compiled
from cedr.diagnostics.codes import all_codes
from cedr.diagnostics.exceptions import CedrError
from cedr.hosts.event_types import declared_types, read_types
from cedr.language.parse import parse
from cedr.language.syntax import Query
from cedr.model.schema import EventTypes
from tests.language.queries import ALL, QUERIES, TYPES
from tests.language.test_foreign import TEXTS
from tests.language.test_foreign import TYPES as FOREIGN

GOLDEN = {
    "all": ALL,
    **{f"declared {name}": TYPES.rstrip() + text for name, text in QUERIES.items()},
    **{f"undeclared {name}": text for name, text in QUERIES.items()},
    **{f"error {code.code}": code.example for code in all_codes() if not code.shown},
    **{f"foreign {name}": FOREIGN + text for name, text in TEXTS.items()},
    "partly declared": "TYPE A (x INTEGER); EVENT Q WHEN SEQUENCE(A AS a, B AS b, 5)",
    "types only": "TYPE A (x INTEGER)",
    "two errors": "TYPE A (x INTEGER); EVENT P WHEN SEQUENCE(A, B); EVENT Q WHEN ANY(A AS a) WHERE a.y = 1",
    "inferred": "TYPE A FROM 'a.csv'; EVENT Q WHEN ANY(A AS a) WHERE a.y = 1",
}


def checked(path: Path, known: EventTypes) -> list[str]:
    """The queries, or the codes of what is wrong."""
    try:
        program, _ = compiled(str(path), known)
    except CedrError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return list(program.queries)


def evaluated(path: Path, known: EventTypes) -> list[str]:
    """The same of evaluating every query on no messages at all; a file without queries has nothing to evaluate."""
    try:
        cedr.evaluate(path, [], catalog=known, host="oracle")
    except CedrError as error:
        codes = [diagnostic.code for diagnostic in error.diagnostics]
        return [] if codes == ["no-query"] else codes
    queries = [
        statement.name for statement in parse(path.read_text("utf-8")).statements if isinstance(statement, Query)
    ]
    return [cedr.evaluate(path, [], event=name, catalog=known, host="oracle").name for name in queries]


@pytest.mark.parametrize("name", GOLDEN)
def test_check_and_eval_agree(name: str, tmp_path: Path) -> None:
    path = tmp_path / "query.cedr"
    path.write_text(GOLDEN[name], "utf-8")
    assert evaluated(path, EventTypes()) == checked(path, EventTypes())


@pytest.mark.parametrize("name", QUERIES)
def test_they_agree_where_the_types_come_from_a_catalog(name: str, tmp_path: Path) -> None:
    path, types = tmp_path / "query.cedr", tmp_path / "types.cedr"
    path.write_text(QUERIES[name], "utf-8")
    types.write_text(TYPES, "utf-8")
    known = read_types([types])
    assert evaluated(path, known) == checked(path, known)
    path.write_text(QUERIES[name].replace("Machine_Id", "Machin_Id").replace("room", "rom"), "utf-8")
    assert evaluated(path, known) == checked(path, known)


def test_they_agree_on_types_that_are_inferred_from_messages(tmp_path: Path) -> None:
    """What eval infers, given to check as declared types."""
    path = tmp_path / "query.cedr"
    messages: list[object] = [{"insert": {"type": "A", "id": "a", "vs": 1, "payload": {"x": 1, "name": "n"}}}]
    known = declared_types(parse("TYPE A (x INTEGER, name STRING)"))
    for condition in ("a.x = 1", "a.name = 'n'", "a.x = 'n'", "a.y = 1", "LENGTH(a.x) = 1"):
        path.write_text(f"EVENT Q WHEN ANY(A AS a) WHERE {condition}", "utf-8")
        try:
            found = [cedr.evaluate(path, messages, host="oracle").name]  # type: ignore[arg-type]
        except CedrError as error:
            found = [diagnostic.code for diagnostic in error.diagnostics]
        assert found == checked(path, known), condition


def test_a_text_that_cannot_be_parsed_is_blamed_for_all_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "query.cedr"
    path.write_text("TYPE A (x INTEGER); EVENT P WHEN ANY(A AS a B); EVENT Q WHEN ANY(A AS a) WHERE a.y = 1", "utf-8")
    assert checked(path, EventTypes()) == ["syntax", "unknown-attribute"] == evaluated(path, EventTypes())
