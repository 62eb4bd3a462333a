"""Messages as lines of a file, and back.  Reading: R3."""

from __future__ import annotations

import json

from hypothesis import given

from cedr.connect.messages import take_messages
from cedr.connect.outgoing import message_as_data, message_as_line
from cedr.model.event import primitive
from cedr.model.stream import Guarantee, Retract, insert
from cedr.model.time import FOREVER
from cedr.testing import strategies as some
from cedr.testing.arrivals import Batches

CATALOG = some.small_catalog(revisable=FOREVER)
ARRIVALS = some.revised_histories(CATALOG).flatmap(lambda history: some.arrivals(history, revised=True))


@given(ARRIVALS)
def test_what_is_written_is_read_again(batches: Batches) -> None:
    """R2, R3: defaults are left out and come back."""
    messages = [message for batch in batches for message in batch]
    read = take_messages([json.loads(message_as_line(message)) for message in messages], CATALOG)
    assert read.dead_letters == []
    assert [message for _, message in read.messages] == messages


def test_a_line_says_no_more_than_its_provider() -> None:
    row = primitive("A", "a", 3, 7, occurrence_start=2, occurrence_end=9, payload={"x": 1})
    assert message_as_data(insert(row, "K", "s")) == {
        "insert": {"type": "A", "id": "a", "vs": 3, "ve": 7, "os": 2, "oe": 9, "k": "K", "payload": {"x": 1}},
        "source": "s",
    }
    assert message_as_data(insert(primitive("A", "a", 3))) == {"insert": {"type": "A", "id": "a", "vs": 3}}
    assert message_as_data(Retract("K", occurrence_end=4)) == {"retract": {"k": "K", "oe": 4}}
    assert message_as_data(Retract("K")) == {"retract": {"k": "K"}}
    assert message_as_data(Guarantee(4, "s")) == {"guarantee": 4, "source": "s"}
