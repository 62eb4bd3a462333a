"""Text to tree.

Paper: Section 3.  A text is cut into statements at its semicolons, and each is parsed on its own, so that independent
errors are reported together; after an error the next EVENT or TYPE is a new beginning.  Limits are checked before
anything recurses: no text, however long or deep, ends in anything but a tree or a ``LanguageError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import LanguageError
from cedr.diagnostics.span import Source, Span
from cedr.language.lexer import Rejected, begins, parser
from cedr.language.mistakes import syntax_error, unexpected_character, unterminated
from cedr.language.syntax import File, Statement
from cedr.language.tokens import BAD, QUOTED, UNTERMINATED, WORD, Token, tokens

LONGEST = 1_000_000
"""Characters that a text may have."""

MOST_TOKENS = 250_000
"""Words, numbers and signs that a text may have: what is parsed and checked in a few seconds."""

DEEPEST_BRACKETS = 100
"""How deep parentheses, braces and brackets may nest."""

_MOST_ERRORS = 20
_OPENING = {"(": ")", "{": "}", "[": "]"}
_CLOSING = {closing: opening for opening, closing in _OPENING.items()}


@dataclass
class Parsed:
    """What was made of a text: the statements that are whole, the names of those that are not, and what is wrong."""

    source: Source
    statements: list[Statement] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    errors: list[Diagnostic] = field(default_factory=list)

    @property
    def file(self) -> File:
        """The whole statements as a file."""
        return File(tuple(self.statements), span=Span(self.source, 0, len(self.source.text)))


def parse(text: str, name: str = "<query>") -> File:
    """The tree of a text.  Raises ``LanguageError`` with everything that is wrong in it.

    >>> parse("EVENT Pair WHEN SEQUENCE(A, B, 5 minutes)").statements[0].body.pattern.expression.scope
    300000000
    """
    parsed = parse_all(text, name)
    if parsed.errors:
        raise LanguageError(parsed.errors)
    return parsed.file


def parse_all(text: str, name: str = "<query>") -> Parsed:
    """The same without raising: what could be parsed, beside what could not."""
    parsed = Parsed(Source(name, text))
    if len(text) > LONGEST:
        parsed.errors.append(_too_long(parsed.source))
        return parsed
    found = list(islice(tokens(parsed.source), MOST_TOKENS + 1))
    if len(found) > MOST_TOKENS:
        parsed.errors.append(_too_long(parsed.source, found[-1]))
        return parsed
    if not any(token.word != ";" for token in found):
        parsed.errors.append(_empty(parsed.source))
    for statement in _statements(found):
        _parse_statement(statement, parsed)
        if len(parsed.errors) >= _MOST_ERRORS:
            break
    parsed.errors.sort(key=lambda error: error.span.start if error.span else 0)
    return parsed


def _statements(found: Sequence[Token]) -> list[Sequence[Token]]:
    """The tokens of each statement, cut at the semicolons."""
    ends = [i for i, token in enumerate(found) if token.word == ";"]
    starts = [0, *(i + 1 for i in ends)]
    pieces = [found[start:end] for start, end in zip(starts, [*ends, len(found)], strict=True)]
    return [piece for piece in pieces if piece]


def _parse_statement(statement: Sequence[Token], parsed: Parsed) -> None:
    errors = _lexical(statement) or _unbalanced(statement)
    if errors:
        parsed.broken.update(_names(statement))
        parsed.errors.extend(errors)
        return
    start: int | None = 0
    while start is not None:
        start = _parse_from(statement, start, parsed)


def _parse_from(statement: Sequence[Token], start: int, parsed: Parsed) -> int | None:
    """Parse from a token on; gives where to begin again after an error, if anywhere."""
    rest = statement[start:]
    machine = parser()
    with machine.lock:
        machine.builder.begin()
        try:
            tree = machine.feed(rest)
            machine.builder.end_of_statement()
        except Rejected as rejection:
            parsed.errors.append(syntax_error(rest, rejection.position, rejection.expected, rejection.to_quote))
            parsed.broken.update(_names(rest[: rejection.position + 1]))
            again = _beginning(rest, max(1, rejection.position))
            return None if again is None else start + again
        errors = machine.builder.errors
    if errors:
        parsed.broken.update(_names(rest))
        parsed.errors.extend(errors)
    else:
        parsed.statements.append(tree)
    return None


def _beginning(found: Sequence[Token], start: int) -> int | None:
    return next((i for i in range(start, len(found)) if begins(found, i)), None)


def _names(found: Sequence[Token]) -> set[str]:
    """The names that broken statements would have defined, so that their use is not called an error as well."""
    return {
        found[i + 1].value
        for i in range(len(found) - 1)
        if found[i].word in ("EVENT", "TYPE") and found[i + 1].kind in (WORD, QUOTED)
    }


# -- what can be seen without a grammar -------------------------------------------------------------------------------


def _lexical(statement: Sequence[Token]) -> list[Diagnostic]:
    errors = [unexpected_character(token) for token in statement if token.kind == BAD][:3]
    if statement[-1].kind == UNTERMINATED:
        errors.append(unterminated(statement[-1], statement))
    errors += [
        Diagnostic("syntax", "a quoted name must not be empty", token.span, hint='write the name inside: "name"')
        for token in statement
        if token.kind == QUOTED and not token.value
    ]
    return errors


def _unbalanced(statement: Sequence[Token]) -> list[Diagnostic]:
    """Brackets that do not match, or nest too deep."""
    opened: list[Token] = []
    for token in statement:
        if token.word in _OPENING:
            opened.append(token)
            if len(opened) > DEEPEST_BRACKETS:
                return [_too_deep(token)]
        elif token.word in _CLOSING:
            if not opened or opened[-1].word != _CLOSING[token.word]:
                return [_not_opened(token, opened)]
            opened.pop()
    return [_not_closed(opened[-1])] if opened else []


def _not_opened(token: Token, opened: list[Token]) -> Diagnostic:
    if not opened:
        return Diagnostic(
            "unbalanced-bracket",
            f'this "{token.word}" closes nothing',
            token.span,
            hint=f'remove it, or open a "{_CLOSING[token.word]}" before',
        )
    wanted = _OPENING[opened[-1].word]
    return Diagnostic(
        "unbalanced-bracket",
        f'this "{token.word}" does not fit the "{opened[-1].word}" before it',
        token.span,
        f'a "{wanted}" is expected',
        related=((opened[-1].span, "opened here"),),
        hint=f'close with "{wanted}" first',
    )


def _not_closed(token: Token) -> Diagnostic:
    return Diagnostic(
        "unbalanced-bracket",
        f'this "{token.word}" is never closed',
        token.span,
        "opened here",
        hint=f'write the missing "{_OPENING[token.word]}"',
    )


def _too_deep(token: Token) -> Diagnostic:
    return Diagnostic(
        "too-deep",
        f"brackets nest deeper than {DEEPEST_BRACKETS} levels",
        token.span,
        f"this is level {DEEPEST_BRACKETS + 1}",
        hint="give parts of it names, as queries of their own",
    )


def _too_long(source: Source, token: Token | None = None) -> Diagnostic:
    more = f"more than {MOST_TOKENS:,} words and signs" if token else f"{len(source.text):,} characters"
    return Diagnostic(
        "too-long",
        f"the text has {more}",
        token.span if token else Span(source, LONGEST, LONGEST + 1),
        "it may go to here",
        detail=f"a text may have {LONGEST:,} characters, and {MOST_TOKENS:,} words, numbers and signs",
        hint="split it into several files; is this a file of data?",
    )


def _empty(source: Source) -> Diagnostic:
    return Diagnostic(
        "empty-file",
        "there is no statement in this text",
        Span(source, 0, 0),
        hint="write EVENT name WHEN SEQUENCE(A, B, 12 hours), for example",
    )
