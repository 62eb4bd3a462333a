"""Figure 2: a tritemporal history table with a retraction and a modification.  Readings: R3, R4, R5, R7, R24."""

from __future__ import annotations

import re
from pathlib import Path

from cedr.consistency.pipeline import Pipeline
from cedr.data.change_rows import change_rows
from cedr.data.results import Shape
from cedr.history.keeping import Keep
from cedr.history.reading import read_history
from cedr.language.parse import parse
from cedr.model.equivalence import logically_equivalent_to, out_of_order
from cedr.model.event import primitive
from cedr.model.history import HistoryTable
from cedr.model.intake import Intake
from cedr.model.level import MIDDLE
from cedr.model.schema import EventType, EventTypes
from cedr.model.stream import Message, Retract, insert
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_file
from cedr.sinks.output import output_of
from cedr.testing.difference import assert_same_table
from cedr.testing.tables import history_table

FIGURE_2 = """
| ID | $V_s$ | $V_e$ | $O_s$ | $O_e$ | $C_s$ | $C_e$ | ... | K |
|----|----|----|----|----|----|----|----|----|
| e0 | 1 | ∞ | 1 | 5 | 1 | 4 | | E0 |
| e0 | 1 | 10 | 5 | ∞ | 2 | 6 | | E1 |
| e0 | 1 | ∞ | 1 | 3 | 4 | ∞ | | E0 |
| e0 | 1 | 10 | 5 | 5 | 5 | ∞ | | E1 |
| e0 | 1 | 10 | 3 | ∞ | 6 | ∞ | | E2 |
"""

AT_3 = """
| ID | Vs | Ve | Os | Oe |
| e0 | 1  | ∞  | 1  | 5  |
| e0 | 1  | 10 | 5  | ∞  |
"""

AT_7 = """
| ID | Vs | Ve | Os | Oe |
| e0 | 1  | ∞  | 1  | 3  |
| e0 | 1  | 10 | 3  | ∞  |
"""

REVISABLE = EventTypes({"S": EventType("S", revisable=FOREVER)})

STORY: dict[int, Message] = {
    1: insert(primitive("S", "e0", 1, occurrence_end=5), "E0"),
    2: insert(primitive("S", "e0", 1, 10, occurrence_start=5), "E1"),
    4: Retract("E0", occurrence_end=3),
    5: Retract("E1", occurrence_end=5),
    6: insert(primitive("S", "e0", 1, 10, occurrence_start=3), "E2"),
}
"""What arrives, by CEDR time."""


def test_the_state_at_cedr_time_3() -> None:
    """Figure 2: "at CEDR time 3, the stream … contains two events, an insert and a modification … at … time 5"."""
    assert_same_table(history_table(FIGURE_2).as_of(3).ideal(), AT_3)


def test_the_state_at_cedr_time_7() -> None:
    """Figure 2: "At CEDR time 7, the stream describes the same valid time change, except at occurrence time 3"."""
    assert_same_table(history_table(FIGURE_2).as_of(7).ideal(), AT_7)


def test_the_messages_make_the_table() -> None:
    """Figure 2 from its five messages.

    The figure closes E1's first row at 6, though the retraction that replaces it came at 5, where E0's row is closed
    at the very time of its retraction: we take the 6 for a slip.  Ce is compared nowhere (Definition 1).
    """
    table = HistoryTable.from_messages(STORY.values(), STORY.keys())
    assert_same_table(table, FIGURE_2.replace("| 2 | 6 |", "| 2 | 5 |"))
    assert logically_equivalent_to(table.ideal(), table, FOREVER)


def test_the_intake_tells_the_same_story() -> None:
    """Figure 2.  Readings: R3, R4, R41: rows after CEDR times 3 and 7."""
    intake = Intake(REVISABLE)
    for cedr_time, message in STORY.items():
        assert intake.receive(message, cedr_time) is None
        if cedr_time == 2:
            assert_same_table(intake.rows()["S"], AT_3)
    assert_same_table(intake.rows()["S"], AT_7)
    assert intake.dead_letters(final=True) == []


def test_the_history_of_a_real_run(tmp_path: Path) -> None:
    """Figure 2 through a query that runs, and the history that is kept of it: the answers at CEDR times 3 and 7."""
    program = compile_file(parse("EVENT T FROM S"), REVISABLE)
    (query,) = program.queries.values()
    shape = Shape(query.name, query.output, frozenset({"S"}), timestamps=False)
    pipeline, kept = Pipeline(query.plan, MIDDLE, REVISABLE), Keep(tmp_path)
    kept.open(output_of(query.plan, shape))
    for cedr_time, message in STORY.items():
        (emitted,) = pipeline.step([message], cedr_time)
        kept.write(cedr_time, change_rows(cedr_time, cedr_time, emitted.to_arrow(), shape))
    kept.close()
    for cedr_time, wanted in ((3, AT_3), (7, AT_7)):
        rows = read_history(tmp_path / "T", as_of=cedr_time).to_arrow(["id", "Vs", "Ve", "Os", "Oe"]).to_pylist()
        cells = [
            ["e0" if name == "id" else "∞" if time is None else str(time) for name, time in row.items()] for row in rows
        ]
        assert sorted(cells) == sorted(re.findall(r"[^|\s]+", line) for line in wanted.strip().splitlines()[1:])


def test_a_removed_row_never_was() -> None:
    """Figure 2: "We therefore completely remove the old event from the system by setting Oe to Os".  Reading: R5."""
    assert [row.lineage_key for row in history_table(FIGURE_2).reduced()] == ["E0", "E2"]


def test_the_repair_arrives_out_of_order() -> None:
    """Figure 2.  Reading: R7: the removal of E1 has its Os, 5; the shortening of E0 comes after it with Sync 3."""
    annotated = history_table(FIGURE_2).annotated()
    assert [row.sync for row in annotated] == [1, 5, 3, 5, 3]
    assert out_of_order(annotated)
