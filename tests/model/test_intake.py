"""The intake: faults of delivery, guarantees, counts.  Readings: R3, R33, R39, R41."""

from __future__ import annotations

import pytest
from hypothesis import given

from cedr.model.event import Event, primitive
from cedr.model.intake import Accepted, DeadLetter, Intake, rows_of
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, Message, Retract, insert
from cedr.model.time import BEGINNING, FOREVER
from cedr.testing.difference import assert_same_table
from tests.model.strategies import REVISABLE, Path, paths


def take(*messages: Message, catalog: EventTypes = REVISABLE, providers: tuple[str, ...] = ()) -> Intake:
    intake = Intake(catalog, providers)
    for message in messages:
        intake.receive(message)
    return intake


def codes(intake: Intake) -> list[tuple[int, str]]:
    return [(letter.position, letter.code) for letter in intake.dead_letters(final=True)]


def row(
    id_: str = "a",
    vs: int = 5,
    *,
    valid_end: int = FOREVER,
    occurrence_start: int | None = None,
    occurrence_end: int = FOREVER,
) -> Event:
    return primitive("S", id_, vs, valid_end, occurrence_start=occurrence_start, occurrence_end=occurrence_end)


def test_a_message_is_accepted_with_its_sync() -> None:
    """Readings: R7, R33."""
    intake = Intake(REVISABLE)
    said = insert(row(), "K")
    assert intake.receive(said) is None
    assert intake.receive(Retract("K", valid_end=9), position=40) is None
    assert intake.accepted == [Accepted(1, said, 5), Accepted(40, Retract("K", valid_end=9), 9)]
    assert (intake.high, intake.guarantee, intake.counts.received) == (9, BEGINNING, 2)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (insert(row(vs=2**63)), "time-out-of-range"),
        (insert(row(vs=FOREVER)), "time-out-of-range"),
        (insert(row(vs=BEGINNING)), "time-out-of-range"),
        (insert(row(valid_end=2**70)), "time-out-of-range"),
        (insert(row(occurrence_end=BEGINNING)), "time-out-of-range"),
        (Retract("K", occurrence_end=-(2**70)), "time-out-of-range"),
        (Retract("K", valid_end=2**63), "time-out-of-range"),
        (Guarantee(2**63), "time-out-of-range"),
        (insert(row(valid_end=4)), "valid-end-before-start"),
        (insert(row(occurrence_end=4)), "occurrence-end-before-start"),
    ],
)
def test_messages_that_make_no_sense_by_themselves(message: Message, code: str) -> None:
    """Readings: R1, R2: 64 bits; an interval does not end before it starts."""
    intake = Intake(REVISABLE)
    letter = intake.receive(message)
    assert letter is not None
    assert letter == DeadLetter(code, letter.reason, message, 1)
    assert intake.dead_letters() == [letter]
    assert (intake.rows(), intake.high) == ({}, BEGINNING)


def test_extreme_times_that_do_make_sense() -> None:
    """Reading: R1."""
    intake = take(insert(row(vs=BEGINNING + 1), "K"), insert(row("b", FOREVER - 1), "L"), Guarantee(FOREVER))
    assert codes(intake) == []
    assert intake.guarantee == intake.high == FOREVER


def test_a_detection_and_a_row_that_never_was() -> None:
    """Reading: R5: Ve = Vs from the start is a row; Oe = Os is none, but no fault either."""
    intake = take(insert(row(valid_end=5)), insert(row("b", occurrence_end=5)))
    assert [event.id for event in intake.rows()["S"]] == ["a"]
    assert codes(intake) == []


def test_identical_messages_are_ignored_and_counted() -> None:
    """Reading: R41: also after a guarantee, and also while a retraction waits."""
    twice: list[Message] = [Retract("K", valid_end=9), insert(row(), "K"), Guarantee(20)]
    intake = take(*(message for message in twice for _ in range(2)), *twice)
    assert intake.counts.duplicates == 6
    assert codes(intake) == []
    assert_same_table(intake.rows()["S"], "| ID | Vs | Ve |\n| a | 5 | 9 |")


def test_a_retraction_to_the_inserted_ends_says_nothing() -> None:
    """Reading: R41: equal is a duplicate."""
    intake = take(insert(row(valid_end=9), "K"), Retract("K", valid_end=9), Retract("K", occurrence_end=FOREVER))
    assert (intake.counts.duplicates, len(intake.accepted), intake.high) == (2, 1, 5)


def test_one_key_with_other_content() -> None:
    """Reading: R41."""
    intake = take(insert(row(), "K"), insert(row(vs=6), "K"))
    assert codes(intake) == [(2, "key-reused")]


def test_a_second_live_row_of_one_id_and_occurrence_start() -> None:
    """Reading: R41: under another K it is a dead letter, unless the first was removed; other streams do not count."""
    one, other = insert(row(), "K"), insert(row(valid_end=9), "L")
    assert codes(take(one, other)) == [(2, "second-live-row")]
    elsewhere = insert(primitive("T", "a", 5), "M")
    for removal in (Retract("K"), Retract("K", occurrence_end=5), Retract("K", valid_end=5)):
        intake = take(one, removal, other, elsewhere)
        assert codes(intake) == []
        assert_same_table(intake.rows()["S"], "| ID | Vs | Ve |\n| a | 5 | 9 |")
    assert codes(take(one, insert(row(occurrence_end=5), "L"))) == []


