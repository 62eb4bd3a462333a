"""Every query that the language must be able to say is explained, at every level, as text and as data."""

from __future__ import annotations

import json

import pytest

from cedr.model.level import MIDDLE, STRONG, WEAK, ConsistencyLevel
from cedr.plan.compile import compile_text
from cedr.plan.explain import explain
from tests.language.queries import QUERIES, TYPES

PLANS = compile_text(TYPES + ";".join(QUERIES.values())).queries


@pytest.mark.parametrize("level", [STRONG, MIDDLE, WEAK], ids=str)
@pytest.mark.parametrize("name", QUERIES)
def test_it_is_explained(name: str, level: ConsistencyLevel) -> None:
    """R33, R36, R37: each operator has its bounds, and a key or the reason why there is none."""
    explanation = explain(PLANS[name].plan, level)
    assert name in explanation.as_text()
    operators, seen = [json.loads(json.dumps(explanation.as_data()))], 0
    while operators:
        operator = operators.pop()
        operators.extend(operator["inputs"])
        if operator["scope"] is not None:
            seen += 1
            assert operator["guarantee"]
            assert operator.get("partition_key") or operator["no_partition_key_because"]
            assert operator["longest_blocking"]["text"]
            assert operator["state_held"]["text"]
    assert seen or name in ("Busy", "OpenAuctions", "Uncovered", "Closed", "MovingAverage", "History")
