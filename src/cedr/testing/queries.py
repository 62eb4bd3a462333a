"""Hypothesis strategies for whole files: queries over the small types, and queries over queries by name.

Paper: Section 3 ("all features are fully composable with each other").  Reading: R32.  The files compile against
``cedr.testing.histories.small_catalog`` by construction, not by trying.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from cedr.language.syntax import AttributeDeclaration, File, Query, TypeDeclaration
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.schema import Catalog
from cedr.model.time import FOREVER, Time
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


def patterns(
    catalog: Catalog, *, depth: int = 3, sc_modes: bool = True, sliced: bool = False, revisable: bool = False
) -> st.SearchStrategy[File]:
    """Files of one WHEN query."""
    names = tuple(event_type.name for event_type in catalog)
    bodies = pattern_bodies(names, depth=depth, sc_modes=sc_modes, revisable=revisable)
    return st.builds(_file, st.builds(_query, st.just(FINAL), bodies, _sliced(sliced=sliced), st.none()))


def relations(catalog: Catalog, *, sliced: bool = False) -> st.SearchStrategy[File]:
    """Files of one FROM query."""
    names = tuple(event_type.name for event_type in catalog)
    bodies = relation_bodies(names)
    return st.builds(_file, st.builds(_query, st.just(FINAL), bodies, _sliced(sliced=sliced), st.none()))


@st.composite
def compositions(draw: st.DrawFn, catalog: Catalog, *, sliced: bool = False, sc_modes: bool = True) -> File:
    """Files of several queries that use each other by name: patterns over aggregates, aggregates over patterns."""
    names = [event_type.name for event_type in catalog]
    statements = []
    for number in range(draw(st.integers(1, 2))):
        body = draw(_named_bodies(tuple(names), sc_modes=sc_modes))
        statements.append(Query(f"N{number}", body))
        names = [f"N{number}", *names[:2]]
    body = draw(st.one_of(pattern_bodies(tuple(names), depth=2, sc_modes=sc_modes), relation_bodies(tuple(names))))
    return File((*statements, _query(FINAL, body, draw(_sliced(sliced=sliced)), None)))


def _named_bodies(names: Sequence[str], *, sc_modes: bool):  # type: ignore[no-untyped-def]
    return st.one_of(
        pattern_bodies(names, depth=2, sc_modes=sc_modes, named=True), relation_bodies(names, depth=1, named=True)
    )


@st.composite
def files(draw: st.DrawFn, catalog: Catalog | None = None, *, declared: bool = False) -> File:
    """Files of everything that the language has: for parsing, rendering, explaining.

    With ``declared`` the types of the catalog are declared in the file itself.
    """
    known = catalog if catalog is not None else small_default()
    file = draw(st.one_of(patterns(known, sliced=True), relations(known, sliced=True), compositions(known, sliced=True)))
    *others, last = file.statements
    assert isinstance(last, Query)
    as_of = draw(st.sampled_from((None, None, 3)))
    level = draw(st.one_of(st.none(), levels(), st.builds(_on_server_clock, levels())))
    query = Query(last.name, last.body, level, last.occurrence_slice, last.valid_slice, as_of)
    return File((*(_declaration(known) if declared else ()), *others, query))


def small_default() -> Catalog:
    """The catalog of A, B and C."""
    from cedr.testing.histories import small_catalog

    return small_catalog()


def _on_server_clock(level: ConsistencyLevel) -> ConsistencyLevel:
    return ConsistencyLevel(Bound(level.blocking.duration, cedr_time=True), Bound(level.memory.duration, cedr_time=True))


def _declaration(catalog: Catalog) -> tuple[TypeDeclaration, ...]:
    return tuple(
        TypeDeclaration(t.name, tuple(AttributeDeclaration(*item) for item in t.attributes.items()), t.revisable)
        for t in catalog
    )


def _sliced(*, sliced: bool):  # type: ignore[no-untyped-def]
    if not sliced:
        return st.just((None, None))
    return st.tuples(st.one_of(st.none(), st.none(), slices()), st.one_of(st.none(), st.none(), slices()))


def _query(name, body, slices_, level) -> Query:  # type: ignore[no-untyped-def]
    return Query(name, body, level, *slices_)


def _file(*statements: Query) -> File:
    return File(statements)
