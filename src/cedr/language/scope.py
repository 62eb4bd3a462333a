"""Variables in scope, and what a name in an expression stands for.

Reading: R20.  ``x.attr`` is a payload attribute of that exact name, else a header field in any case (ID, Vs, Ve, Os,
Oe, Rt).  A bare ``attr`` is that attribute of the one variable that has it.  Further names lead down into a STRUCT:
``x.card.no``, or ``card.no`` where no variable is called card.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cedr.diagnostics.span import Span
from cedr.expression.render import quote_text
from cedr.expression.tree import (
    Attribute,
    Expression,
    Header,
    HeaderField,
    Like,
    Literal,
    Name,
    down,
    shaped,
    transform,
    walk,
)
from cedr.language.building import listed
from cedr.language.problems import Problems, close, listing
from cedr.model.schema import DataType, EventType

HEADERS: Mapping[str, HeaderField] = {field.value.upper(): field for field in HeaderField}
"""The header fields by their names in upper case."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its payload, how messages call what it is bound to, and where it was bound."""

    name: str
    type: EventType
    shown: str
    span: Span | None = None
    leaf: bool = True
    negated: bool = False

    def find(self, name: str, span: Span | None) -> Attribute | Header | None:
        """The attribute or header field of that name."""
        found = self.type.attributes.get(name)
        if found is None and name.upper() in HEADERS:
            return Header(self.name, HEADERS[name.upper()], span=span)
        if found is None and self.type.open:
            found = DataType.ANY
        return None if found is None else Attribute(self.name, name, found, self.type.shapes.get(name), span=span)

    def __str__(self) -> str:
        return self.name if self.name == self.shown else f"{self.name} ({self.shown})"


