"""Small runs on which the columnar engine once said something else than the naive one.

Found by ``tests/properties/test_engine.py`` and ``make exhaustive``; each in its smallest form.
"""

from __future__ import annotations

import pytest

from cedr.consistency.emitter import Output
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Message
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_text
from cedr.plan.logical import Node
from cedr.testing.histories import small_catalog
from tests.consistency.comparing import Course, Switch, compare, compare_outputs
from tests.consistency.engines import BOTH, MakesEngine, Pipeline
from tests.semantics.stepping import message

CATALOG = small_catalog("A", "B")
REVISABLE = small_catalog("A", "B", revisable=FOREVER)
LEVELS = (STRONG, MIDDLE, WEAK, ConsistencyLevel(Bound(1), Bound(2)))


def numbered(line: str) -> str:
    """A payload for an event line: its number is its value, so that rows show which events they bind."""
    return f"{line} k=1 v={line.split()[1][-1]} s=a"


def same(
    pattern: str,
    arrived: str,
    levels: tuple[ConsistencyLevel, ...] = LEVELS,
    course: Course | None = None,
    catalog: EventTypes = CATALOG,
) -> None:
    """Messages between slashes, one a step; all have one key."""
    compare(plan_of(pattern, catalog), levels, catalog, batches_of(arrived), course or Course())


def plan_of(pattern: str, catalog: EventTypes = CATALOG) -> Node:
    return compile_text(f"EVENT Q WHEN {pattern}", catalog).queries["Q"].plan


def batches_of(arrived: str) -> list[list[Message]]:
    lines = arrived.split(" / ")
    return [[message(x if x.startswith(("guarantee", "retract")) else numbered(x))] for x in lines]


CONSUMED = (
    ("SEQUENCE(FIRST A x CONSUME, B y CONSUME, 3)", "A a0 1 / B b1 2 / B b3 4"),
    ("SEQUENCE(A x, A y, 3) DISJOINT", "A a0 1 / A a1 2 / A a3 4"),
    ("ALL(A x CONSUME, B y CONSUME, 3)", "A a0 1 / B b1 2 / A a3 4"),
    ("SEQUENCE(A x, B y, 2) DISJOINT", "A a0 1 / A a1 1 / B b2 2 / B b3 3"),
    ("ALL(A x CONSUME, B y, 2)", "A a0 1 / B b3 3 / B b1 2 / A a2 3"),
    ("ALL(A x CONSUME, B y, 2)", "A a0 1 / B b3 3 / B b1 2 / B b2 2 / guarantee 4"),
    ("CANCEL-WHEN(SEQUENCE(FIRST A x CONSUME, A y, 3), B z)", "A a0 1 / A a1 2 / A a3 4"),
    (
        "SEQUENCE(FIRST A x CONSUME, A y, B z CONSUME, 3)",
        "A a0 1 / A a1 2 / B b3 4 / guarantee 2 / B b2 3 / guarantee 4",
    ),
)


@pytest.mark.parametrize("tail", ["", " WHERE CorrelationKey(k, EQUAL)"], ids=["", "keyed"])
@pytest.mark.parametrize(("pattern", "arrived"), CONSUMED)
def test_what_an_earlier_batch_consumed_stays_consumed(pattern: str, arrived: str, tail: str) -> None:
    """Readings: R26 to R28."""
    same(pattern + tail, arrived)


UNDECIDED = (
    ("UNLESS(B x, A y, 4)", "B b1 1 / A a1 8 @7 / guarantee 2"),
    ("SEQUENCE(A x, LAST B y, 2)", "A a1 1 / B b1 2 / A a3 5 / A a4 9 / guarantee 2"),
    ("UNLESS(SEQUENCE(A x, LAST B y, 2), A z, 2)", "A a0 1 / B b1 2 / A a9 9 / guarantee 2 / B b2 3"),
)


@pytest.mark.parametrize(("pattern", "arrived"), UNDECIDED)
def test_what_is_undecided_holds_the_guarantee_back(pattern: str, arrived: str) -> None:
    """Reading: R36: the rules are the same for all levels."""
    same(pattern, arrived)


def test_what_was_frozen_stays_frozen() -> None:
    """Reading: R38: after a switch to a longer memory."""
    course = Course(switches={2: [Switch(0, MIDDLE)]})
    same("ALL(A x, B y, 2)", "B b1 3 / A a1 9 / A a2 2 / A a3 10", (WEAK,), course)
    same("SEQUENCE(A x, B y, 2)", "A a1 1 / A a2 9 / B b1 2 / A a3 10", (WEAK,), course)


