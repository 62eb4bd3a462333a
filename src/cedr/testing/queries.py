"""Hypothesis strategies for whole files: queries over the small types, and queries over queries by name.

Paper: Section 3 ("all features are fully composable with each other").  Reading: R32.  The files compile against
``cedr.testing.histories.small_catalog`` by construction, not by trying.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from cedr.language.syntax import (
    AlgebraBody,
    AttributeDeclaration,
    File,
    PatternBody,
    Query,
    Statement,
    TypeDeclaration,
)
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.time import FOREVER, Time
from cedr.testing.histories import small_catalog
from cedr.testing.patterns import pattern_bodies
from cedr.testing.relations import relation_bodies

FINAL = "Q"
"""The name of the last query of a file."""


def levels(*, memory: int | None = None) -> st.SearchStrategy[ConsistencyLevel]:
    """Points (B, M), the corners more often than the rest.  Reading: R35.  With ``memory`` only that M."""
    blocking = st.one_of(st.just(0), st.just(FOREVER), st.integers(0, 8))
    if memory is not None:
        return blocking.map(lambda b: ConsistencyLevel(Bound(b), Bound(memory)))
    points = st.builds(lambda b, m: ConsistencyLevel(Bound(b), Bound(m)), blocking, st.integers(0, 8))
    return st.one_of(st.sampled_from((STRONG, MIDDLE, WEAK)), points)


def slices() -> st.SearchStrategy[tuple[Time, Time]]:
    """A closed interval for ``@`` or ``#``.  Reading: R24."""
    return st.tuples(st.integers(0, 6), st.one_of(st.integers(0, 6), st.just(FOREVER))).map(
        lambda ends: (ends[0], ends[1] if ends[1] == FOREVER else ends[0] + ends[1])
    )


Slices = tuple[tuple[Time, Time] | None, tuple[Time, Time] | None]
"""``@`` and ``#``, or nothing."""


def patterns(
    catalog: EventTypes,
    *,
    depth: int = 3,
    sc_modes: bool = True,
    sliced: bool = False,
    revisable: bool = False,
    family: str | None = None,
) -> st.SearchStrategy[File]:
    """Files of one WHEN query.

    With ``sliced`` it may have slices, with ``revisable`` predicates over Os and Oe, with ``family`` (one of
    ``cedr.testing.patterns.FAMILIES``) that operator on top.
    """
    bodies = pattern_bodies(_names(catalog), depth=depth, sc_modes=sc_modes, revisable=revisable, family=family)
    return st.builds(_file, bodies, _slices(sliced=sliced))


def relations(catalog: EventTypes, *, sliced: bool = False) -> st.SearchStrategy[File]:
    """Files of one FROM query."""
    return st.builds(_file, relation_bodies(_names(catalog)), _slices(sliced=sliced))


@st.composite
def compositions(
    draw: st.DrawFn, catalog: EventTypes, *, sliced: bool = False, sc_modes: bool = True, algebra: bool = True
) -> File:
    """Files of several queries that use each other by name: patterns over aggregates, aggregates over patterns.

    Reading: R32.  Without ``algebra`` patterns over patterns only.
    """
    names = _names(catalog)
    statements: list[Statement] = []
    for number in range(draw(st.integers(1, 2))):
        patterns_ = pattern_bodies(names, depth=2, sc_modes=sc_modes, named=True, keyed=3)
        body = draw(st.one_of(patterns_, relation_bodies(names, depth=1, named=True)) if algebra else patterns_)
        statements.append(Query(f"N{number}", body))
        names = (f"N{number}", *names[:2])
    final = pattern_bodies(names, depth=2, sc_modes=sc_modes, keyed=2)
    last = draw(st.one_of(final, relation_bodies(names)) if algebra else final)
    return _file(last, draw(_slices(sliced=sliced)), statements)


@st.composite
def files(draw: st.DrawFn, catalog: EventTypes | None = None, *, declared: bool = False) -> File:
    """Files of everything that the language has: for parsing, rendering, explaining.

    With ``declared`` the types of the catalog are declared in the file itself.
    """
    known = small_catalog() if catalog is None else catalog
    kinds = (patterns(known, sliced=True), relations(known, sliced=True), compositions(known, sliced=True))
    *others, last = draw(st.one_of(*kinds)).statements
    assert isinstance(last, Query)
    as_of = draw(st.sampled_from((None, None, 3)))
    level = draw(st.one_of(st.none(), levels(), levels().map(_on_server_clock)))
    query = Query(last.name, last.body, level, last.occurrence_slice, last.valid_slice, as_of)
    return File((*(_declarations(known) if declared else ()), *others, query))


def _names(catalog: EventTypes) -> tuple[str, ...]:
    return tuple(event_type.name for event_type in catalog)


def _on_server_clock(level: ConsistencyLevel) -> ConsistencyLevel:
    bounds = (Bound(bound.duration, cedr_time=True) for bound in (level.blocking, level.memory))
    return ConsistencyLevel(*bounds)


def _declarations(catalog: EventTypes) -> tuple[TypeDeclaration, ...]:
    return tuple(
        TypeDeclaration(t.name, tuple(AttributeDeclaration(*item) for item in t.attributes.items()), t.revisable)
        for t in catalog
    )


def _slices(*, sliced: bool) -> st.SearchStrategy[Slices]:
    one: st.SearchStrategy[tuple[Time, Time] | None] = st.one_of(st.none(), st.none(), slices())
    return st.tuples(one, one) if sliced else st.just((None, None))


def _file(body: PatternBody | AlgebraBody, sliced: Slices, before: Sequence[Statement] = ()) -> File:
    return File((*before, Query(FINAL, body, None, *sliced)))
