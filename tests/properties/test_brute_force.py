"""The oracle against the paper's table written as comprehensions over all combinations, on plain histories.

Paper: Section 3.3.2, Definitions 7 to 9 and 12.  Readings: R11 to R18, R21, R22, R25 to R27, R29 to R31.
What the oracle restricts (candidates of one key, a search by time) must not show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.tree import Binary, Expression
from cedr.expression.tree import variables as names_of
from cedr.model.event import Event
from cedr.model.modes import Selection
from cedr.plan import logical
from cedr.plan.logical import Disjoint, Node, Parameter
from cedr.semantics.evaluate import evaluate
from cedr.testing.histories import History, histories, tables_of
from tests.properties import brute_force, plans
from tests.properties.plans import CATALOG, Drawn, attribute, equal, leaf

HISTORIES = histories(CATALOG, min_size=3, max_size=7, max_time=6)


def seen(rows: Iterable[Event]) -> Counter[Hashable]:
    """Header, payload, contributors and variables of each row; not the stream."""
    return Counter(
        (
            (e.id, e.valid, e.occurrence, e.root_time, e.payload),
            tuple(c.reference for c in e.contributors),
            frozenset((name, part.reference, part.valid) for name, part in e.bindings),
        )
        for e in rows
    )


def agree(node: Node, history: History) -> None:
    tables = tables_of(history)
    assert seen(evaluate(node, tables)) == seen(brute_force.meaning(node, tables))


@given(plans.patterns(depth=1), HISTORIES)
def test_one_operator(drawn: Drawn, history: History) -> None:
    """Readings: R11 to R18, R25 to R27."""
    agree(drawn.node, history)


@given(plans.patterns(depth=3), HISTORIES)
def test_nested_operators(drawn: Drawn, history: History) -> None:
    """Readings: R11 to R18, R21, R25 to R27.  A composite has the Vs of its last contributor."""
    agree(drawn.node, history)


@given(plans.relations(), HISTORIES)
def test_algebra(node: Node, history: History) -> None:
    """Paper: Definitions 7, 8, 9, 12.  Readings: R29 to R31."""
    if not isinstance(node, logical.Coalesce):  # on bags * is not one table: see the tests of Definition 10
        agree(node, history)


MODES = st.tuples(st.sampled_from(Selection), st.booleans())
PLACES = {"x": "A", "y": "B", "z": "A"}
BY_KEY = (equal("x", "y"), equal("y", "z"), equal("x", "z"))
CROSSED = (Binary("=", attribute("x", "k"), attribute("z", "v")),)


@pytest.mark.parametrize("variables", ["xy", "xz", "xyz"])
@pytest.mark.parametrize("predicates", [BY_KEY, CROSSED], ids=["by key", "crossed"])
@given(modes=st.lists(MODES, min_size=3, max_size=3), keyed=st.booleans(), disjoint=st.booleans(), history=HISTORIES)
def test_choices_by_key(
    variables: str,
    predicates: tuple[Expression, ...],
    modes: list[tuple[Selection, bool]],
    keyed: bool,
    disjoint: bool,
    history: History,
) -> None:
    """Readings: R25, R26, R27 under a correlation key (R22): acting key by key is the same, DISJOINT by its keys.

    Where the key is not one attribute for all, an event consumed under one value could serve under another.
    """
    chosen = modes[: len(variables)]
    if disjoint or any(consume for _, consume in chosen):  # LAST at the end would choose by the future
        chosen[-1] = (Selection.FIRST if chosen[-1][0] is Selection.LAST else chosen[-1][0], chosen[-1][1])
    leaves = [leaf(PLACES[variable], variable) for variable in variables]
    parameters = tuple(Parameter(node, *mode) for node, mode in zip(leaves, chosen, strict=True))
    applied = tuple(p for p in predicates if names_of(p) <= set(variables))
    mode = Disjoint((attribute("x", "k"),) if keyed and predicates is BY_KEY else ()) if disjoint else None
    agree(logical.Sequence(parameters, 5, place="/S", predicates=applied, disjoint=mode), history)


@given(histories(CATALOG, min_size=5, max_size=7, max_time=6), st.booleans(), st.sampled_from(("SEQUENCE", "ALL")))
def test_disjoint_acts_across_keys(history: History, keyed: bool, kind: str) -> None:
    """Reading: R27: separately for each value of the correlation key; without one, over the whole stream."""
    parameters = (Parameter(leaf("A", "x")), Parameter(leaf("B", "y")))
    mode = Disjoint((attribute("x", "k"),) if keyed else ())
    operator = logical.Sequence if kind == "SEQUENCE" else logical.All
    agree(operator(parameters, 5, place="/D", predicates=(equal("x", "y"),), disjoint=mode), history)


@pytest.mark.parametrize("links", [BY_KEY[:2], BY_KEY[:1], BY_KEY])
@given(number=st.integers(1, 3), consume=st.booleans(), history=HISTORIES)
def test_keys_that_do_not_reach_everything(
    links: tuple[Expression, ...], number: int, consume: bool, history: History
) -> None:
    """Readings: R12, R21, R22: ATLEAST leaves parameters out, so a chain of equalities is not yet a key."""
    parameters = tuple(Parameter(leaf(name, variable), consume=consume) for variable, name in PLACES.items())
    predicates = links if number > 1 else ()
    agree(logical.AtLeast(number, parameters, 4, place="/L", predicates=predicates), history)


@given(HISTORIES, st.sampled_from(("UNLESS", "UNLESS'", "NOT", "CANCEL")), st.booleans())
def test_negation_by_key(history: History, kind: str, disjoint: bool) -> None:
    """Readings: R15 to R18, R21, R22: a negated event counts only if it agrees on the key; NULL agrees with nothing."""
    parts = (Parameter(leaf("A", "x")), Parameter(leaf("B", "y")))
    pairs = logical.Sequence(parts, 5, place="/N/S", predicates=(equal("x", "y"),))
    mode = Disjoint((attribute("x", "k"),)) if disjoint else None
    none, found = leaf("A", "z"), (equal("x", "z"), equal("y", "z"))
    nodes = {
        "UNLESS": logical.Unless(pairs, none, 3, place="/N", predicates=found),
        "UNLESS'": logical.UnlessNth(pairs, none, 1, 3, place="/N", predicates=found),
        "NOT": logical.Not(none, pairs, place="/N", predicates=found),
        "CANCEL": logical.CancelWhen(pairs, none, place="/N", predicates=found),
    }
    agree(replace(nodes[kind], disjoint=mode), history)
