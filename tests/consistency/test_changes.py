"""What one step said, as messages and as columns."""

from __future__ import annotations

import pytest

from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE, STRONG
from cedr.model.stream import Guarantee, Insert, Retract
from cedr.plan.compile import compile_text
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
