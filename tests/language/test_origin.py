"""TYPE … FROM … WITH: where the events of a type are, and how columns map to them."""

from __future__ import annotations

import pytest

from cedr.diagnostics.exceptions import LanguageError
from cedr.hosts.event_types import declared_types
from cedr.language.check import check, check_text
from cedr.language.options import OPTIONS
from cedr.language.parse import parse
from cedr.language.render import render
from cedr.language.syntax import Origin, TypeDeclaration
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.time import DAY


def declared(text: str) -> TypeDeclaration:
    (statement,) = parse(text).statements
    assert isinstance(statement, TypeDeclaration)
    return statement


def origin(text: str) -> Origin:
    found = declared(text).origin
    assert found is not None
    return found


def test_a_type_says_where_its_events_are_and_how_columns_map() -> None:
    found = declared(
        "TYPE TX (card STRING) REVISABLE FOR 3 days "
        "FROM 'tx.csv' WITH (time = ts, id = \"tx id\", time_unit = s, disorder = 10 minutes)"
    )
    assert found.origin is not None
    assert (found.origin.path, found.revisable, found.inferred) == ("tx.csv", 3 * DAY, False)
    assert [(option.name, option.value) for option in found.origin.options] == [
        ("time", "ts"),
        ("id", "tx id"),
        ("time_unit", "s"),
        ("disorder", "10 minutes"),
    ]
    option = found.origin.options[1]
    assert option.span is not None
    assert option.span.text == 'id = "tx id"'


def test_each_part_may_be_left_out() -> None:
    assert declared("TYPE TX FROM 'tx.csv'").origin == Origin("tx.csv")
    assert declared("TYPE TX FROM 'tx.csv'").inferred
    assert declared("TYPE TX () FROM 'tx.csv'").inferred
    assert not declared("TYPE TX () WITH (time = ts)").inferred
    assert not declared("TYPE TX ()").inferred
    assert declared("TYPE TX REVISABLE FROM 'tx.csv'").revisable > DAY
    assert origin("TYPE TX (card STRING) WITH (time = ts)").path is None
    assert origin("type tx from 'x' with (TIME = ts)").options[0].name == "time"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("time = ts", "ts"),
        ("time = 'ts'", "ts"),
        ("type = kind", "kind"),
        ("type = 'it''s'", "'it's'"),
        ("provider = 'plant 1'", "'plant 1'"),
        ("time_unit = 'MS'", "ms"),
        ("zone = UTC", "UTC"),
        ("time_format = '%Y-%m-%d'", "%Y-%m-%d"),
        ("truncate = TRUE", True),
        ("header = false", False),
        ("disorder = 5", 5),
        ("disorder = 1.5   hours", "1.5 hours"),
        ("idle = FOREVER", "FOREVER"),
        ("format = json", "json"),
        ("separator = ';'", ";"),
        ("key = key", "key"),
        ("change = when", "when"),
    ],
)
def test_the_values_of_options(written: str, value: object) -> None:
    text = f"TYPE TX FROM 'tx.csv' WITH ({written})"
    assert [(option.value, type(option.value)) for option in origin(text).options] == [(value, type(value))]
    assert parse(render(parse(text))) == parse(text)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_takes_its_example_and_survives_rendering(name: str) -> None:
    file = parse(f"TYPE TX (a STRING) WITH ({name} = {OPTIONS[name].example})")
    assert parse(render(file)) == file