def test_a_row_that_changes_its_bindings_is_replaced() -> None:
    """Readings: R12, R25: a0 is earlier at x; b2 and a3 stay an output, but a3 stands for z now."""
    same("ATLEAST(2, FIRST A x, B y, A z, 2)", "B b1 1 / B b2 2 / A a3 4 / A a0 1")


def test_first_looks_both_ways() -> None:
    """Readings: R25, R34: a0 is earlier than a3 for b1, though the two are further apart than the scope."""
    same("ALL(FIRST A x, B y, 2)", "B b1 2 / A a3 4 / A a0 1")


def test_two_scopes_are_remembered_for_unless_with_a_number() -> None:
    """Readings: R16, R34: the row of a2, [3, 5), is not frozen at m = 4."""
    same("UNLESS(A x, B y, 1, 2)", "A a0 1 / A a3 4 / A a1 1 / A a2 1")
    same("UNLESS(A x, B y, 1, 2)", "A a0 1 / A a2 4 / guarantee 1 / B b1 2")


def test_a_retraction_before_its_insert_waits() -> None:
    """Readings: R33, R37, R41: that its event lies before m does not mean that it was forgotten."""
    level = ConsistencyLevel(Bound(FOREVER), Bound(1))
    same("ANY(A x, B y)", "A a3 5 / B b4 4 / retract A/a2@0 ve=8 / A a2 1..11 @0", (level,))


NEVER_CAME = "A a9 4 / A a8 4 / retract A/a1@1 ve=5 / guarantee 5"


def test_a_retraction_that_waits_since_memory_was_finite_may_be_about_a_forgotten_row() -> None:
    """Readings: R37, R38: it came at WEAK, and is counted at STRONG when its wait ends, no dead letter."""
    for step in (2, 3):
        same("ANY(A x)", NEVER_CAME, (WEAK,), Course(switches={step: [Switch(0, STRONG)]}))
    assert letters_and_unknown(WEAK) == ([], 1)
    assert letters_and_unknown(STRONG) == ([(3, "retraction-without-insert")], 0)


def test_a_retraction_may_be_about_a_row_that_only_another_output_forgot() -> None:
    """Readings: R37, R43: the outputs share what has arrived; where all that read it remember it, nothing is gone."""
    for other in ("A", "B"):
        plans = enumerate((plan_of("ANY(A x)"), plan_of(f"ANY({other} x)")))
        outputs = [Output(str(of), plan, (WEAK, STRONG)[of]) for of, plan in plans]
        compare_outputs(outputs, CATALOG, batches_of(NEVER_CAME))
    assert letters_and_unknown(WEAK, STRONG) == ([(3, "retraction-without-insert")], 0)


def letters_and_unknown(*levels: ConsistencyLevel) -> tuple[list[tuple[int, str]], int]:
    """The dead letters of the retraction that waits in vain, and how many were counted, when it waited at levels."""
    pipeline = Pipeline([Output(str(of), plan_of("ANY(A x)"), each) for of, each in enumerate(levels)], (), CATALOG)
    for time, batch in enumerate(batches_of(NEVER_CAME), 1):
        if time == 4:
            for of in range(len(levels)):
                pipeline.switch(STRONG, of=of)
        pipeline.step(batch, time)
    return [(letter.position, letter.code) for letter in pipeline.dead_letters()], pipeline.measures()[0].unknown


def test_a_version_behind_the_memory_still_closes_an_earlier_one() -> None:
    """Readings: R4, R10, R34: the version of 2 would begin at 4, and is closed at 4."""
    same("ANY(A x, B y)", "A a9 4 / B b1 1..2 @4 / A a8 4 / B b1 4..4 @2", catalog=REVISABLE)


@pytest.mark.parametrize("tail", ["", " WHERE CorrelationKey(k, EQUAL)"], ids=["", "keyed"])
@pytest.mark.parametrize("arrived", ["A a0 1 / B b1 2 / A a2 3 / B b3 4", "B b3 4 / A a2 3 / A a0 1 / B b1 2"])
def test_the_first_of_the_first_parameter_is_chosen_among_all(arrived: str, tail: str) -> None:
    """Reading: R25: each FIRST is judged by itself, also where the last parameter is FIRST too."""
    same(f"SEQUENCE(FIRST A x, FIRST B y, 10){tail}", arrived)