def test_a_retraction_waits_for_its_insert() -> None:
    """Reading: R41: it takes effect with the insert, with the position at which it came."""
    intake = take(Retract("K", valid_end=9))
    assert (intake.rows(), intake.accepted, intake.high) == ({}, [], 9)
    intake.receive(insert(row(), "K"))
    assert [(accepted.position, accepted.sync) for accepted in intake.accepted] == [(2, 5), (1, 9)]
    assert_same_table(intake.rows()["S"], "| ID | Vs | Ve |\n| a | 5 | 9 |")


def test_a_retraction_whose_insert_never_comes() -> None:
    """Reading: R41: a dead letter once g reaches its Sync, or when the input ends."""
    intake = take(Retract("K", occurrence_end=7), Retract("K", occurrence_end=9), Retract("L"), Guarantee(6))
    assert intake.dead_letters() == []
    intake.receive(Guarantee(7))
    assert [letter.position for letter in intake.dead_letters()] == [1]
    intake.receive(Guarantee(9))
    assert [letter.position for letter in intake.dead_letters()] == [1, 2]
    assert codes(intake) == [(position, "retraction-without-insert") for position in (1, 2, 3)]
    intake.receive(Guarantee(FOREVER))
    assert len(intake.dead_letters()) == 3


def test_a_retraction_of_a_row_that_can_no_longer_come() -> None:
    """Reading: R37: it raises h, is counted, and is no dead letter: its row may be forgotten elsewhere."""
    intake = take(Guarantee(4), Retract("S/a@3", valid_end=6), Retract("S/b@5", valid_end=7))
    assert (intake.high, intake.counts.unknown) == (7, 1)
    assert codes(intake) == [(3, "retraction-without-insert")]


def test_a_retraction_that_found_its_insert_does_not_expire() -> None:
    """Reading: R41."""
    intake = take(Retract("K", occurrence_end=7), insert(row(), "K"), Guarantee(8))
    assert codes(intake) == []


def test_a_retraction_never_lengthens() -> None:
    """Reading: R3.  Judged against the insert, so that the order of two retractions does not matter."""
    said = insert(row(valid_end=20, occurrence_end=30), "K")
    assert codes(take(said, Retract("K", valid_end=21))) == [(2, "lengthening-retraction")]
    assert codes(take(said, Retract("K", occurrence_end=31))) == [(2, "lengthening-retraction")]
    assert codes(take(Retract("K", valid_end=21), said)) == [(1, "lengthening-retraction")]
    stale = take(said, Retract("K", valid_end=8), Retract("K", valid_end=10))
    assert codes(stale) == []
    assert stale.rows()["S"][0].valid_end == 8


def test_a_retraction_to_before_the_start() -> None:
    """Reading: R5: Oe <= Os removes the row; a Ve before Vs is no interval."""
    removed = take(insert(row(), "K"), Retract("K", occurrence_end=3))
    assert (codes(removed), removed.rows()) == ([], {})
    assert codes(take(insert(row(), "K"), Retract("K", valid_end=4))) == [(2, "valid-end-before-start")]


def test_a_broken_guarantee_is_a_dead_letter() -> None:
    """Reading: R39: Sync <= the guarantee; what it says changes nothing."""
    intake = take(insert(row(), "K"), Guarantee(7), insert(row("b", 7)), insert(row("c", 8)))
    assert codes(intake) == [(3, "broken-guarantee")]
    assert [event.id for event in intake.rows()["S"]] == ["a", "c"]
    for number, broken in enumerate((Retract("K"), Retract("K", valid_end=7), Retract("K", occurrence_end=6))):
        letter = intake.receive(broken)
        assert letter is not None
        assert (letter.code, letter.position) == ("broken-guarantee", 5 + number)
    assert intake.receive(Retract("K", valid_end=8)) is None
    assert intake.high == 8


def test_a_waiting_retraction_is_judged_by_the_guarantee_it_met() -> None:
    """Readings: R39, R41."""
    assert codes(take(Guarantee(7), Retract("K", occurrence_end=7))) == [(2, "broken-guarantee")]
    late_statement = insert(row(vs=1, occurrence_start=20), "K")
    assert codes(take(Guarantee(7), Retract("K", valid_end=4), Guarantee(12), late_statement)) == []
    intake = take(Retract("K", valid_end=9), Guarantee(3), insert(row(), "K"), Guarantee(30))
    assert codes(intake) == []


def test_a_waiting_retraction_of_another_provider_may_break_its_own_guarantee() -> None:
    """Reading: R39: each provider is bound by its own word only."""
    messages: list[Message] = [
        insert(row("z", 1), provider="slow"),
        Guarantee(7, "fast"),
        Retract("K", valid_end=6, provider="fast"),
        insert(row(), "K", provider="slow"),
    ]
    assert codes(take(*messages)) == [(3, "broken-guarantee")]


