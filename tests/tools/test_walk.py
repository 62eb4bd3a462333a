"""The way of a batch and of a query through the engine: short, in the order of the layers, and told by two pages."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import walk

ROOT = Path(__file__).resolve().parents[2]
_NAMED = re.compile(r"\]\(\.\./src/cedr/(?P<file>[\w/]+\.py)\)\s+\(`(?P<name>[\w.]+)`\)")
"""A link to a file, and the function of it that is on the way."""
LONGEST = (45, 25)
"""Functions and files on the way of a plain batch through the local host."""


@cache
def way(of: str) -> walk.Walk:
    ways = {"batch": walk.on_local_host, "bucket": walk.in_a_bucket, "query": walk.of_a_query}
    return ways[of]()


def test_the_way_of_a_plain_batch_does_not_grow() -> None:
    steps = way("batch").steps()
    files = {step.function.file for step in steps}
    assert len(steps) <= LONGEST[0]
    assert len(files) <= LONGEST[1]


@pytest.mark.parametrize("of", ["batch", "bucket"])
def test_no_layer_calls_an_earlier_one(of: str) -> None:
    """Measures are asked for between two steps: they are counted by all layers, and told by the emitter."""
    found = [(caller.place, to.place) for caller, to in way(of).backward() if caller.name != "Emitter.measures"]
    assert found == []


def test_a_call_back_is_found() -> None:
    earlier, later = (
        walk.Function("consistency/admission/door.py", "a"),
        walk.Function("runtime/operators/source.py", "b"),
    )
    found = walk.Walk(passes={(earlier, later): None, (later, earlier): None})
    assert found.backward() == [(later, earlier)]


def named(page: str, heading: str = "") -> list[str]:
    """The functions that a page names with their files, or that a section of it does, in order."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    section = text.partition(heading)[2].partition("\n## ")[0] if heading else text
    return [f"{found['file']}:{found['name']}" for found in _NAMED.finditer(section)]


@pytest.mark.parametrize(
    ("of", "functions"),
    [
        ("batch", named("life-of-an-event.md", "\n## 6.")),
        ("bucket", named("life-of-an-event.md", "\n## 7.")),
        ("query", named("life-of-a-query.md")),
    ],
    ids=["batch", "bucket", "query"],
)
def test_pages_tell_the_way(of: str, functions: list[str]) -> None:
    passed = [step.function.place for step in way(of).steps(walk.MATERIAL)]
    assert len(functions) > 6
    assert [function for function in functions if function not in passed] == []
    assert functions == sorted(functions, key=passed.index)


def test_the_walk_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["walk.py"])
    walk.main()
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "hosts/standing.py:Standing.take"
    assert re.fullmatch(r"\d+ functions in \d+ files", last)
