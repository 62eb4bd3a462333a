"""A short run in two halves, with a state between them: ``python -m tests.consistency.saved_states`` writes it.

A file of each version of the state that is still read lies in ``states``; it was written by the program of its time.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path

from cedr.connect.outgoing import message_as_line
from cedr.consistency.admission.saving import VERSION
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE, STRONG, WEAK
from cedr.model.stream import Message
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_text
from cedr.testing.histories import small_catalog
from tests.semantics.stepping import message

FOLDER = Path(__file__).parent / "states"
CATALOG = small_catalog("A", "B", revisable=FOREVER)
PLAN = compile_text("EVENT Q WHEN UNLESS(SEQUENCE(A x, B y, 9), A z, 2) WHERE CorrelationKey(k, EQUAL)", CATALOG)
BEFORE = (
    "A a0 1 k=1 v=1 s=a",
    "B b0 3 k=1 v=2 s=b",
    "A a1 2 k=2 v=1 s=a",
    "B b1 3 k=2 v=2 s=ü",
    "A a2 4 k=2 v=3 s=a",
    "guarantee 2",
    "retract A/a2@4",
)
AFTER = ("B b2 7 k=1 v=3 s=c", "A a3 4 k=1 v=3 s=a", "A a4 8 k=2 v=3 s=a", "retract A/a1@2", "guarantee 12")


def begun() -> Pipeline:
    """A pipeline of the query at three levels."""
    return Pipeline(PLAN.queries["Q"].plan, (STRONG, MIDDLE, WEAK), CATALOG)


def said(pipeline: Pipeline, lines: tuple[str, ...], first: int) -> list[list[str]]:
    """What is said about messages, one a step, level by level."""
    found: list[list[str]] = []
    for time, line in enumerate(lines, first):
        arrived: Message = message(line)
        for changes in pipeline.step([arrived], time):
            found.append([message_as_line(change.message) for change in changes.to_changes()])
    return found


def saved() -> dict[str, str]:
    """The state after the first half."""
    pipeline = begun()
    said(pipeline, BEFORE, 1)
    return {name: b64encode(part).decode() for name, part in pipeline.state().items() if part is not None}


def restored(written: dict[str, str]) -> Pipeline:
    """A pipeline that goes on from a state."""
    pipeline = begun()
    pipeline.restore({name: b64decode(part) for name, part in written.items()})
    return pipeline


def main() -> None:
    """Write the state of this version."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(saved(), indent=1, sort_keys=True)
    (FOLDER / f"version-{VERSION}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