LEFT_BEHIND = (
    ("UNLESS(B x, A y, 1, 3)", "B b4 3 / B b5 4 / guarantee 5 / B b7 7 / guarantee 9"),
    ("SEQUENCE(UNLESS(A x, B y, 2), B z, 10)", "A a1 1 / guarantee 5 / B b7 7 / guarantee 9"),
    ("SEQUENCE(SEQUENCE(A x, A w, 2), B z, 10)", "A a1 1 / A a2 2 / guarantee 7 / B b9 9 / guarantee 12"),
    ("SEQUENCE(A x, LAST B y, 10)", "A a1 1 / A a4 4 / B b5 5 / B b9 9 / guarantee 12 / guarantee 20"),
    ("SEQUENCE(A x, UNLESS(B y, A z, 1, 3), 10)", "A a1 1 / B b4 4 / guarantee 6 / guarantee 12"),
)


@pytest.mark.parametrize("level", [STRONG, MIDDLE, WEAK], ids=str)
@pytest.mark.parametrize(("pattern", "arrived"), LEFT_BEHIND)
def test_what_is_final_and_still_asked_for_comes_back_after_a_restart(
    pattern: str, arrived: str, level: ConsistencyLevel
) -> None:
    """Reading: R37: nested scopes add up; a row that is final may wait to be said, or for what follows it."""
    for step in range(arrived.count("/")):
        same(pattern, arrived, (level,), Course(saved={step}, restarts={step}))


AGAIN = (
    ("UNLESS(SEQUENCE(A x, B y, 6), A z, 5)", "A a0 1 / B b1 5 / guarantee 6 / B b9 20 / guarantee 19"),
    ("UNLESS(SEQUENCE(A x, B y, 6), A z, 5)", "A a0 1 / B b1 5 / guarantee 8 / A a2 9 / guarantee 19"),
    (
        "UNLESS(SEQUENCE(A x CONSUME, B y, 6), A z, 5)",
        "A a0 1 / B b1 5 / guarantee 8 / B b2 6 / B b9 20 / guarantee 19",
    ),
    ("UNLESS(SEQUENCE(A x, B y, 6) DISJOINT, A z, 5)", "A a0 1 / B b1 5 / guarantee 8 / B b9 20 / guarantee 19"),
    ("UNLESS(UNLESS(A x, B y, 2), A z, 9)", "A a0 1 / guarantee 5 / B b9 20 / guarantee 19"),
    ("UNLESS(SEQUENCE(A x, B y, 6), A z, 1, 5)", "A a0 1 / B b1 3 / guarantee 4 / B b9 20 / guarantee 19"),
    ("CANCEL-WHEN(SEQUENCE(A x, SEQUENCE(A y, B z, 2), 9), B w)", "A a0 1 / A a1 2 / B b2 3 / guarantee 5 / A a9 9"),
)


@pytest.mark.parametrize("tail", ["", " WHERE CorrelationKey(k, EQUAL)"], ids=["", "keyed"])
@pytest.mark.parametrize(("pattern", "arrived"), AGAIN)
def test_what_is_final_below_and_undecided_above_is_there_after_a_restart(
    pattern: str, arrived: str, tail: str
) -> None:
    """Reading: R37: the pair was final and forgotten as an output of SEQUENCE, but UNLESS had not decided on it."""
    steps = range(arrived.count("/") + 1)
    for last in steps:
        same(pattern + tail, arrived, course=Course(saved=frozenset(steps), restarts=frozenset({last})))
    same(pattern + tail, arrived, course=Course(saved=frozenset(steps), restarts=frozenset(steps)))


BELIEVED_LATER = (
    ("NOT(A w, SEQUENCE(B x, B y, B z, 3)) DISJOINT", "B b2 2 / B b3 3 @5 / B b1 1 @0 / B b5 5 @3"),
    ("ALL(A x, B y, 3) DISJOINT", "B b3 3 / A a5 5..13 / A a0 0..2 @5 / retract A/a5@5 ve=8"),
)


@pytest.mark.parametrize("tail", ["", " WHERE CorrelationKey(k, EQUAL)"], ids=["", "keyed"])
@pytest.mark.parametrize(("pattern", "arrived"), BELIEVED_LATER)
def test_what_is_believed_later_consumes_from_then_on(pattern: str, arrived: str, tail: str) -> None:
    """Readings: R9, R26, R27: an earlier choice that is a change of belief at o bears on later ones from o on."""
    same(pattern + tail, arrived, catalog=REVISABLE)


