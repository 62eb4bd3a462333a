"""The words that describe data: each is checked, and what is wrong is said."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cedr.data.words import constant, words_of
from cedr.diagnostics.exceptions import StreamError


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"tme": "ts"},
            'error[unknown-word]: there is no word "tme" to describe data\n    = hint: did you mean time=?',
        ),
        ({"time": 3}, "error[bad-word]: time= must be the name of a column, not 3"),
        (
            {"time_unit": "minutes"},
            "error[bad-word]: time_unit= must be one of s, ms, us, ns, ticks, not 'minutes'",
        ),
        ({"truncate": "yes"}, "error[bad-word]: truncate= must be True or False, not 'yes'"),
        ({"zone": "Mars"}, 'error[bad-word]: zone= must be a zone such as "UTC" or "Europe/Berlin", not \'Mars\''),
        ({"separator": "::"}, "error[bad-word]: separator= must be one character, not '::'"),
        ({"attributes": 3}, "error[bad-word]: attributes= must be a list of columns, not 3"),
        ({"format": "xlsx"}, "error[bad-word]: format= must be one of csv, json, parquet, not 'xlsx'"),
        (
            {"disorder": "soon"},
            "error[bad-duration]: disorder= is 'soon', which is not a length of time\n"
            '    = hint: write "10 minutes", a timedelta or ticks',
        ),
        ({"disorder": -1}, "error[bad-duration]: disorder= is -1"),
        ({"idle": "1 minute"}, "error[unknown-word]: a file or a table is never silent: idle= means nothing"),
    ],
)
def test_a_wrong_word_is_an_error_that_says_what_is_right(words: dict[str, Any], message: str) -> None:
    with pytest.raises(StreamError) as raised:
        words_of(words)
    assert str(raised.value).startswith(message)


def test_durations_are_taken_in_every_form() -> None:
    """R50: whether a unit was named is kept."""
    for given, ticks, unit in (("2 seconds", 2_000_000, True), (timedelta(seconds=2), 2_000_000, True), (7, 7, False)):
        words = words_of({"disorder": given})
        assert (words.disorder, words.disorder_has_unit) == (ticks, unit)
    assert words_of({"disorder": "7"}).disorder_has_unit is False


def test_what_stands_in_quotes_is_a_constant() -> None:
    assert (constant("'TX'"), constant("TX"), constant("''")) == ("TX", None, None)
    assert "provider" not in words_of({"provider": "'plant 1'"}).columns()
    assert words_of({"provider": "who"}).columns() == {"time": "time", "provider": "who"}
