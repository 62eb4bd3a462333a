"""Places for views, and one PostgreSQL server for all tests of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.sinks import places, postgres

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    if postgres.binaries() is None:
        pytest.skip(postgres.MISSING)
    with postgres.server() as connection:
        yield connection


@pytest.fixture(params=["sqlite", "duckdb", "postgres", "delta"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], places.Place]:
    """Makes one new place after the other, of one kind."""

    def make() -> places.Place:
        number = next(_NUMBERS)
        folder = tmp_path / f"place-{number}"
        folder.mkdir()
        if request.param == "postgres":
            return places.postgres_place(request.getfixturevalue("postgres_server"), f"answers_{number}")
        made: places.Place = getattr(places, f"{request.param}_place")(folder)
        return made

    return make
