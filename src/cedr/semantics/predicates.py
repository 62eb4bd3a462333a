"""Injected predicates, as the denotations use them.

Paper: Section 3.2 ("placing the predicates from the WHERE clause into the denotation of the query").
Reading: R21.  A conjunct constrains only instances in which every variable that it names is bound; only *true* passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from cedr.expression.evaluate import compile_expression
from cedr.expression.tree import Expression, variables
from cedr.model.event import Event, Value

Environment = Mapping[str, Event]


class Conjuncts:
    """The predicates of one operator, compiled once."""

    def __init__(self, predicates: Iterable[Expression]) -> None:
        self._compiled = [(variables(p), compile_expression(p)) for p in predicates]

    def hold(
        self, environment: Environment, added: Iterable[str] | None = None, absent: frozenset[str] = frozenset()
    ) -> bool:
        """Whether all predicates that apply are true.

        With ``added``, only those that name a newly bound variable are asked: the others were asked before.  Variables
        that may be ``absent`` are NULL where they are not bound, instead of making a predicate apply to nothing.
        """
        new = None if added is None else frozenset(added)
        for names, predicate in self._compiled:
            if new is not None and names and not names & new:
                continue
            if names - absent <= environment.keys() and predicate(environment) is not True:
                return False
        return True


@lru_cache(maxsize=4096)
def conjuncts(predicates: tuple[Expression, ...]) -> Conjuncts:
    """The compiled form of an operator's predicates, kept because a meaning is taken once for each run of beliefs."""
    return Conjuncts(predicates)


def environment_of(*events: Event) -> dict[str, Event]:
    """What the variables of some events stand for; "" is the (first) event itself."""
    environment: dict[str, Event] = {"": events[0]} if events else {}
    for event in events:
        environment.update(event.bindings)
    return environment


def value_of(expression: Expression, event: Event) -> Value:
    """The value of an expression on one row."""
    return _compiled(expression)(environment_of(event))


@lru_cache(maxsize=4096)
def _compiled(expression: Expression) -> Callable[[Environment], Value]:
    return compile_expression(expression)
