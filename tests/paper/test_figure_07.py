"""Figure 7: the anatomy of an operator, a consistency monitor in front of an operational module.

Paper: Section 5: "A consistency monitor decides whether to block the input stream in an alignment buffer until output
may be produced which upholds the desired level of consistency.  The operational module computes the output stream …
CEDR operators also annotate the output with a corresponding set of future output guarantees."  Readings: R33, R36.
"""

from __future__ import annotations

from cedr.model.level import MIDDLE, STRONG, Bound, ConsistencyLevel
from cedr.model.time import FOREVER
from tests.semantics.stepping import engine, message, say

SEQUENCE = "EVENT Q WHEN SEQUENCE(A, B, 10)"


def test_the_monitor_blocks_until_the_input_is_aligned() -> None:
    """Figure 7: out of order input waits in the alignment buffer; the guarantee lets it through, in order."""
    running = engine(SEQUENCE, STRONG)
    held, said = [], []
    for time, line in enumerate(("B b2 6", "A a1 1", "B b1 4", "guarantee 4", "A a2 5", "guarantee 6"), 1):
        said.append([say(change) for change in running.step([message(line)], time)])
        held.append(running.held)
    assert held == [1, 2, 3, 1, 2, 0]
    assert said == [[], [], [], ["+a1 b1 [4,11)", "!4"], [], ["+a1 b2 [6,11)", "+a2 b2 [6,15)", "!6"]]


def test_without_blocking_the_buffer_is_empty() -> None:
    """Figure 7: at the middle level everything goes to the operational module at once."""
    running = engine(SEQUENCE, MIDDLE)
    for time, line in enumerate(("B b2 6", "A a1 1", "B b1 4"), 1):
        running.step([message(line)], time)
        assert running.held == 0


def test_blocking_for_a_while() -> None:
    """Figure 7, R33: the buffer holds what is younger than B; a late message within B takes its place in order."""
    running = engine(SEQUENCE, ConsistencyLevel(Bound(3), Bound(FOREVER)))
    said = []
    for time, line in enumerate(("B b1 4", "A a1 2", "B b2 7", "B b3 10"), 1):
        said.append([say(change) for change in running.step([message(line)], time)])
    assert said == [[], [], ["+a1 b1 [4,12)"], ["+a1 b2 [7,12)"]]
    assert running.held == 1


def test_guarantees_go_in_and_come_out() -> None:
    """Figure 7: an operator with a scope of negation hands on less than it got, until the scope is over (R36)."""
    running = engine("EVENT Q WHEN UNLESS(A, B, 5)", STRONG)
    lines = ("A a 3", "guarantee 2", "guarantee 5", "guarantee 7")
    said = [[say(change) for change in running.step([message(line)], time)] for time, line in enumerate(lines, 1)]
    assert said == [[], ["!2"], [], ["+a [3,8)", "!7"]]


def test_operators_form_a_pipeline() -> None:
    """Figure 7: "composable operators that can be combined to form a pipelined query execution plan"."""
    running = engine("EVENT P WHEN SEQUENCE(A, B, 10); EVENT Q WHEN UNLESS(P, C, 5)", STRONG)
    lines = ("A a 1", "B b 3", "guarantee 3", "C c 9", "guarantee 7")
    said = [[say(change) for change in running.step([message(line)], time)] for time, line in enumerate(lines, 1)]
    assert said == [[], [], ["!2"], [], ["+a b [3,8)", "!7"]]
