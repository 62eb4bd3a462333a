"""What a query says at each level, by hand.  Paper: Sections 4 and 5, Definitions 3 to 5.  Readings: R33 to R40."""

from __future__ import annotations

import pytest

from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from tests.semantics.stepping import engine, message, say, steps, transcript

UNLESS = "EVENT Q WHEN UNLESS(A, B, 5)"
COUNT = "EVENT Q FROM A OUTPUT COUNT(*) AS n"


def blocking(duration: int, memory: int = 2**63 - 1, *, cedr: bool = False) -> ConsistencyLevel:
    return ConsistencyLevel(Bound(duration, cedr), Bound(memory, cedr and memory != 2**63 - 1))


def test_middle_speaks_at_once_and_takes_back() -> None:
    """Definition 4, R33: B = 0 never waits; the late canceller removes the row."""
    assert transcript(UNLESS, MIDDLE, "A a 1\nB b 3\nguarantee 9") == ["+a [1,6)", "-a", "!9"]


def test_strong_waits_for_guarantees_and_takes_nothing_back() -> None:
    """Definition 3, R33, R36: a is undecided until no B with Vs < 6 can come: until g reaches 5."""
    assert transcript(UNLESS, STRONG, "A a 1\nguarantee 4\nguarantee 5\nB b 6\nguarantee 9") == [
        "",
        "!0",
        "+a [1,6) !5",
        "",
        "!9",
    ]


def test_unless_holds_the_guarantee_back_only_while_undecided() -> None:
    """R36: min(g, smallest Sync of an undecided e1 - 1); cancelled ones are decided."""
    assert transcript(UNLESS, STRONG, "A a 1\nB b 2\nA c 7\nguarantee 8\nguarantee 11") == [
        "",
        "",
        "",
        "!6",
        "+c [7,12) !11",
    ]


def test_blocking_in_between() -> None:
    """R33: an UNLESS with B < w speaks B after its E1, and may have to take it back."""
    assert transcript(UNLESS, blocking(2), "A a 1\nA x 2\nA y 3\nB b 4") == ["", "", "+a [1,6)", "+x [2,7)"]
    said = transcript(UNLESS, blocking(2), "A a 1\nA x 3\nB b 4\nA y 6")
    assert said == ["", "+a [1,6)", "", "-a"]


def test_blocking_in_cedr_time() -> None:
    """R33: b is the h of B ago on the server's clock."""
    assert transcript(UNLESS, blocking(2, cedr=True), "A a 1\nA x 1\nA y 1\nA z 1") == [
        "",
        "",
        "+a [1,6) +x [1,6) +y [1,6)",
        "+z [1,6)",
    ]


def test_a_window_speaks_when_its_start_is_reached() -> None:
    """R33: B = 0 only does not speak of the future: a window's result is due when h has reached its start."""
    query = "EVENT Q FROM A WINDOW TUMBLING 10 OUTPUT COUNT(*) AS n"
    assert transcript(query, MIDDLE, "A a 1\nA b 2\nA c 10\nA d 5") == ["", "", "+2 [10,∞)", "-2 +3 [10,∞)"]


def test_rows_of_a_count_are_open_until_their_end_is_due() -> None:
    """R3, R33: "3 since 5" is said as [5, FOREVER) and shortened when the value changes."""
    assert transcript(COUNT, MIDDLE, "A a 1\nA b 4\nA c 6..8 \nguarantee 20") == [
        "+1 [1,∞)",
        "~1 Ve=4 +2 [4,∞)",
        "~2 Ve=6 +3 [6,∞)",
        "~3 Ve=8 +2 [8,∞) !20",
    ]
    assert transcript(COUNT, STRONG, "A a 1\nA b 4\nguarantee 3\nguarantee 4") == [
        "",
        "",
        "+1 [1,∞) !3",
        "~1 Ve=4 +2 [4,∞) !4",
    ]


def test_a_late_event_repairs_a_count() -> None:
    """R33: the end moves earlier by a shortening, later only by removal and a new row (R3)."""
    assert transcript(COUNT, MIDDLE, "A a 1\nA c 6\nA b 3") == [
        "+1 [1,∞)",
        "~1 Ve=6 +2 [6,∞)",
        "~1 Ve=3 +2 [3,6) -2 +3 [6,∞)",
    ]


