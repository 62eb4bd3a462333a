"""A catalog: types and queries from everywhere, in the order of their use, and what does not fit together."""

from __future__ import annotations

from pathlib import Path

import pytest

import cedr

TYPES = "TYPE A (k INTEGER); TYPE B (k INTEGER);"
PAIRS = "EVENT Pairs WHEN SEQUENCE(A AS a, B AS b, 9) WHERE CorrelationKey(k, EQUAL) OUTPUT a.k AS k"
TWICE = "EVENT Twice WHEN SEQUENCE(Pairs AS p, Pairs AS q, 9) WHERE p.k = q.k OUTPUT p.k AS k"


def wrong(change: object, *arguments: object) -> cedr.Diagnostic:
    with pytest.raises(cedr.LanguageError) as caught:
        change(*arguments)  # type: ignore[operator]
    return caught.value.diagnostics[0]


def test_parts_come_in_any_order_and_are_put_in_that_of_their_use() -> None:
    catalog = cedr.Catalog([TWICE, PAIRS, TYPES])
    assert list(catalog) == ["Pairs", "Twice"]
    assert list(catalog.queries["Twice"].output.attributes) == ["k"]
    assert [event_type.name for event_type in catalog.types] == ["A", "B"]
    assert cedr.Catalog(catalog.to_text()).to_text() == catalog.to_text()


def test_texts_files_folders_and_python(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "twice.cedr").write_text(TWICE)
    (tmp_path / "pairs.cedr").write_text(TYPES + PAIRS)
    built = cedr.event("A").named("FromPython")
    more = cedr.EventTypes({"C": cedr.EventType("C", {"v": cedr.DataType.FLOAT})})
    catalog = cedr.Catalog(tmp_path, built, more, "EVENT Late WHEN ANY(C AS c)")
    assert set(catalog) == {"Pairs", "Twice", "FromPython", "Late"}
    assert cedr.Catalog(tmp_path / "pairs.cedr").order == ["Pairs"]


def test_a_long_text_on_one_line_is_no_path() -> None:
    text = "; ".join(
        [*TYPES.strip(";").split(";"), PAIRS, TWICE, *(f"EVENT E{of} WHEN ANY(A AS a)" for of in range(9))]
    )
    assert len(text) > 255
    assert len(cedr.Catalog(text)) == 11


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(cedr.StreamError, match="no-files"):
        cedr.Catalog(tmp_path)


def test_a_type_that_is_declared_alike_twice_is_one() -> None:
    assert len(cedr.Catalog(TYPES + PAIRS, TYPES).types.types) == 2
    error = wrong(cedr.Catalog, TYPES, "TYPE A (k STRING)")
    assert error.code == "duplicate-name"
    assert error.related


def test_two_queries_of_one_name() -> None:
    error = wrong(cedr.Catalog(TYPES + PAIRS).add, PAIRS)
    assert (error.code, bool(error.span), len(error.related)) == ("duplicate-name", True, 1)


def test_a_circle_is_shown() -> None:
    error = wrong(cedr.Catalog, "EVENT X WHEN ANY(Y); EVENT Y WHEN ANY(X)")
    assert error.code == "circular-query"
    assert error.detail == "the circle is: X -> Y -> X"


def test_what_others_read_stays() -> None:
    catalog = cedr.Catalog([TYPES, PAIRS, TWICE])
    assert wrong(catalog.remove, "Pairs").code == "query-in-use"
    catalog.remove("Pairs", "Twice")
    assert not len(catalog)
    assert wrong(catalog.remove, "Pairs").code == "unknown-query"


def test_a_replacement_has_what_others_read() -> None:
    catalog = cedr.Catalog([TYPES, PAIRS, TWICE])
    error = wrong(catalog.replace, PAIRS.replace("AS k", "AS key"))
    assert error.code == "reader-does-not-fit"
    assert error.span is not None
    assert error.span.text == "p.k"
    assert list(catalog.queries["Pairs"].output.attributes) == ["k"], "nothing has changed"
    catalog.replace(PAIRS.replace("a.k AS k", "a.k AS k, b.Vs AS seen"))
    assert list(catalog.queries["Pairs"].output.attributes) == ["k", "seen"]
    assert wrong(catalog.replace, "EVENT New WHEN ANY(A)").code == "unknown-query"


def test_unknown_names_are_errors_once_a_type_is_declared() -> None:
    assert wrong(cedr.Catalog, TYPES, "EVENT Q WHEN ANY(Unknown)").code == "unknown-event-type"
    assert list(cedr.Catalog("EVENT Q WHEN ANY(Unknown)")) == ["Q"]


def test_what_is_no_part() -> None:
    assert wrong(cedr.Catalog, 3).code == "wrong-query"
