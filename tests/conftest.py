"""What all tests share: the Hypothesis profiles and the golden files.

Profiles are chosen by the variable HYPOTHESIS_PROFILE:

- ``dev`` (default): 50 examples, random, failures are remembered;
- ``quick``: a handful of examples, always the same ones, so that `make check` is quick and never flickers;
- ``check``: a few more, always the same ones, for what `make test` does not run thoroughly;
- ``thorough``: more of them, the same ones each time, for the properties in `make test`;
- ``deep``: thousands of examples, for `make props`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from cedr.expression.aggregate import AGGREGATES
from cedr.expression.functions import FUNCTIONS
from cedr.expression.own import DEFINITIONS

# A loaded machine is not a defect of the code: no profile has a deadline.
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(  # before each commit; `make test` draws more
    "quick", max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "check", max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(  # to see what fails, without waiting for the smallest example
    "plainly", max_examples=25, deadline=None, derandomize=True, phases=[Phase.generate]
)
settings.register_profile(
    "thorough", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "deep", max_examples=2_000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture
def golden() -> Callable[[Path, str], None]:
    """Compares a text with a golden file; `make golden` (CEDR_GOLDEN=rewrite) writes the file instead."""

    def compare(path: Path, text: str) -> None:
        if os.environ.get("CEDR_GOLDEN") == "rewrite":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            return
        assert path.is_file(), f"no golden file {path.name}: run `make golden`, then read what it wrote"
        assert text == path.read_text("utf-8"), (
            f"{path.name} differs: if meant, run `make golden` and read the difference"
        )

    return compare


@pytest.fixture
def declarations_taken_back() -> Iterator[None]:
    """The functions and aggregates that a test declares are not there for the tests after it."""
    tables: list[dict[str, Any]] = [FUNCTIONS, AGGREGATES, DEFINITIONS]
    before = [dict(table) for table in tables]
    yield
    for table, kept in zip(tables, before, strict=True):
        table.clear()
        table.update(kept)