def test_a_modification_closes_in_the_order_of_sync() -> None:
    """R10, R33: a row is withdrawn by a retraction to Oe = o, said when o is due; late input removes it entirely."""
    query = "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 10) OUTPUT a.v AS v"
    text = "A a 1 v=1\nB b 5\nA a 1 @8 v=2\nguarantee 9"
    assert transcript(query, MIDDLE, text) == ["", "+a b [5,11)", "~a b Oe=8 +a b [5,11)", "!9"]
    assert transcript(query, STRONG, text)[-1] == "+a b [5,11) +a b [5,11) !9"
    assert transcript(query, MIDDLE, "A a 1 v=1 K=k\nB b 5\nretract k\nguarantee 9") == [
        "",
        "+a b [5,11)",
        "-a b",
        "!9",
    ]


def test_a_canceller_that_may_itself_vanish_has_cancelled_nothing_yet() -> None:
    """R36: b may still be cancelled by c, so a is undecided although b is known."""
    query = "EVENT Q WHEN UNLESS(A, UNLESS(B, C, 5), 5)"
    assert transcript(query, STRONG, "A a 1\nB b 2\nguarantee 3\nC c 4\nguarantee 9") == [
        "",
        "",
        "!0",
        "",
        "+a [1,6) !9",
    ]


def test_guarantees_of_last() -> None:
    """R36: LAST on the last parameter is undecided until g reaches the first contributor's Vs + w."""
    query = "EVENT Q WHEN SEQUENCE(A, LAST B, 10)"
    assert transcript(query, STRONG, "A a 1\nB b 3\nguarantee 10\nB c 11\nguarantee 11") == [
        "",
        "",
        "!2",
        "",
        "+a c [11,11) !11",
    ]
    assert transcript(query, MIDDLE, "A a 1\nB b 3\nB c 5\nguarantee 11") == [
        "",
        "+a b [3,11)",
        "-a b +a c [5,11)",
        "!11",
    ]


def test_guarantees_of_alter_lifetime() -> None:
    """R36: the smallest start that an event with Vs > g can get, minus 1; none if it depends on payload; at most g."""
    assert transcript("EVENT Q FROM A WINDOW LIFETIME Vs - 3, 5", STRONG, "A a 8\nguarantee 9") == ["", "+a [5,10) !6"]
    assert transcript("EVENT Q FROM A WINDOW TUMBLING 10", STRONG, "A a 8\nguarantee 9")[-1] == "!9"
    assert transcript("EVENT Q FROM A AS a WINDOW LIFETIME a.v, 5", STRONG, "A a 8 v=2\nguarantee 9")[-1] == ""


def test_guarantees_of_alter_lifetime_over_what_is_not_revised() -> None:
    """R36: then they may be later than g, unless a shortening of Ve can reach back to it."""
    assert transcript("EVENT Q FROM C AS c WINDOW TUMBLING 3", STRONG, "guarantee 2", 0) == ["!5"]
    assert transcript("EVENT Q FROM C AS c WINDOW HOPPING 6 EVERY 3", STRONG, "guarantee 2", 0) == ["!5"]
    assert transcript("EVENT Q FROM C WINDOW LIFETIME Vs + 10, 5", STRONG, "C a 1\nguarantee 2", 0) == [
        "",
        "+a [11,16) !12",
    ]
    halved = "EVENT Q FROM C WINDOW LIFETIME Vs + 10, (Ve - Vs) DIV 2"
    assert transcript(halved, STRONG, "C a 1..9\nguarantee 6", 0)[-1] == "!6"
    near = "EVENT Q FROM C WINDOW LIFETIME Vs + 1, Ve - Vs - 2"
    assert transcript(near, MIDDLE, "C a 1..9\nguarantee 6\nguarantee 9", 0)[1:] == ["+a [2,8) !1", "!9"]


def test_guarantees_of_last_in_all_and_of_starts_that_grow() -> None:
    """R36: a LAST of ALL may still be replaced; a start that grows with Vs has a smallest."""
    query = "EVENT Q WHEN ALL(LAST A, B, 10)"
    assert transcript(query, STRONG, "A a 1\nB b 3\nguarantee 10\nguarantee 13") == ["", "", "!2", "+a b [3,11) !13"]
    other = "EVENT Q WHEN ALL(A, LAST B, 10)"
    assert transcript(other, STRONG, "A a 1\nB b 3\nguarantee 10\nguarantee 11") == ["", "", "!2", "+a b [3,11) !11"]
    start = "EVENT Q FROM A WINDOW LIFETIME GREATEST(Vs, 50), 5"
    assert transcript(start, STRONG, "A a 8\nguarantee 9\nguarantee 60") == ["", "!9", "+a [50,55) !60"]
    falling = "EVENT Q FROM A WINDOW LIFETIME Vs - (Ve - Vs), 5"
    assert transcript(falling, STRONG, "A a 8..9\nguarantee 9") == ["", ""]
    assert transcript("EVENT Q FROM A WINDOW SESSION 5", STRONG, "A a 1\nguarantee 4\nguarantee 5") == [
        "",
        "!0",
        "+a [1,6) !5",
    ]


