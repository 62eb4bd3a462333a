"""What one step of a bucket gives, before it becomes rows of the result or input of the next stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cedr.consistency.emission.changes import Changes
from cedr.model.stream import Guarantee
from cedr.model.time import BEGINNING, Time
from cedr.spark.layout.read_faults import Letter


class StepOutput(NamedTuple):
    """The output of one step, at one CEDR time."""

    time: Time
    changes: list[Changes]
    """What each level emitted."""
    letters: list[Letter]
    high: Time = BEGINNING
    """h of the input.  The next stage must know it, and the guarantees too.  Reading: R33."""
    guarantees: Sequence[Guarantee] = ()
    """Guarantees about the input that the bucket received in this step."""
    before: Mapping[str, int] = Counter()
    """Measures of the earlier stages."""