def test_a_guarantee_that_goes_back_is_no_guarantee() -> None:
    """Reading: R3: it is ignored and counted; the same one again is a duplicate."""
    intake = take(Guarantee(7), Guarantee(5), Guarantee(7))
    assert (intake.guarantee, intake.high) == (7, 7)
    assert (intake.counts.regressing_guarantees, intake.counts.duplicates) == (1, 1)


def test_of_several_providers_the_smallest_counts() -> None:
    """Reading: R33: g; h is the largest Sync or guarantee of any."""
    intake = take(insert(row(), provider="p"), insert(row("b"), provider="q"), Guarantee(9, "p"))
    assert (intake.guarantee, intake.high) == (BEGINNING, 9)
    intake.receive(Guarantee(7, "q"))
    assert intake.guarantee == 7
    assert intake.receive(insert(row("c", 8), provider="q")) is None
    letter = intake.receive(insert(row("d", 8), provider="p"))
    assert letter is not None
    assert letter.code == "broken-guarantee"


def test_a_guarantee_without_provider_speaks_for_all() -> None:
    """Readings: R3, R39."""
    intake = take(insert(row(), provider="p"), insert(row("b")), Guarantee(9))
    assert intake.guarantee == 9
    assert intake.receive(Guarantee(6, "p")) is None
    assert intake.counts.regressing_guarantees == 1
    for provider in ("p", "q", None):
        letter = intake.receive(insert(row("c", 9), provider=provider))
        assert letter is not None
        assert letter.code == "broken-guarantee"


def test_messages_without_a_provider_are_held_to_what_all_have_promised() -> None:
    """Readings: R33, R39: naming sources only on guarantees is enough; the smallest of them binds."""
    intake = take(insert(row()), Guarantee(9, "p"), Guarantee(7, "q"), providers=("p", "q"))
    assert intake.guarantee == 7
    assert intake.receive(insert(row("b", 8))) is None
    letter = intake.receive(insert(row("c", 7)))
    assert letter is not None
    assert letter.code == "broken-guarantee"


def test_g_never_goes_back_for_a_provider_that_joins_late() -> None:
    """Readings: R33, R39: what was promised up to g is final; announced providers are waited for."""
    late: list[Message] = [
        Guarantee(9, "p"),
        insert(row("b", 6), provider="q"),
        insert(row("c", 12), provider="q"),
        Guarantee(20, "p"),
    ]
    intake = take(*late)
    assert codes(intake) == [(2, "broken-guarantee")]
    assert intake.guarantee == 9
    announced = take(*late, providers=("p", "q"))
    assert codes(announced) == []
    assert announced.guarantee == BEGINNING


def test_rows_come_by_stream_in_one_order() -> None:
    """Readings: R4, R5: the arrival does not show."""
    messages = [insert(primitive(stream, id_, vs)) for stream, id_, vs in (("T", "x", 9), ("S", "b", 2), ("S", "a", 2))]
    rows = take(*messages).rows()
    assert {stream: [event.id for event in events] for stream, events in rows.items()} == {"S": ["a", "b"], "T": ["x"]}


def test_rows_of_ignores_what_it_cannot_place() -> None:
    """A subset of accepted messages: retractions without their insert, guarantees, an insert twice."""
    said = insert(row(), "K")
    assert rows_of([Retract("X"), Guarantee(3), said, said], REVISABLE) == {"S": [row()]}


@given(paths())
def test_the_arrival_order_does_not_matter(path: Path) -> None:
    """Readings: R3, R4, R5, R41: any order of inserts, modifications and retractions gives the same rows."""
    winding, direct = take(*path.winding), take(*path.direct)
    assert winding.rows() == direct.rows()
    assert codes(winding) == codes(direct) == []
    assert rows_of([accepted.message for accepted in winding.accepted], REVISABLE) == winding.rows()
    assert rows_of(path.winding, REVISABLE) == winding.rows()
    ends = [message.first_end for message in path.winding if isinstance(message, Retract)]
    least = max((accepted.sync for accepted in winding.accepted), default=BEGINNING)
    assert least <= winding.high <= max([least, *(end for end in ends if end is not None)])


@given(paths())
def test_everything_twice_is_everything_once(path: Path) -> None:
    """Reading: R41."""
    once, twice = take(*path.winding), take(*path.winding, *path.winding)
    assert (twice.rows(), twice.accepted, twice.high) == (once.rows(), once.accepted, once.high)
    assert twice.counts.duplicates >= len(path.winding)


def test_twenty_thousand_messages_are_no_matter() -> None:
    inserts = [insert(primitive("S", f"a{n}", n, payload={"x": n})) for n in range(10_000)]
    retractions = [Retract(said.lineage_key, valid_end=n + 50) for n, said in enumerate(inserts[:5_000])]
    changes: list[Insert] = [insert(primitive("S", f"a{n}", n, occurrence_start=n + 9)) for n in range(5_000)]
    intake = take(*changes, *retractions, *inserts)
    assert len(intake.rows()["S"]) == 15_000
    assert len(intake.accepted) == 20_000
