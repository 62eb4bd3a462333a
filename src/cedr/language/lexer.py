"""Words to keywords: the contextual half of the lexer, and the one cached parser.

A word is a keyword only where the grammar has that keyword; where it has a name, it is a name.  Where both are
possible the keyword wins, except for words that are keywords only in front of something: ``SEQUENCE`` in front of a
parenthesis, ``DATE`` in front of a string, ``LAST`` in front of an event expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from cedr.language.tokens import QUOTED, SIGN, WORD, Token

if TYPE_CHECKING:  # lark takes a tenth of a second to import: only when something is parsed
    from lark import Lark

_BEFORE_PARENTHESIS = frozenset(
    ["SEQUENCE", "ALL", "ANY", "ATLEAST", "ATMOST", "UNLESS", "CANCEL-WHEN", "CAST", "EXTRACT", "CORRELATIONKEY"]
)
_BEFORE_STRING = frozenset({"TIMESTAMP", "DATE", "DECIMAL"})
_BEFORE_EVENT = frozenset({"EACH", "FIRST", "LAST"})
_AFTER_EVENT = frozenset({"AS", "REUSE", "CONSUME", "WEIGHT"})
_TIME_STARTS = frozenset({"TIMESTAMP", "FOREVER", "-"})


class Rejected(Exception):
    """The grammar has no place for a token; ``token`` is None at the end of the statement."""

    def __init__(self, position: int, expected: frozenset[str]) -> None:
        super().__init__(position)
        self.position = position
        self.expected = expected


@dataclass
class Parser:
    """The LALR parser, with the builder that it calls; one for the process, so it is used under a lock."""

    lark: Lark
    builder: Any
    terminals: Mapping[str, str]
    lock: Lock = field(default_factory=Lock)

    def feed(self, tokens: Sequence[Token]) -> Any:
        """Parse one statement; what the builder made of it.  Raises ``Rejected`` at the first token out of place."""
        state = self.lark.parse_interactive().parser_state
        states = state.parse_conf.parse_table.states
        position, count = 0, len(tokens)
        while position < count:
            table = states[state.state_stack[-1]]
            terminal, used = self._terminal(tokens, position, table)
            if terminal not in table:
                raise Rejected(position, self._expected(state))
            token = tokens[position]
            token.type, token.end = terminal, tokens[position + used - 1].end
            state.feed_token(cast("Any", token))
            position += used
        if "$END" not in states[state.state_stack[-1]]:
            raise Rejected(count, self._expected(state))
        return state.feed_token(cast("Any", Token("$END", "", tokens[-1].source, 0, 0)), is_end=True)

    def _terminal(self, tokens: Sequence[Token], position: int, table: Mapping[str, Any]) -> tuple[str, int]:
        """The terminal that the next token is, and how many tokens make it."""
        token = tokens[position]
        if token.kind == SIGN:
            return self.terminals[token.value], 1
        if token.kind == QUOTED:
            return "NAME", 1
        if token.kind != WORD:
            return token.kind, 1
        word = token.word
        if word == "AS" and "AS_OF" in table and _as_of(tokens, position):
            return "AS_OF", 2
        keyword = self.terminals.get(word)
        if keyword is not None and keyword in table and ("NAME" not in table or _keyword_here(word, tokens, position)):
            return keyword, 1
        return "NAME", 1

    def _expected(self, state: Any) -> frozenset[str]:
        """The terminals that could have stood here."""
        states = state.parse_conf.parse_table.states
        here = states[state.state_stack[-1]]
        return frozenset(name for name in here if name.isupper() and _shifts(states, list(state.state_stack), name))


def _shifts(states: Any, stack: list[int], terminal: str) -> bool:
    """Whether the terminal is shifted after all reductions (a look-ahead set may hold some that are not)."""
    while True:
        action = states[stack[-1]].get(terminal)
        if action is None:
            return False
        kind, argument = action
        if kind.name == "Shift":
            return True
        size = len(argument.expansion)
        if size:
            del stack[-size:]
        if argument.origin.name.startswith("$root"):
            return True
        stack.append(states[stack[-1]][argument.origin.name][1])


def _next(tokens: Sequence[Token], position: int) -> Iterator[Token]:
    return iter(tokens[position + 1 : position + 3])


def _as_of(tokens: Sequence[Token], position: int) -> bool:
    following = [*_next(tokens, position)]
    if len(following) < 2 or following[0].word != "OF":
        return len(following) == 1 and following[0].word == "OF"
    return following[1].kind == "INTEGER" or following[1].word in _TIME_STARTS


def _keyword_here(word: str, tokens: Sequence[Token], position: int) -> bool:
    """Whether a word that could be a keyword or a name is the keyword."""
    following = next(_next(tokens, position), None)
    if word in _BEFORE_PARENTHESIS:
        return following is not None and following.word == "("
    if word in _BEFORE_STRING:
        return following is not None and following.kind == "STRING"
    if word in _BEFORE_EVENT:
        return following is not None and following.kind in (WORD, QUOTED) and following.word not in _AFTER_EVENT
    if word == "CASE":
        return following is not None and following.word == "WHEN"
    return True


@cache
def parser() -> Parser:
    """The parser, made at its first use."""
    from lark import Lark
    from lark.lexer import Lexer
    from lark.lexer import Token as LarkToken

    from cedr.language.build import Builder

    class Fed(Lexer):
        """Tokens are fed one by one; nothing is left to lex."""

        def __init__(self, _: object) -> None: ...

        def lex(self, *_: object) -> Iterator[LarkToken]:
            return iter(())

    grammar = resources.files("cedr.language").joinpath("grammar.lark").read_text("utf-8")
    builder = Builder()
    lark = Lark(
        grammar,
        parser="lalr",
        lexer=Fed,
        start="statement",
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=builder.callbacks(),
    )
    terminals = {t.pattern.value.upper(): t.name for t in lark.terminals if t.pattern.type == "str"}
    return Parser(lark, builder, terminals)


def keywords() -> frozenset[str]:
    """All keywords, in upper case."""
    return frozenset(word for word in parser().terminals if word[0].isalpha())
