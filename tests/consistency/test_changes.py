"""What one step said, as messages and as columns."""

from __future__ import annotations

import pytest

from cedr.consistency.pipeline import Pipeline
from cedr.model.event import Event, primitive_contributors
from cedr.model.level import MIDDLE, STRONG
from cedr.model.stream import Guarantee, Insert, Retract
from cedr.plan.compile import compile_text
from cedr.semantics.evaluate import evaluate
from tests.semantics.stepping import message

TEXT = "TYPE A (v INTEGER); TYPE B (v INTEGER); EVENT Q WHEN SEQUENCE(A AS x, B AS y, 5) OUTPUT x.v AS x, y.v AS y"
COLUMNS = ["change", "id", "said", "Vs", "Ve", "Os", "Oe", "Cs", "Rt", "contributors", "x", "y"]


def pipeline() -> Pipeline:
    program = compile_text(TEXT)
    return Pipeline(program.queries["Q"].plan, [MIDDLE, STRONG], program.types)


def test_there_is_one_schema_from_the_first_step_on() -> None:
    running = pipeline()
    nothing = running.step([message("A a 1 v=1")], 1)[0].to_arrow()
    something = running.step([message("B b 2 v=2")], 2)[0].to_arrow()
    assert nothing.schema.names == something.schema.names == COLUMNS
    assert nothing.schema.field("x").type == something.schema.field("x").type


def test_columns_say_what_messages_say() -> None:
    """Readings: R7, R8: K is made of ID, Os and the CEDR time at which the row was said."""
    running = pipeline()
    for time, line in enumerate(("A a 1 v=1 K=k", "B b 2 v=2", "retract k", "guarantee 3"), 1):
        for said in running.step([message(line)], time):
            rows, changes = said.to_arrow().to_pylist(), said.to_changes()
            told = [change for change in changes if not isinstance(change.message, Guarantee)]
            assert len(rows) == len(told)
            for row, change in zip(rows, told, strict=True):
                assert isinstance(change.message, Insert | Retract)
                assert change.message.lineage_key == f"{row['id']}@{row['Os']}/{row['said']}"
                assert row["change"] == change.kind
                assert row["contributors"] == [{"type": "A", "id": "a"}, {"type": "B", "id": "b"}]
                assert (row["x"], row["y"]) == (1, 2)
                assert (row["Oe"] == row["Os"]) == isinstance(change.message, Retract)
            assert said.guarantee == next((c.message.time for c in changes if isinstance(c.message, Guarantee)), None)


@pytest.mark.parametrize(
    ("pattern", "order"),
    [
        ("ALL(SEQUENCE(A AS a, B AS b, 9), C AS c, 9)", "c a b"),
        ("ALL(C AS c, SEQUENCE(A AS a, B AS b, 9), 9)", "c a b"),
        ("ALL(ALL(B AS b, A AS a, 9), C AS c, D AS d, 9)", "c a b d"),
        ("SEQUENCE(C AS c, SEQUENCE(A AS a, B AS b, 9), 9)", "c a b"),
        ("SEQUENCE(ALL(C AS c, A AS a, 9), D AS d, 9)", "a c d"),
        ("ALL(ATLEAST(1, C AS c, D AS d, 9), SEQUENCE(A AS a, B AS b, 9), 9)", "c a b, a b d"),
    ],
)
def test_contributors_are_in_the_order_of_cbt_nested_ones_flattened(pattern: str, order: str) -> None:
    """R42: by columns, by messages, and in the oracle; the time of a composite counts, not those of its parts."""
    types = "".join(f"TYPE {name} (v INTEGER);" for name in "ABCD")
    program = compile_text(f"{types} EVENT Q WHEN {pattern}")
    plan = program.queries["Q"].plan
    arriving = [message(f"{line} v=1") for line in ("A a 1", "C c 2", "B b 3", "D d 4")]
    (said,) = Pipeline(plan, MIDDLE, program.types).step(arriving, 1)
    columns = [" ".join(part["id"] for part in row["contributors"]) for row in said.to_arrow().to_pylist()]
    rows = [change.message.event for change in said.to_changes() if isinstance(change.message, Insert)]
    meant = evaluate(plan, {m.event.stream: [m.event] for m in arriving if isinstance(m, Insert)})
    for found in (columns, [_leaves(row) for row in rows], [_leaves(row) for row in meant]):
        assert sorted(found) == sorted(order.split(", "))


def _leaves(event: Event) -> str:
    return " ".join(leaf.id for leaf in primitive_contributors(event))


def test_attributes_with_the_names_of_the_header_stand_beside_it() -> None:
    program = compile_text(TEXT.replace("x.v AS x, y.v AS y", "x.v AS id, y.v AS Vs"))
    running = Pipeline(program.queries["Q"].plan, MIDDLE, program.types)
    (said,) = running.step([message("A a 1 v=7"), message("B b 2 v=8")], 1)
    (row,) = said.to_arrow().to_pylist()
    (change,) = said.to_changes()
    assert isinstance(change.message, Insert)
    assert (row["payload_id"], row["payload_Vs"], row["Vs"]) == (7, 8, 2)
    assert row["id"] == change.message.event.id


def test_what_was_said_is_kept_for_those_who_hold_it() -> None:
    running = pipeline()
    first = running.step([message("A a 1 v=1"), message("B b 2 v=2"), Guarantee(2)], 1)[0]
    running.step([message("A c 3 v=3"), message("B d 4 v=4"), Guarantee(4)], 2)
    assert [row["x"] for row in first.to_arrow().to_pylist()] == [1]
    assert len(first.to_changes()) == 2


def test_what_was_read_in_one_form_is_not_kept_in_the_other() -> None:
    running = pipeline()
    first = running.step([message("A a 1 v=1"), message("B b 2 v=2")], 1)[0]
    first.to_arrow()
    running.step([], 2)
    with pytest.raises(RuntimeError, match="read what was said before the next one"):
        first.to_changes()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("A AS x UNION B AS y", [["a"], ["b"]]),
        ("A AS x LEFT JOIN B AS y ON x.v = y.v + 1", [["a"]]),
        ("A AS x LEFT JOIN B AS y ON x.v + 1 = y.v", [["a"], ["a", "b"]]),
    ],
)
def test_columns_name_the_contributors_that_are_there(body: str, expected: list[list[str]]) -> None:
    """Reading: R8: a row of a union is made of a row of one side."""
    program = compile_text(f"TYPE A (v INTEGER); TYPE B (v INTEGER); EVENT Q FROM {body}")
    (said,) = Pipeline(program.queries["Q"].plan, STRONG, program.types).step(
        [message(line) for line in ("A a 1 v=1", "B b 2 v=2", "guarantee 9")], 1
    )
    columns = [[part["id"] for part in row["contributors"]] for row in said.to_arrow().to_pylist()]
    events = [change.event for change in said.to_changes() if change.event is not None]
    assert columns == [[part.id for part in primitive_contributors(event)] for event in events]
    assert columns[: len(expected)] == expected
