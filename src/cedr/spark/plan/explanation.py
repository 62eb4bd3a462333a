"""``cedr.explain`` of a DataFrame: the plan of its query, and how Spark splits it.  Paper: Section 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cedr.plan.explain import Explanation, explain
from cedr.spark.layout.layout import Layout


@dataclass(frozen=True, slots=True)
class SparkExplanation(Explanation):
    """The explanation of a plan, with its buckets."""

    split: str = ""
    buckets: int = 1
    types: tuple[tuple[str, tuple[str, ...]], ...] = ()
    stages: tuple[tuple[str, str], ...] = ()
    """If there are several: the output of each, and the attributes by which its input is split."""

    def as_text(self) -> str:
        """The plan as an indented tree; below it how the input is split, and the attributes that the query reads."""
        alone = self.stages or self.split.startswith("one bucket")
        how = self.split if alone else f"split by {self.split} into {_many(self.buckets)}"
        stages = [f"  stage {number}: {name}, split by {by}" for number, (name, by) in enumerate(self.stages, 1)]
        read = [f"  reads {name} ({', '.join(attributes)})" for name, attributes in self.types]
        return "\n".join([Explanation.as_text(self), "", f"on Spark: {how}", *stages, *read])

    def as_data(self) -> dict[str, Any]:
        """The explanation as plain data."""
        reads = {name: list(attributes) for name, attributes in self.types}
        spark = {"split": self.split, "buckets": self.buckets, "reads": reads}
        if self.stages:
            spark["stages"] = [{"gives": name, "split": by} for name, by in self.stages]
        return {**Explanation.as_data(self), "spark": spark}

    def __str__(self) -> str:
        return self.as_text()


def _many(buckets: int) -> str:
    return "1 bucket" if buckets == 1 else f"{buckets} buckets"


def explain_layout(layout: Layout, stages: Sequence[Layout] = ()) -> SparkExplanation:
    """Explain the query of a layout, and its ``stages`` if it has several."""
    plain = explain(layout.query.plan, layout.levels[0])
    read = tuple((each.name, tuple(each.slots)) for each in layout.types)
    parts = tuple(
        (layout.query.name if each.destination is None else each.destination.made.type.name, each.key)
        for each in stages
    )
    return SparkExplanation(plain.query, plain.level, plain.plan, plain.rules, layout.key, layout.buckets, read, parts)