def test_what_was_chosen_on_a_belief_given_up_consumes_no_longer() -> None:
    """Readings: R9, R27, R37: a1 was withdrawn at 6 and is forgotten; its pair with b4 still knows how long it held."""
    known = small_catalog("A", "B", revisable=5)
    arrived = "A a1 1 / B b4 4 / retract A/a1@1 oe=6 / guarantee 11 / A a12 12 / B b13 13"
    for pattern in ("SEQUENCE(A x, B y, 4) DISJOINT", "ALL(A x, B y, 4) DISJOINT", "ALL(A x, B y CONSUME, 9)"):
        same(pattern, arrived, catalog=known)


@pytest.mark.parametrize("arrived", ["A a1 1 / A a2 4 / B b2 5 / B b1 6", "A a1 1 / B b1 6 / A a2 4 / B b2 5"])
def test_disjoint_takes_unless_with_a_number_in_the_order_of_detection(arrived: str) -> None:
    """Readings: R16, R27: a1 and b1 are detected at 6, when they are complete; a2 and b2, before them, at 4 + 3."""
    pattern = "UNLESS(SEQUENCE(A x, B y, 5), A z, 1, 3) DISJOINT WHERE {x.v = y.v} AND {z.v = 9}"
    same(pattern, f"{arrived} / guarantee 20")


LET_GO = (
    ("ANY(B x) OUTPUT x.Ve AS until", "B b9 9 / B b1 2..7 / guarantee 3"),
    ("ALL(A x, B y, 2) WHERE {x.Ve > y.Vs}", "A a9 20 / A a1 1..15 / B b1 2 / guarantee 3"),
    ("UNLESS(A x, B y, 4)", "A a1 1 / A a9 20 / guarantee 3 / B b1 4"),
    ("SEQUENCE(A x, LAST B y, 9)", "A a1 1 / B b1 2 / A a9 20 / guarantee 3 / B b2 4"),
    ("UNLESS(A x, B y, 2) @ [9, 10]", "A a1 1 / A a9 20 / guarantee 3"),
    ("NOT(UNLESS(B x, B y, 9), SEQUENCE(A z, A u, 2))", "B b1 1 / A a9 20 / guarantee 3"),
)


@BOTH
@pytest.mark.parametrize(("pattern", "arrived"), LET_GO)
def test_what_memory_lets_go_of_holds_no_guarantee_back(pattern: str, arrived: str, engine: MakesEngine) -> None:
    """Readings: R34, R36: its row is frozen whatever comes, so nothing waits for a decision on it."""
    same(pattern, arrived)
    for level, out in ((MIDDLE, {0, 1}), (WEAK, {3})):
        made = engine(plan_of(pattern), level, CATALOG)
        for time, batch in enumerate(batches_of(arrived), 1):
            made.step(batch, time)
        assert made.guarantee in out


def test_what_is_final_stays_undecided_by_the_smallest_guarantee_of_the_inputs() -> None:
    """Reading: R36: a3 is cancelled by a5, but UNLESS below guarantees up to 4 only: g' stays 2, restart or not."""
    arrived = "A a5 5 / A a3 3 / guarantee 5 / B b9 9 / B b8 8 / guarantee 6 / guarantee 9"
    for step in range(arrived.count("/") + 1):
        same("UNLESS(UNLESS(A x, B y, 2), A z, 3)", arrived, course=Course(saved={step}, restarts={step}))


HAUNTED = (
    "A a1 1..3 / B b9 9 / retract A/a1@1 / A a1 1..20 K=again / guarantee 9",
    "A a1 1..3 / B b9 9 / retract A/a1@1 / A a1 1..4 K=again / A a1 1..3 K=more / guarantee 9",
    "A a1 1..3 / A a2 1..3 / B b9 9 / retract A/a1@1 / retract A/a2@1 / B b8 8 / A a2 1..9 K=again / A a1 1..9 K=more",
)


@pytest.mark.parametrize("pattern", ["ANY(A x) VALID WITH LAST", "UNLESS(A x, B y, 2) VALID WITH LAST"])
@pytest.mark.parametrize("arrived", HAUNTED)
def test_what_is_frozen_and_meant_no_longer_is_replaced_after_a_restart(pattern: str, arrived: str) -> None:
    """Reading: R34: an unfrozen row replaces, in one step, a frozen one of the same ID and Os, whenever it was said."""
    steps = range(arrived.count("/") + 1)
    same(pattern, arrived, (WEAK,), Course())
    for last in steps:
        same(pattern, arrived, (WEAK,), Course(saved={last}, restarts={last}))
    same(pattern, arrived, (WEAK,), Course(saved=frozenset(steps), restarts=frozenset(steps)))


