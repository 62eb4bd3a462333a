"""IDs of composites and of their contributors, made in one go, are those made one by one.  Reading: R8."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.model.identity import digest, idgen
from cedr.runtime.ids.naming import contributors, names, names_and_contributors
from cedr.runtime.ids.text_ids import Recipe, TextIds

# Around what fits into a record, into a word, and into what is written without counting.
LENGTHS = st.sampled_from([0, 1, 7, 8, 9, 14, 15, 16, 17, 31, 64, 65, 300])
TEXTS = st.builds(lambda length, letter: (letter * length)[:length], LENGTHS, st.sampled_from("abz0")) | st.text(
    max_size=20
)


@pytest.mark.slow
@given(st.data(), st.integers(1, 8), st.integers(0, 300))
def test_names_and_contributors(data: st.DataObject, parts: int, rows: int) -> None:
    texts = [data.draw(st.lists(TEXTS, min_size=1, max_size=6)) for _ in range(parts)]
    streams = data.draw(st.lists(st.text(max_size=3), min_size=parts, max_size=parts))
    ids = [TextIds() for _ in texts]
    for each, some in zip(ids, texts, strict=True):
        each.extend(some)
    recipe = Recipe("Q/0", [digest(stream) for stream in streams], ids)
    random = np.random.default_rng(rows)
    chosen = [random.integers(0, len(some), rows) for some in texts]
    made_of = [[some[row] for some, row in zip(texts, at, strict=True)] for at in zip(*chosen, strict=True)]
    expected = [
        idgen("Q/0", *(part for pair in zip(streams, parts_, strict=True) for part in pair)) for parts_ in made_of
    ]
    found, of = names_and_contributors(recipe, chosen)
    assert found.to_pylist() == names(recipe, chosen).to_pylist() == expected
    assert of.to_pylist() == contributors(ids, chosen).to_pylist() == [text for parts_ in made_of for text in parts_]
    of.validate(full=True)


@pytest.mark.parametrize("length", [3, 15, 16, 40])
def test_records_move_with_their_texts(length: int) -> None:
    ids = TextIds()
    ids.extend([str(number) * length for number in range(9)])
    ids.keep(np.array([8, 2, 5]))
    ids.extend_rows(np.array([1]))
    rows = np.arange(4)
    assert contributors([ids], [rows]).to_pylist() == [str(number) * length for number in (8, 2, 5, 2)]
