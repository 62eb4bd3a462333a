"""States that were saved, by this version and by earlier ones.  Readings: R8, R37."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pyarrow as pa
import pytest

from cedr.consistency.admission.saving import READABLE, VERSION
from cedr.consistency.encoding import as_bytes
from cedr.consistency.pipeline import Pipeline
from cedr.diagnostics.exceptions import StreamError
from cedr.model.event import primitive
from cedr.model.level import MIDDLE
from cedr.model.stream import Guarantee, insert
from cedr.plan.compile import compile_text
from cedr.testing.histories import small_catalog
from tests.consistency.saved_states import AFTER, BEFORE, FOLDER, begun, restored, said, saved


@pytest.mark.parametrize("version", READABLE)
def test_a_state_of_every_version_that_is_read_goes_on_as_if_nothing_had_happened(version: int) -> None:
    straight = begun()
    said(straight, BEFORE, 1)
    expected = said(straight, AFTER, 1 + len(BEFORE))
    assert any(expected)
    written = json.loads(Path(FOLDER / f"version-{version}.json").read_text("utf-8"))
    assert said(restored(written), AFTER, 1 + len(BEFORE)) == expected


@pytest.mark.parametrize(
    ("version", "named"),
    [
        (READABLE.start - 1, f"version {READABLE.start - 1}"),
        (VERSION + 1, f"version {VERSION + 1}"),
        (None, "no version"),
    ],
)
def test_a_state_of_another_version_is_refused_by_name(version: int | None, named: str) -> None:
    """Older ones miss what is needed, and of younger ones nothing is known: reading them could lose rows."""
    segments = {name: b64decode(part) for name, part in saved().items()} | {"meta": as_bytes({"version": version})}
    with pytest.raises(StreamError) as raised:
        begun().restore(segments)
    (found,) = raised.value.diagnostics
    assert found.code == "unknown-state-version"
    assert found.primary == f"the saved state has {named}, this program reads versions 3 to {VERSION}"
    assert found.hint is not None


def test_every_state_that_was_kept_is_read() -> None:
    """A version that is no longer read loses its file, and one that is read has one."""
    assert sorted(path.name for path in FOLDER.iterdir()) == [f"version-{version}.json" for version in READABLE]


def test_what_is_said_and_final_is_not_written() -> None:
    """Of pairs that are said with the guarantee that makes them final, nothing is ever asked for again."""
    catalog = small_catalog("A", "B")
    plan = compile_text("EVENT Q WHEN UNLESS(SEQUENCE(A x, B y, 9), A z, 2)", catalog).queries["Q"].plan
    pipeline = Pipeline(plan, MIDDLE, catalog)
    events = [primitive(kind, f"{kind}{time}", time, payload={"k": 1}) for time in range(0, 40, 4) for kind in "AB"]
    batch = [insert(event) for event in events if event.stream == "B" or event.valid_start % 8 == 0]
    (changes,) = pipeline.step([*batch, Guarantee(36)], 1)
    written = pipeline.state()["said/0/0"]
    assert written is not None
    rows = pa.ipc.open_stream(written).read_all()
    assert changes.inserts > len(rows) > 0
    assert min(rows.column("os").to_pylist()) > 34 - 2