@pytest.mark.parametrize(
    ("options", "code", "place", "said"),
    [
        ("tme = ts", "unknown-option", "tme", "did you mean time?"),
        ("xyzzy = ts", "unknown-option", "xyzzy", "how columns map"),
        ("attributes = a", "unknown-option", "attributes", "behind the name"),
        ("id = a, time = b, ID = c", "duplicate-name", "ID = c", "remove one"),
        ("time = 5", "wrong-option", "5", "write time = ts"),
        ("time = ''", "wrong-option", "''", "write time = ts"),
        ("time_unit = hours", "wrong-option", "hours", "write time_unit = ms"),
        ("disorder = '5 minutes'", "wrong-option", "'5 minutes'", "write disorder = 10 minutes"),
        ("disorder = -5 minutes", "wrong-option", "-5 minutes", "write disorder = 10 minutes"),
        ("disorder = 1.5", "wrong-option", "1.5", "write disorder = 10 minutes"),
        ("time = TRUE", "wrong-option", "TRUE", 'time = "TRUE"'),
        ("header = 1", "wrong-option", "1", "write header = FALSE"),
        ("truncate = 'yes'", "wrong-option", "'yes'", "write truncate = TRUE"),
        ("format = xlsx", "wrong-option", "xlsx", "write format = csv"),
        ("separator = 5 minutes", "wrong-option", "5 minutes", "write separator = ';'"),
    ],
)
def test_a_wrong_option_is_told_with_its_place(options: str, code: str, place: str, said: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(f"TYPE TX FROM 'tx.csv' WITH ({options})")
    (error,) = caught.value.diagnostics
    assert error.span is not None
    assert (error.code, error.span.text) == (code, place)
    assert said in error.hint
    if code == "unknown-option":
        assert all(option in error.detail for option in OPTIONS)


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("TYPE TX WITH (time = ts)", "syntax", "TYPE name FROM 'file.csv'"),
        ("TYPE TX", "syntax", "TYPE name FROM 'file.csv'"),
        ("TYPE TX FROM tx.csv", "syntax", "in single quotes"),
        ("TYPE TX FROM 'tx.csv' WITH time = ts", "syntax", "in parentheses"),
        ("TYPE TX FROM ' '", "invalid-literal", "FROM 'file.csv'"),
    ],
)
def test_the_form_of_a_declaration(text: str, code: str, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    (error,) = caught.value.diagnostics
    assert error.code == code
    assert hint in error.hint


def test_all_wrong_options_are_told_together() -> None:
    with pytest.raises(LanguageError) as caught:
        parse("TYPE TX FROM 'tx.csv' WITH (tme = ts, header = 1, id = 2)")
    assert [error.code for error in caught.value.diagnostics] == ["unknown-option", "wrong-option", "wrong-option"]


INFERRED = "TYPE TX FROM 'tx.csv'; EVENT Q WHEN ANY(TX AS t) OUTPUT t.card AS card"


def test_a_type_without_attributes_is_open_until_its_file_was_read() -> None:
    (event_type,) = declared_types(parse(INFERRED))
    assert event_type == EventType("TX", open=True)
    (query,) = check_text(INFERRED).queries
    assert query.output.attributes == {"card": DataType.ANY}


def test_what_was_read_from_the_file_wins_over_the_open_type() -> None:
    known = EventTypes({"TX": EventType("TX", {"card": DataType.STRING})})
    (query,) = check(parse(INFERRED), known).queries
    assert query.output.attributes == {"card": DataType.STRING}
    with pytest.raises(LanguageError, match="unknown-attribute"):
        check(parse(INFERRED.replace("t.card", "t.cards")), known)
    revisable = check(parse(INFERRED.replace("TX FROM", "TX REVISABLE FOR 5 FROM", 1)), known)
    assert revisable.types.types["TX"].revisable == 5


def test_beside_an_open_type_names_are_still_checked() -> None:
    with pytest.raises(LanguageError, match="unknown-event-type"):
        check_text("TYPE TX FROM 'tx.csv'; EVENT Q WHEN ANY(TY AS t)")


def test_a_long_declaration_has_its_options_below_each_other() -> None:
    text = (
        "TYPE TX FROM 'a/rather/long/path/of/a/file.parquet' WITH (time = a_rather_long_column, id = another_long_one)"
    )
    assert render(parse(text)) == (
        "TYPE TX\n"
        "  FROM 'a/rather/long/path/of/a/file.parquet'\n"
        "  WITH (time = a_rather_long_column, id = another_long_one);\n"
    )