def test_a_predicate_over_an_open_end_is_undecided() -> None:
    """R36: until g reaches the Ve it reads."""
    query = "EVENT Q WHEN ANY(A AS a) WHERE {a.Ve > 10}"
    assert transcript(query, STRONG, "A a 1..20\nguarantee 15\nguarantee 20") == ["", "!0", "+a [1,2) !20"]


def test_memory_freezes_the_past() -> None:
    """R34: at WEAK a row whose end lies before the h of earlier batches is not touched any more."""
    assert transcript(UNLESS, WEAK, "A a 1\nA x 5\nB b 3\nA y 20\nB c 4") == [
        "+a [1,6)",
        "+x [5,10)",
        "-a",
        "+y [20,25)",
        "",
    ]
    assert transcript(UNLESS, WEAK, "A y 20\nA a 1")[-1] == ""
    assert transcript(UNLESS, MIDDLE, "A y 20\nA a 1")[-1] == "+a [1,6)"


def test_a_broken_guarantee_changes_nothing() -> None:
    """R39: it is a dead letter with its reason."""
    running = engine(UNLESS, MIDDLE)
    assert steps(running, "A a 1\nguarantee 9\nB b 3") == ["+a [1,6)", "!9", ""]
    assert [(d.position, d.code) for d in running.dead_letters] == [(3, "broken-guarantee")]


def test_the_removal_of_a_forgotten_modification_is_a_dead_letter() -> None:
    """R34: as if not sent."""
    running = engine("EVENT Q WHEN ANY(A AS a) OUTPUT a.v AS v", WEAK)
    steps(running, "A a 1 v=1\nA a 1 @3 v=2 K=m\nA z 50 v=9\nretract m")
    assert [d.code for d in running.dead_letters] == ["removal-too-late"]


def test_switching_takes_effect_with_the_next_batch() -> None:
    """R38: for everything not yet said; what was said stays."""
    running = engine(UNLESS, STRONG)
    assert steps(running, "A a 1\nA x 2") == ["", ""]
    running.switch(MIDDLE)
    assert steps(running, "B b 4", 3) == [""]
    assert steps(running, "A y 20", 4) == ["+y [20,25)"]
    running.switch(STRONG)
    assert steps(running, "B c 21\nguarantee 30", 5) == ["", "-y !30"]


def test_switching_at_a_sync_point_waits() -> None:
    """R38: AT SYNC POINT waits until nothing said is provisional."""
    running = engine(UNLESS, MIDDLE)
    running.step([message("A a 1")], 1)
    running.switch(STRONG, at_sync_point=True)
    running.step([message("A x 2")], 2)
    assert running.level == MIDDLE
    running.step([message("guarantee 30")], 3)
    assert running.level == STRONG


def test_a_batch_has_one_cedr_time_and_says_only_its_net_effect() -> None:
    """R40: inserted and withdrawn within the batch never leaves it; what leaves is in the order of Sync."""
    running = engine(UNLESS, MIDDLE)
    batch = [message(m) for m in ("A z 9", "A a 1", "B b 3")]
    changes = running.step(batch, 7)
    assert [say(c) for c in changes] == ["+z [9,14)"]
    assert {c.cedr_time for c in changes} == {7}


@pytest.mark.parametrize("level", [STRONG, MIDDLE, WEAK])
def test_all_levels_agree_at_a_sync_point(level: ConsistencyLevel) -> None:
    """R35, Definitions 3 to 5: at the end of an orderly stream all have said the same."""
    running = engine(UNLESS, level)
    steps(running, "A a 1\nguarantee 1\nB b 3\nguarantee 3\nA c 7\nguarantee 7\nguarantee 20")
    assert [(e.id, e.valid_start) for e in running.said] == [("c", 7)]


def test_a_row_that_comes_back_has_a_new_key() -> None:
    """R8: K is (ID, Os, CEDR time), so that reduction does not swallow it."""
    running = engine(UNLESS, MIDDLE)
    changes = [c for t, m in enumerate(("A a 1", "B b 3 K=k", "retract k"), 1) for c in running.step([message(m)], t)]
    assert [say(c) for c in changes] == ["+a [1,6)", "-a", "+a [1,6)"]
    assert changes[0].message.lineage_key != changes[2].message.lineage_key  # type: ignore[union-attr]
