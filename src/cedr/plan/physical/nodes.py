"""Physical nodes: one for each operator that runs.

Each has the logical node whose rows it gives, and its inputs.  Equal parts of a plan are one node, so a plan is a graph
without cycles, and a node is compared by identity.
"""

from __future__ import annotations

from dataclasses import dataclass

from cedr.plan import logical
from cedr.plan.analyses.pattern_key import Key, Side


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """The rows of a source."""

    node: logical.Source
    inputs: tuple[()] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Rows under a variable: no operator, only a name for those of the input."""

    node: logical.Rename
    inputs: tuple[Physical]


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Projection, VALID and a query's name, from the top down: several in a row are one operator."""

    node: logical.Node
    inputs: tuple[Physical]
    steps: tuple[logical.Query | logical.Project | logical.SetValid, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """A selection."""

    node: logical.Select
    inputs: tuple[Physical]


@dataclass(frozen=True, slots=True, eq=False)
class TimeSlice:
    """A slice.  Reading: R24."""

    node: logical.Slice
    inputs: tuple[Physical]


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """A pattern, grouped by its key; ``nulls`` says for each input whether rows with a NULL key matter."""

    node: logical.Pattern
    inputs: tuple[Physical, ...]
    key: Key | None
    nulls: tuple[bool, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """ATMOST, which counts by keys of its own."""

    node: logical.AtMost
    inputs: tuple[Physical, ...]


@dataclass(frozen=True, slots=True, eq=False)
class UnlessPair:
    """UNLESS over a SEQUENCE of two, in one operator; ``sides`` group its three inputs, () where nothing does."""

    node: logical.Unless
    inputs: tuple[Physical, ...]
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Algebra:
    """Any other operator, with nothing chosen for it but its inputs."""

    node: logical.Node
    inputs: tuple[Physical, ...]


Physical = Scan | Named | Chain | Filter | TimeSlice | Match | Count | UnlessPair | Algebra
