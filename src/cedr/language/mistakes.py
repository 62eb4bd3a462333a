"""Syntax errors in the words of users: what was expected here, and what people usually mean by what they wrote."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.span import Span
from cedr.language.building import listed
from cedr.language.foreign import foreign, order_of_clauses
from cedr.language.syntax import OPERATOR_WORDS
from cedr.language.tokens import QUOTED, WORD, Token

_WORDS = {
    "NAME": "a name",
    "INTEGER": "a number",
    "FLOAT": "a number",
    "DURATION": "a duration",
    "STRING": "a text in single quotes",
    "BINARY": "an X'…'",
    "AS_OF": "AS OF",
    "$END": '";" or the end',
}
_EXPRESSION = frozenset({"CASE", "CAST", "NAME"})
_LITERALS = frozenset(
    (
        *("INTEGER", "FLOAT", "DURATION", "STRING", "BINARY", "TRUE", "FALSE", "NULL"),
        *("TIMESTAMP", "DATE", "FOREVER"),
    )
)
_BINARY = frozenset(["AND", "OR", "NOT", "IS", "IN", "LIKE", "BETWEEN", "DIV", *"=<>+-*/%", "<>", "<=", ">=", "||"])
_MODES = frozenset({"EACH", "FIRST", "LAST"})
_MOST = 8


def syntax_error(
    tokens: Sequence[Token], position: int, expected: frozenset[str], to_quote: int | None = None
) -> Diagnostic:
    """The message for a token out of place; ``expected`` are keywords, signs and names of terminals.

    ``to_quote`` is the place of a keyword that would fit, were it quoted.  Reading: R47.
    """
    if position == len(tokens):
        return _ends_too_early(tokens, expected)
    token = tokens[position]
    detail = f"expected {listed(_expectation(expected))}" if expected else ""
    if to_quote is not None and tokens[to_quote + 1 :][:1] and tokens[to_quote + 1].word in (",", ")"):
        keyword = tokens[to_quote]
        return Diagnostic("syntax", f"{_shown(keyword)} is a keyword here", keyword.span, "", "", _to_quote(keyword))
    certain = _certain_hint(tokens, position, expected)
    elsewhere = None if certain else foreign(tokens, position)
    if elsewhere is not None:
        start, end, hint = elsewhere
        span = Span(token.source, tokens[start].start, tokens[end - 1].end)
        return Diagnostic("syntax", f"{_quoted(span.text)} cannot stand here", span, hint=hint)
    quote = "" if to_quote is None else _to_quote(tokens[to_quote])
    hint = certain or _likely_hint(tokens, position, expected, quote)
    return Diagnostic("syntax", f"{_shown(token)} cannot stand here", token.span, "", detail, hint)


def _ends_too_early(tokens: Sequence[Token], expected: frozenset[str]) -> Diagnostic:
    last = tokens[-1]
    span = Span(last.source, last.end - 1, last.end)
    detail = f"expected {listed(_expectation(expected))}" if expected else ""
    hint = _hint_at_end(tokens)
    return Diagnostic("syntax", "the statement ends too early", span, "something is missing after this", detail, hint)


def _to_quote(token: Token) -> str:
    return f'a name that is also a keyword is written in double quotes: "{token.value}"'


def _shown(token: Token) -> str:
    return _quoted(token.span.text)


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f'"{text}"' if len(text) <= 30 and not text.startswith('"') else text if len(text) <= 30 else f"{text[:30]}…"


def _expectation(expected: frozenset[str]) -> list[str]:
    """Many terminals as few words: a group of them that always comes together has one name."""
    left = set(expected)
    found: list[str] = []
    if left >= _EXPRESSION:
        left -= _EXPRESSION | _LITERALS | {"EXTRACT", "(", "-", "NOT"}
        found.append("an expression")
    if left >= OPERATOR_WORDS:
        left -= OPERATOR_WORDS | _MODES | _LITERALS | {"NOT", "-", "NAME"}
        found.append("an event expression")
    if left >= {"=", "+"}:
        left -= _BINARY
        found.append("an operator")
    if left >= {"INTEGER", "DURATION"}:
        left -= {"INTEGER", "DURATION", "FOREVER", "-"}
        found.append("a duration")
    rest = sorted({_WORDS.get(name) or (name if name[0].isalpha() else f'"{name}"') for name in left}, key=_order)
    return found + (rest if len(rest) <= _MOST else [*rest[: _MOST - 1], "…"])


def _order(word: str) -> tuple[bool, str]:
    return word[0].isupper(), word


def _certain_hint(tokens: Sequence[Token], position: int, expected: frozenset[str]) -> str:
    """What can hardly be anything else."""
    token, before = tokens[position], tokens[position - 1] if position else None
    if before is None:
        return ""
    if token.word in ("EVENT", "TYPE") and "$END" in expected:
        return "statements are separated by a semicolon"
    if before.kind == "INTEGER" and token.kind == WORD and before.end == token.start:
        return "units are weeks, days, hours, minutes, seconds, ms and us"
    return ""


def _likely_hint(tokens: Sequence[Token], position: int, expected: frozenset[str], quote: str) -> str:
    """What people mostly mean.  Tried from the most to the least certain; ``quote`` says which word to quote."""
    token, before = tokens[position], tokens[position - 1]
    if tokens[0].word == "TYPE" and position == 2:
        return _A_TYPE
    if tokens[0].word == "TYPE" and before.word == "FROM":
        return "a path stands in single quotes: FROM 'file.csv'"
    if tokens[0].word == "TYPE" and before.word == "WITH":
        return "options stand in parentheses: WITH (time = ts, id = tx_id)"
    if before.kind == "INTEGER" and token.kind == WORD and not expected & {"NAME"}:
        return f'"{token.value}" is no unit: units are weeks, days, hours, minutes, seconds, ms and us'
    if (
        "," in expected
        and not order_of_clauses(tokens, position)
        and token.kind in (WORD, QUOTED, "DURATION", "INTEGER")
    ):
        return "is a comma missing in front of this?"
    if token.kind == QUOTED:
        return "double quotes are for names; texts stand in single quotes"
    order = order_of_clauses(tokens, position)
    if token.kind == WORD and "NAME" in expected:
        quote = _to_quote(token)
    return "; ".join(hint for hint in (order, quote) if hint)


_A_TYPE = "write TYPE name (attribute STRING, other INTEGER), or TYPE name FROM 'file.csv'"


def _hint_at_end(tokens: Sequence[Token]) -> str:
    if tokens[0].word == "EVENT" and len(tokens) <= 2:
        return "write EVENT name WHEN … for a pattern, or EVENT name FROM … for a relation"
    if tokens[0].word == "TYPE" and len(tokens) <= 2:
        return _A_TYPE
    return ""


def unexpected_character(token: Token) -> Diagnostic:
    """The message for characters that no token begins with."""
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in token.value[:10])
    hints = {
        "`": 'names are quoted with double quotes: "like this"',
        "“": "use plain quotes: ' for texts, \" for names",
        "”": "use plain quotes: ' for texts, \" for names",
        "’": "use plain quotes: ' for texts, \" for names",
        "&": "write AND",
        "|": "write OR; texts are joined with ||",
        "!": "write NOT; unequal is <>",
        "~": "a regular expression is a function: REGEXP_LIKE(a.name, '^x.*')",
        "?": "an event that may be missing: ANY(A, B), or ATLEAST(1, A, B, 5 minutes)",
        ":": "write = to compare, AS to name",
    }
    return Diagnostic(
        "unexpected-character",
        f'unexpected character{"s" if len(token.value) > 1 else ""} "{shown}"',
        token.span,
        hint=hints.get(token.value[0], "is this text in UTF-8? such a name stands in double quotes"),
    )


def _suspicion(token: Token, then: Token) -> str:
    """Why a text may not end where it was meant to."""
    if token.kind not in ("STRING", QUOTED):
        return ""
    if "\n" in token.value:
        return "runs over the end of its line"
    return "ends in the middle of a word" if then.kind == WORD and token.end == then.start else ""


def unterminated(token: Token, earlier: Sequence[Token]) -> Diagnostic:
    """The message for a quote that is never closed; an earlier text that ends oddly is the likelier culprit."""
    suspects = [(t, why) for t, then in pairwise(earlier) if (why := _suspicion(t, then))]
    place, why = suspects[0] if suspects else (token, "")
    what = "text" if place.span.text[0] == "'" else "quoted name"
    return Diagnostic(
        "unterminated-string",
        f"this {what} {why}, and a later quote is never closed" if why else f"this {what} is never closed",
        Span(place.source, place.start, place.start + 1),
        "it begins here",
        hint="a quote inside is written twice: 'it''s'",
    )
