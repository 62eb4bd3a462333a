# ruff: noqa: D102 - a method is named after its rule, and grammar.lark documents that
"""The builder's rules for TYPE: attributes, REVISABLE, and where the events are.

Paper: Section 3.3.1.  Readings: R37 (REVISABLE), R50 (units of time).
"""

from __future__ import annotations

from typing import Any

from cedr.diagnostics.span import Span
from cedr.expression.tree import Literal
from cedr.language import syntax
from cedr.language.build_pattern import PatternBuilder
from cedr.language.building import Clause, clauses
from cedr.language.options import OPTIONS, Kind, Known
from cedr.language.problems import close
from cedr.language.tokens import Token
from cedr.model.schema import TYPE_NAMES, UNKNOWN_SHAPE, DataType, Shape
from cedr.model.time import FOREVER

_NAME, _QUANTITY, _LITERAL = "name", "quantity", "literal"


class TypeBuilder(PatternBuilder):
    """Rules of the grammar that make declarations of event types."""

    RAW = PatternBuilder.RAW | {"revisable_always"}

    def type_declaration(self, span: Span, name: Token, *parts: Any) -> syntax.TypeDeclaration:
        said = clauses(parts)
        revisable = said.get("revisable")
        return syntax.TypeDeclaration(
            name.value,
            said["attributes"].value if "attributes" in said else (),
            revisable.value[0] if revisable else 0,
            next((part for part in parts if isinstance(part, syntax.Origin)), None),
            durations=revisable.value[1] if revisable else (),
            span=span,
        )

    def attributes(self, span: Span, *attributes: syntax.AttributeDeclaration) -> Clause:
        return Clause("attributes", attributes, span)

    def attribute(self, span: Span, name: Token, shape: Clause) -> syntax.AttributeDeclaration:
        inside = shape.value if shape.value.nested else None
        return syntax.AttributeDeclaration(name.value, shape.value.type, inside, span=span)

    def plain_shape(self, span: Span, data_type: Clause) -> Clause:
        return Clause("shape", Shape(data_type.value), span)

    def struct_shape(self, span: Span, name: Token, *fields: syntax.AttributeDeclaration) -> Clause:
        if not self._holds(name, DataType.STRUCT, "has fields", "STRUCT(no STRING, limit FLOAT)"):
            return Clause("shape", UNKNOWN_SHAPE, span)
        found: dict[str, Shape] = {}
        for field in fields:
            if field.name in found:
                self.report("duplicate-name", f'field "{field.name}" is declared twice', field.span or span)
            found[field.name] = field.shape or Shape(field.type)
        return Clause("shape", Shape(DataType.STRUCT, found), span)

    def list_shape(self, span: Span, name: Token, element: Clause) -> Clause:
        if not self._holds(name, DataType.LIST, "has elements of a type", "LIST(STRING)"):
            return Clause("shape", UNKNOWN_SHAPE, span)
        return Clause("shape", Shape(DataType.LIST, element=element.value), span)

    def _holds(self, name: Token, wanted: DataType, what: str, example: str) -> bool:
        found = self.data_type(name.span, name).value
        if found is not wanted and name.value.upper() in TYPE_NAMES:
            primary = f"only {wanted} {what}, {found} does not"
            self.report("wrong-arguments", primary, name.span, hint=f"write {example}")
        return bool(found is wanted)

    def revisable_always(self, span: Span, *_: Token) -> Clause:
        return Clause("revisable", (FOREVER, ()), span)

    def revisable_for(self, span: Span, quantity: Clause) -> Clause:
        if quantity.value.value < 0:
            self.report("scope-not-positive", "events cannot be revised for less than no time", quantity.span)
        return Clause("revisable", (quantity.value.value, (quantity.value.written,)), span)

    # -- FROM … WITH ------------------------------------------------------------------------------------------------

    def located(self, span: Span, path: Token, mapping: Clause | None = None) -> syntax.Origin:
        if not path.value.strip():
            self.report("invalid-literal", "this path is empty", path.span, hint="write FROM 'file.csv'")
        return syntax.Origin(path.value, mapping.value if mapping else (), span=span)

    def mapped(self, span: Span, mapping: Clause) -> syntax.Origin:
        return syntax.Origin(None, mapping.value, span=span)

    def mapping(self, span: Span, *options: syntax.Option) -> Clause:
        seen: dict[str, Span | None] = {}
        for option in options:
            if option.name in seen:
                self.report(
                    "duplicate-name",
                    f'option "{option.name}" is given twice',
                    option.span or span,
                    hint="remove one of them",
                )
            seen[option.name] = option.span
        return Clause("mapping", options, span)

    def option(self, span: Span, name: Token, given: Clause) -> syntax.Option:
        word = name.value.lower()
        known = OPTIONS.get(word)
        if known is None:
            self._unknown_option(name)
            return syntax.Option(word, "", span=span)
        value = _value(known, given)
        if value is None:
            self._wrong_value(word, known, given)
        durations = (given.value.written,) if known.kind is Kind.DURATION and given.kind == _QUANTITY else ()
        return syntax.Option(word, "" if value is None else value, durations=durations, span=span)

    def option_name(self, span: Span, name: Token) -> Clause:
        return Clause(_NAME, name.value, span)

    def option_quantity(self, span: Span, quantity: Clause) -> Clause:
        return Clause(_QUANTITY, quantity.value, span)

    def option_literal(self, span: Span, literal: Literal) -> Clause:
        return Clause(_LITERAL, literal, span)

    def _unknown_option(self, name: Token) -> None:
        similar = close(name.value, OPTIONS)
        hint = f"did you mean {similar}?" if similar else "WITH says how columns map: WITH (time = ts, id = tx_id)"
        if name.value.lower() == "attributes":
            hint = "attributes stand behind the name: TYPE name (attribute STRING, other INTEGER)"
        self.report(
            "unknown-option",
            f'there is no option "{name.value}"',
            name.span,
            detail=f"options are: {', '.join(OPTIONS)}",
            hint=hint,
        )

    def _wrong_value(self, name: str, known: Known, given: Clause) -> None:
        word = given.span.text
        column = known.kind in (Kind.COLUMN, Kind.COLUMN_OR_CONSTANT) and word.isalpha()
        hint = f'a column of that name stands in double quotes: {name} = "{word}"' if column else ""
        self.report(
            "wrong-option",
            f'option "{name}" takes {known.takes}',
            given.span,
            f"this is {_kind(given)}",
            hint=hint or f"write {name} = {known.example}",
        )


def _kind(given: Clause) -> str:
    if given.kind == _NAME:
        return "a name"
    if given.kind == _QUANTITY:
        return "a whole number" if given.value.ticks else "a duration"
    return f"a {given.value.type}"


def _value(known: Known, given: Clause) -> str | int | bool | None:
    """The value of an option, or None where it is not of the kind that the option takes."""
    text = given.value.value if given.kind == _LITERAL and given.value.type is DataType.STRING else None
    word = given.value if given.kind == _NAME else text
    match known.kind:
        case Kind.COLUMN:
            return word or None
        case Kind.COLUMN_OR_CONSTANT:
            return f"'{text}'" if text else word or None
        case Kind.WORD:
            return word.lower() if word and word.lower() in known.words else None
        case Kind.TEXT:
            return word or None
        case Kind.FLAG:
            return given.value.value if given.kind == _LITERAL and given.value.type is DataType.BOOLEAN else None
        case Kind.DURATION:
            return _duration(given)


def _duration(given: Clause) -> str | int | None:
    if given.kind != _QUANTITY or given.value.value < 0:
        return None
    value: int = given.value.value
    return value if given.value.ticks else str(given.value.written.text)