class Scope:
    """The variables that expressions of one clause may name."""

    def __init__(self, variables: Iterable[Variable], problems: Problems, clause: str) -> None:
        self.variables = {variable.name: variable for variable in variables}
        self.problems = problems
        self.clause = clause

    def resolve(self, expression: Expression) -> Expression:
        """The expression with every name replaced by what it stands for."""
        for part in walk(expression):
            if isinstance(part, Like):
                self._regular_expression(part)
        return shaped(transform(expression, lambda part: self.lookup(part) if isinstance(part, Name) else None))

    def lookup(self, name: Name) -> Expression:
        """What one name stands for; after a complaint, an attribute of unknown type."""
        if len(name.parts) == 1:
            return self._bare(name)
        variable = self.variables.get(name.parts[0])
        if variable is not None:
            found = variable.find(name.parts[1], name.span)
            if found is not None:
                return down(found, name.parts[2:])
            self._unknown_attribute(name, variable)
        elif self.is_bare(name.parts[0]):
            return down(self._bare(name), name.parts[1:])
        else:
            self._unbound(name)
        return Attribute(name.parts[0], name.parts[1], span=name.span)

    def is_bare(self, first: str) -> bool:
        """Whether the first of several names is an attribute: some variable declares it, and none is called so."""
        declared = (v for v in self.bare_candidates(first) if first in v.type.attributes)
        return first not in self.variables and any(declared)

    def bare_candidates(self, attribute: str) -> list[Variable]:
        """The variables that a bare attribute may belong to: those that declare it, else those that may have any."""
        leaves = [variable for variable in self.variables.values() if variable.leaf]
        declared = [variable for variable in leaves if attribute in variable.type.attributes]
        return declared or [variable for variable in leaves if variable.type.open]

    def _bare(self, name: Name) -> Expression:
        attribute = name.parts[0]
        candidates = self.bare_candidates(attribute)
        if len(candidates) == 1:
            found = candidates[0].find(attribute, name.span)
            assert found is not None
            if _in_quotes(name.span) and attribute not in candidates[0].type.attributes:
                self._text_in_double_quotes(name, candidates[0])
            return found
        leaves = [variable for variable in self.variables.values() if variable.leaf]
        if not candidates and len(leaves) == 1 and attribute.upper() in HEADERS:
            return Header(leaves[0].name, HEADERS[attribute.upper()], span=name.span)
        if candidates or attribute.upper() in HEADERS:
            self._ambiguous(name, candidates or leaves)
        else:
            self._unknown_bare(name, leaves)
        return Attribute("", attribute, span=name.span)

    # -- complaints -------------------------------------------------------------------------------------------------

    def _unbound(self, name: Name) -> None:
        wanted = name.parts[0]
        same_type = [v for v in self.variables.values() if v.leaf and v.type.name == wanted]
        similar = close(wanted, self.variables)
        if same_type:
            hint = f'"{wanted}" is an event type; here it is called {" and ".join(v.name for v in same_type)}'
        elif similar:
            hint = f"did you mean {similar}?"
        else:
            existing = list(self.variables)
            other = f", or use {listed(existing)}" if 0 < len(existing) <= _FEW else ""
            if len(existing) == 1 and self.variables[existing[0]].type.open:
                other += f'; the field of an attribute "{wanted}" is {existing[0]}.{".".join(name.parts)}'
            hint = f"name a {'contributor' if self.clause == 'WHEN' else 'source'} with AS {wanted}{other}"
        self.problems.error(
            "unbound-variable",
            f'variable "{wanted}" is not bound in {self.clause}',
            _head(name.span),
            "used here",
            detail=f"bound are: {listing(map(str, self.variables.values()))}" if self.variables else "nothing is bound",
            hint=hint,
        )

    def _unknown_attribute(self, name: Name, variable: Variable) -> None:
        unknown_attribute(self.problems, name.parts[1], name.span, variable)

    def _ambiguous(self, name: Name, candidates: list[Variable]) -> None:
        choices = [f"{variable.name}.{name.parts[0]}" for variable in candidates]
        self.problems.error(
            "ambiguous-name",
            f'"{name.parts[0]}" may belong to more than one variable',
            name.span,
            detail=f"it could be: {listing(f'{c} ({v.shown})' for c, v in zip(choices, candidates, strict=True))}",
            hint=_text(name)
            if _in_quotes(name.span) and all(v.type.open for v in candidates)
            else f"say which one: {choices[0]}",
        )

    def _text_in_double_quotes(self, name: Name, variable: Variable) -> None:
        """Reading: R20.  A type whose attributes are not known would take any text for one of them."""
        self.problems.warning(
            "quoted-text",
            f"{_shown(name)} in double quotes is an attribute of {variable}, not a text",
            name.span,
            detail=f"the attributes of {variable.type.name} are not declared, so nothing checks that there is one",
            hint=_text(name),
        )

    def _regular_expression(self, like: Like) -> None:
        pattern = like.pattern.value if isinstance(like.pattern, Literal) else None
        if isinstance(pattern, str) and _REGULAR.search(pattern) and not _WILDCARD.search(pattern):
            self.problems.warning(
                "like-regular",
                "LIKE takes no regular expression: this pattern matches only its own characters",
                like.pattern.span,
                detail="in LIKE a % stands for any characters, an _ for one",
                hint="for a regular expression write REGEXP_LIKE(a.name, '^x.*')",
            )

    def _unknown_bare(self, name: Name, leaves: list[Variable]) -> None:
        attributes = {a: v for v in reversed(leaves) for a in v.type.attributes}
        similar = close(name.parts[0], attributes)
        if name.parts[0] in self.variables:
            hint = f'"{name.parts[0]}" is a variable; name an attribute of it: {name.parts[0]}.…'
        else:
            hint = f"did you mean {attributes[similar].name}.{similar}?" if similar else _DECLARE
            if not similar and _in_quotes(name.span):
                hint = _text(name)
        self.problems.error(
            "unknown-attribute",
            f'no variable has an attribute "{name.parts[0]}"',
            name.span,
            detail="; ".join(_attributes(variable) for variable in leaves[:4]),
            hint=hint,
        )


_FEW = 4
_REGULAR = re.compile(r"\.[*+]|^\^|[^\\]\$$|\[[^]]+\]|\\[dws]")
_WILDCARD = re.compile("[%_]")
_DECLARE = "declare the attribute in its TYPE, or use one that exists"


def unknown_attribute(problems: Problems, attribute: str, span: Span | None, variable: Variable) -> None:
    """Complain that a variable has no such attribute."""
    similar = close(attribute, variable.type.attributes)
    what = f'event type "{variable.type.name}"' if variable.leaf else f'"{variable.name}"'
    problems.error(
        "unknown-attribute",
        f'{what} has no attribute "{attribute}"',
        span,
        detail=_attributes(variable),
        hint=f"did you mean {similar}?" if similar else _DECLARE,
    )


def _in_quotes(span: Span | None) -> bool:
    return span is not None and span.text.startswith('"')


def _shown(name: Name) -> str:
    return '"' + name.parts[0] + '"'


def _text(name: Name) -> str:
    return f"texts stand in single quotes: {quote_text(name.parts[0])}; double quotes are for names"


def _head(span: Span | None) -> Span | None:
    """The place of the variable in a name with a dot."""
    if span is None or span.text.startswith('"') or "." not in span.text:
        return span
    return Span(span.source, span.start, span.start + span.text.index("."))


def _attributes(variable: Variable) -> str:
    names = listing(variable.type.attributes)
    return f"{variable} has: {names}" if names else f"{variable} has no attributes"
