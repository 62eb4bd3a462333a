"""How generated messages arrive: shares as asked, guarantees that are kept, the same whatever the chunks."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from cedr.connect.delivery import GUARANTEE, INSERT, RETRACTION, REVISION, Delivery, Disorder
from cedr.connect.generated import Rendering, types_of
from cedr.connect.machines import Fleet, Story
from cedr.connect.messages import MessageFile, take_messages
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.event_types import declared_types
from cedr.language.parse import parse
from cedr.model.intake import Intake
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, Retract
from cedr.model.time import FOREVER, HOUR, MINUTE, SECOND

STORY = Story(events=20_000, machines=200, seed=11)
EVERYTHING = Disorder(0.1, HOUR, 0.01, 0.05, 0.04, 0.03, 20 * MINUTE)


def delivered(story: Story, disorder: Disorder) -> tuple[Delivery, np.ndarray]:
    delivery = Delivery(Fleet(story), disorder)
    return delivery, np.concatenate(list(delivery.codes()))


def read(story: Story, disorder: Disorder, catalog: EventTypes | None = None) -> tuple[Delivery, MessageFile]:
    delivery, codes = delivered(story, disorder)
    text = bytes(Rendering(delivery).lines(codes)).decode()
    return delivery, take_messages(map(json.loads, text.splitlines()), catalog)


@pytest.mark.parametrize("chunk", [1, 7, 1_000, 1 << 20])
@pytest.mark.parametrize("disorder", [Disorder(), EVERYTHING, replace(EVERYTHING, delay=5 * HOUR, guarantees=SECOND)])
def test_what_arrives_does_not_depend_on_the_chunks(chunk: int, disorder: Disorder) -> None:
    story = Story(events=1_500, machines=20, span=6 * HOUR)
    whole = Delivery(Fleet(story), disorder)
    parts = Delivery(Fleet(story), disorder)
    expected = np.concatenate(list(whole.codes()))
    assert (np.concatenate(list(parts.codes(chunk))) == expected).all()
    assert parts.counts == whole.counts


def test_in_order_everything_arrives_once_by_its_time() -> None:
    delivery, codes = delivered(STORY, Disorder())
    inserts = codes[codes & 3 == INSERT] >> 2
    vs = delivery.fleet.first(inserts).vs
    assert (np.sort(inserts) == np.arange(20_000)).all()
    assert (np.diff(vs) >= 0).all()
    assert delivery.counts.messages == len(codes) == 20_000 + delivery.counts.guarantees
    assert 398 <= delivery.counts.guarantees <= 401


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
@pytest.mark.parametrize("name", ["late", "lost", "twice", "corrected", "retracted"])
def test_shares_are_as_asked(name: str, share: float) -> None:
    delivery, codes = delivered(STORY, Disorder(**{name: share}))  # type: ignore[arg-type]
    counts = delivery.counts
    assert abs(getattr(counts, name) - share * 20_000) <= 4 * (20_000 * share * (1 - share)) ** 0.5
    others = {"late", "lost", "twice", "corrected", "retracted"} - {name}
    assert [getattr(counts, other) for other in others] == [0, 0, 0, 0]
    kinds = Counter((codes & 3).tolist())
    assert kinds[INSERT] == 20_000 - counts.lost + counts.twice
    assert kinds[REVISION] == counts.corrected
    assert kinds[RETRACTION] == counts.retracted
    assert kinds[GUARANTEE] == counts.guarantees


def test_late_is_out_of_order_and_never_later_than_asked() -> None:
    delivery, codes = delivered(STORY, Disorder(late=0.2, delay=30 * MINUTE))
    vs = delivery.fleet.first(codes[codes & 3 == INSERT] >> 2).vs
    behind = np.maximum.accumulate(vs) - vs
    assert (behind > 0).mean() > 0.15
    assert 25 * MINUTE < behind.max() <= 30 * MINUTE


@pytest.mark.parametrize(
    "disorder",
    [
        Disorder(),
        Disorder(late=0.5, delay=2 * HOUR),
        Disorder(retracted=0.5, within=HOUR),
        Disorder(corrected=0.5, within=HOUR, late=0.2, delay=10 * MINUTE),
        Disorder(twice=0.5, delay=HOUR),
        EVERYTHING,
        replace(EVERYTHING, guarantees=SECOND),
    ],
    ids=["in order", "late", "retracted", "corrected", "twice", "everything", "often"],
)
def test_guarantees_are_sound_and_nothing_else_is_wrong(disorder: Disorder) -> None:
    """R39, R41: the only dead letters are retractions whose insert was lost."""
    story = replace(STORY, events=4_000)
    delivery = Delivery(Fleet(story), disorder)
    catalog = declared_types(parse(types_of(delivery) + "EVENT Q WHEN ANY(INSTALL)"))
    delivery, found = read(story, disorder, catalog)
    assert found.dead_letters == []
    intake = Intake(catalog)
    for _, message in found.messages:
        intake.receive(message)
    codes = Counter(letter.code for letter in intake.dead_letters(final=True))
    assert codes == Counter({"retraction-without-insert": delivery.counts.orphaned} if delivery.counts.orphaned else {})
    assert intake.guarantee == FOREVER
    promised = [message.time for _, message in found.messages if isinstance(message, Guarantee)]
    assert promised == sorted(set(promised))
    repeated = intake.counts.duplicates
    assert (repeated > 0) == (disorder.twice > 0)


def test_guarantees_follow_as_closely_as_they_can() -> None:
    """Without disorder a guarantee reaches up to the moment at which it is given."""
    delivery, codes = delivered(STORY, Disorder(guarantees=MINUTE))
    guarantees = np.flatnonzero(codes & 3 == GUARANTEE)[:-1]
    promised = delivery.guaranteed(codes[guarantees] >> 2)
    following = delivery.fleet.first(codes[guarantees + 1] >> 2)
    plain = codes[guarantees + 1] & 3 == INSERT
    assert (following.vs[plain] > promised[plain]).all()
    assert np.median(following.vs[plain] - promised[plain]) < MINUTE


def test_retractions_may_overtake_what_they_retract() -> None:
    """R41."""
    _, found = read(replace(STORY, events=2_000), Disorder(late=0.5, retracted=0.3))
    seen: set[str] = set()
    overtaken = 0
    for _, message in found.messages:
        if isinstance(message, Insert):
            seen.add(message.lineage_key)
        elif isinstance(message, Retract):
            assert message.removes
            overtaken += message.lineage_key not in seen
    assert overtaken > 100


def test_a_correction_is_a_later_version_of_its_event() -> None:
    """R4, R37."""
    delivery, found = read(replace(STORY, events=2_000), Disorder(corrected=0.5))
    versions: dict[str, list[Insert]] = {}
    for _, message in found.messages:
        if isinstance(message, Insert):
            versions.setdefault(message.event.id, []).append(message)
    corrected = [pair for pair in versions.values() if len(pair) == 2]
    assert len(corrected) == delivery.counts.corrected > 900
    for first, second in corrected:
        assert second.event.occurrence_start > first.event.occurrence_start
        assert second.event.occurrence_start - first.event.valid_start <= 10 * MINUTE
        assert (first.event.valid_start, first.event.payload) != (second.event.valid_start, second.event.payload)
    assert {event_type.revisable for event_type in found.types} == {FOREVER}


def test_what_all_comes_at_the_end_still_comes_in_pieces() -> None:
    delivery = Delivery(Fleet(STORY), Disorder(late=1.0, delay=240 * HOUR))
    pieces = [len(codes) for codes in delivery.codes(1_000)]
    assert max(pieces) <= 1_000
    assert sum(pieces) == delivery.counts.messages > 20_000


@pytest.mark.parametrize(
    "story",
    [
        Story(events=1, machines=1),
        Story(events=1_000, machines=1, span=1),
        Story(events=1_000, start=-(10**15), span=HOUR),
        Story(events=1_000, span=10_000 * 24 * HOUR, seed=-1),
    ],
)
def test_small_dense_early_and_long_stories_are_told_too(story: Story) -> None:
    delivery, found = read(story, replace(EVERYTHING, guarantees=None))
    assert found.dead_letters == []
    intake = Intake(found.types)
    for _, message in found.messages:
        intake.receive(message)
    assert len(intake.dead_letters(final=True)) == delivery.counts.orphaned


def test_more_guarantees_than_anyone_needs_are_refused() -> None:
    with pytest.raises(StreamError, match="a guarantee every 1 would be"):
        Delivery(Fleet(STORY), Disorder(guarantees=1))


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"late": -0.1}, "bad-share"),
        ({"lost": 1.1}, "bad-share"),
        ({"twice": float("nan")}, "bad-share"),
        ({"corrected": 0.6, "retracted": 0.5}, "bad-share"),
        ({"delay": 0}, "bad-duration"),
        ({"within": -1}, "bad-duration"),
        ({"guarantees": 0}, "bad-duration"),
        ({"delay": FOREVER}, "bad-duration"),
    ],
)
def test_a_disorder_that_cannot_be_is_refused(wrong: dict[str, float], code: str) -> None:
    with pytest.raises(StreamError) as caught:
        Disorder(**wrong)  # type: ignore[arg-type]
    assert caught.value.diagnostics[0].code == code
