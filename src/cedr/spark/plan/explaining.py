"""``cedr.explain`` of a DataFrame: what the query does and costs, and how Spark splits it.  Paper: Section 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cedr.plan.explain import Explanation, explain
from cedr.spark.layout.layout import Layout


@dataclass(frozen=True, slots=True)
class SparkExplanation(Explanation):
    """A plan, explained, with its buckets."""

    split: str = ""
    buckets: int = 1
    types: tuple[tuple[str, tuple[str, ...]], ...] = ()
    stages: tuple[tuple[str, str], ...] = ()
    """Where there are several: what each gives, and by what its input is split."""

    def as_text(self) -> str:
        """The plan as an indented tree, and below it how the input is split and what is read of it."""
        alone = self.stages or self.split.startswith("one bucket")
        how = self.split if alone else f"split by {self.split} into {_many(self.buckets)}"
        stages = [f"  stage {number}: {name}, split by {by}" for number, (name, by) in enumerate(self.stages, 1)]
        read = [f"  reads {name} ({', '.join(attributes)})" for name, attributes in self.types]
        return "\n".join([Explanation.as_text(self), "", f"on Spark: {how}", *stages, *read])

    def as_data(self) -> dict[str, Any]:
        """The explanation as plain data."""
        reads = {name: list(attributes) for name, attributes in self.types}
        found = {"split": self.split, "buckets": self.buckets, "reads": reads}
        if self.stages:
            found["stages"] = [{"gives": name, "split": by} for name, by in self.stages]
        return {**Explanation.as_data(self), "spark": found}

    def __str__(self) -> str:
        return self.as_text()


def _many(buckets: int) -> str:
    return "1 bucket" if buckets == 1 else f"{buckets} buckets"


def explained(layout: Layout, stages: Sequence[Layout] = ()) -> SparkExplanation:
    """What the query of a layout does; ``stages``: how it is run, where that is in several."""
    found = explain(layout.query.plan, layout.levels[0])
    read = tuple((each.name, tuple(each.slots)) for each in layout.types)
    parts = tuple(
        (layout.query.name if each.onward is None else each.onward.made.type.name, each.key) for each in stages
    )
    return SparkExplanation(found.query, found.level, found.plan, found.rules, layout.key, layout.buckets, read, parts)