LATER = ("TUMBLING 2", "HOPPING 3 EVERY 2", "LIFETIME a.Vs + 3, 2")


@pytest.mark.parametrize("window", LATER)
@pytest.mark.parametrize("aggregate", ["COUNT(*)", "MAX(a.v)"])
def test_rows_that_begin_after_their_events_are_due_by_the_guarantee_that_leaves(window: str, aggregate: str) -> None:
    """Readings: R33, R36: it is larger than the one that came in; rows up to there had not been asked for."""
    plan = from_plan(f"FROM A AS a WINDOW {window} GROUP BY a.k OUTPUT a.k AS k, {aggregate} AS n")
    arrived = "A a1 3..4 / A a2 1..2 / guarantee 2 / guarantee 4 / guarantee 5 / A a6 6 / guarantee 20"
    compare(plan, (STRONG, MIDDLE), CATALOG, batches_of(arrived))


@pytest.mark.parametrize("over", ["GROUP BY a.k OUTPUT a.k AS k, MAX(a.v) AS n", "OUTPUT DISTINCT a.k AS k"])
def test_a_guarantee_of_everything(over: str) -> None:
    """Reading: R36: the line up to which groups are folded is never FOREVER: behind it there is no instant."""
    plan = from_plan(f"FROM A AS a {over}")
    arrived = f"A a1 3 / A a2 1..2 / guarantee {FOREVER}"
    compare(plan, (STRONG, MIDDLE, WEAK), CATALOG, batches_of(arrived), Course(saved={2}, restarts={2}))


def from_plan(text: str) -> Node:
    return compile_text(f"EVENT Q {text}", CATALOG).queries["Q"].plan


STILL_WAITING = {
    "cancelled later": "guarantee 3 / B b2 4 / guarantee 4 / A a3 5 / guarantee 5",
    "over": "guarantee 3 / guarantee 4 / guarantee 5 / B b2 6 / guarantee 6 / guarantee 7",
    "passed by another": "guarantee 3 / A a3 4 / B b2 5 / guarantee 4 / guarantee 5 / guarantee 8",
    "forgotten": "guarantee 3 / B b2 20 / guarantee 4 / guarantee 5",
    "ended": "guarantee 3 / guarantee 4 / retract B/b1@3 oe=5 / B b2 6 / guarantee 6",
    "without its first": "guarantee 3 / guarantee 4 / retract A/a0@1 oe=5 / guarantee 5",
    "cancelled for a while": "A a3 4 / guarantee 4 / retract A/a3@4 oe=5 / guarantee 5 / A a4 6 / guarantee 6",
}
NEGATED = ("UNLESS(SEQUENCE(A x, B y, 4), A z, 4)", "UNLESS(SEQUENCE(LAST A x, B y, 4), A z, 4)", "UNLESS(B y, A z, 4)")


@pytest.mark.parametrize("pattern", NEGATED)
@pytest.mark.parametrize("arrived", STILL_WAITING.values(), ids=STILL_WAITING)
def test_what_waited_before_may_be_decided_and_open_again(arrived: str, pattern: str) -> None:
    """R36: the guarantee that leaves rises when nothing is undecided any more; a revision may reopen what was."""
    arrived = f"A a0 1 / B b1 3 / {arrived} / guarantee 24"
    pattern += " WHERE CorrelationKey(k, EQUAL)"
    steps = range(len(batches_of(arrived)))
    course = Course(compacts=True, saved=steps[::2], restarts=steps[1::2])
    same(pattern, arrived, catalog=REVISABLE)
    same(pattern, arrived, course=course, catalog=REVISABLE if "retract" in arrived else CATALOG)


@BOTH
def test_a_row_cut_at_the_memory_stays_cut(engine: MakesEngine) -> None:
    """Readings: R34, R35, R37: a retraction whose row is not known raises h to 5; so what was said of 3 and 4 stays."""
    made = engine(from_plan("FROM A AS a OUTPUT DISTINCT COUNT(*) AS n"), WEAK, CATALOG)
    arrived = batches_of("A a1 3 / retract x oe=5 / A a2 3 / guarantee 3 / guarantee 5")
    for time, batch in enumerate(arrived, 1):
        made.step(batch, time)
        cut = [(row.valid_start, row.valid_end) for row in made.said if row.payload["n"] == 1]
        assert cut == [(3, FOREVER if time < 3 else 5)]
    assert [row.payload["n"] for row in made.said if row.valid_start <= 5 < row.valid_end] == [2]
