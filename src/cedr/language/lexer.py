"""Words to keywords, and the parser's loop.

Reading: R47.  A word is a keyword only where the grammar has that keyword; where it has a name, it is a name.  Where
both are possible the next tokens decide: the parser takes the reading in which they can follow.  Where they can follow
both, the keyword wins, except for words that are keywords only in front of something: ``SEQUENCE`` in front of a
parenthesis, ``DATE`` in front of a string, ``LAST`` in front of an event expression.  In front of a dot every word is
a name.  A variable without AS is the exception: there a keyword that may follow the event is always the keyword, so
that a clause that breaks off is not taken for a variable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from threading import Lock
from typing import Any

from cedr.language.build import Builder
from cedr.language.syntax import OPERATOR_WORDS
from cedr.language.tables import Tables, tables
from cedr.language.tokens import QUOTED, SIGN, WORD, Token
from cedr.model.schema import TYPE_NAMES

_BEFORE_PARENTHESIS = OPERATOR_WORDS | {"CAST", "EXTRACT", "CORRELATIONKEY"}
_BEFORE_STRING = frozenset({"TIMESTAMP", "DATE"})
_BEFORE_EVENT = frozenset({"EACH", "FIRST", "LAST"})
_AFTER_EVENT = frozenset({"AS", "REUSE", "CONSUME", "WEIGHT", "VALID", "WHERE", "OUTPUT", "CONSISTENCY", "FROM"})
_NOT_IN_PATTERNS = frozenset({"TRUE", "FALSE", "NULL"})
_CLAUSES = frozenset(
    (
        *(
            "WHEN",
            "WHERE",
            "OUTPUT",
            "FROM",
            "WINDOW",
            "GROUP",
            "HAVING",
            "TOP",
            "CONSISTENCY",
            "JOIN",
            "UNION",
            "EXCEPT",
            "ON",
        ),
        *("AND", "OR", "IS", "IN", "LIKE", "BETWEEN", "THEN", "ELSE", "END", "AS", "DIV"),
    )
)
_TIME_STARTS = frozenset({"TIMESTAMP", "FOREVER", "-"})
_END = "$END"
_AHEAD = 6
"""Tokens that are looked at to tell a keyword from a name: as many as a mode, a type, an alias and a clause have."""

_CHOICES = 8
"""The last keywords of a statement that are tried as names when it is rejected."""


class Rejected(Exception):
    """The grammar has no place for the token at a position, or for the end, if that is the position.

    ``to_quote`` is the place of a keyword that would fit as a name, if it were quoted.
    """

    def __init__(self, position: int, expected: frozenset[str], to_quote: int | None = None) -> None:
        super().__init__(position)
        self.position = position
        self.expected = expected
        self.to_quote = to_quote


class Many(list[Any]):
    """The values of a repetition, on their way into the rule that repeats."""


class _Stack:
    """The stack in a trial: what it adds to the parser's own, of which nothing is copied, however deep it is."""

    __slots__ = ("_added", "_below", "_kept")

    def __init__(self, below: list[int]) -> None:
        self._below, self._kept = below, len(below)
        self._added: list[int] = []

    @property
    def top(self) -> int:
        return self._added[-1] if self._added else self._below[self._kept - 1]

    def push(self, state: int) -> None:
        self._added.append(state)

    def drop(self, count: int) -> None:
        own = min(count, len(self._added))
        del self._added[len(self._added) - own :]
        self._kept -= count - own

    def copy(self) -> _Stack:
        copied = _Stack(self._below)
        copied._kept, copied._added = self._kept, list(self._added)
        return copied


class Parser:
    """The LALR parser, with the builder that it calls; one for the process, so it is used under a lock."""

    def __init__(self, tables: Tables, builder: Builder) -> None:
        self.states = tables.states
        self.rules = tables.rules
        self.start = tables.start
        self.end = tables.end
        self.terminals = tables.terminals
        self.builder = builder
        self.callbacks = [_collect if rule.repeats else builder.callback(rule.method) for rule in tables.rules]
        self.passed: dict[tuple[int, int, str], int] = {}
        self.lock = Lock()

    def feed(self, tokens: Sequence[Token]) -> Any:
        """Parse one statement; what the builder made of it.  Raises ``Rejected`` at the first token out of place."""
        stack = [self.start]
        values: list[Any] = []
        position, count = 0, len(tokens)
        chosen: list[tuple[int, list[int]]] = []  # keywords that could be variables, and the stack in front of each
        try:
            while position < count:
                table = self.states[stack[-1]]
                terminal, used = self._terminal(tokens, position, stack)
                token = tokens[position]
                if token.kind == WORD and terminal != "NAME" and "NAME" in table and "AS" in table:
                    chosen.append((position, list(stack)))
                    del chosen[:-_CHOICES]
                token.type, token.end = terminal, tokens[position + used - 1].end
                stack.append(self._reduce(stack, values, terminal, position))
                values.append(token)
                position += used
            self._reduce(stack, values, _END, count)
        except Rejected as rejection:
            fitting = (p for p, before in reversed(chosen) if self._fits(_Stack(before), tokens, p, "NAME", 2 * _AHEAD))
            rejection.to_quote = next(fitting, None)
            raise
        return values[-1]

    def _reduce(self, stack: list[int], values: list[Any], terminal: str, position: int) -> int:
        """Reduce until the terminal can be shifted, or the whole is reduced; gives the state to go to."""
        states, rules, callbacks = self.states, self.rules, self.callbacks
        while True:
            action = states[stack[-1]].get(terminal)
            if action is None:
                if terminal is _END and stack[-1] == self.end:
                    return self.end
                raise Rejected(position, self._expected(stack))
            if action >= 0:
                return action
            size, origin, _, _ = rules[-1 - action]
            callback = callbacks[-1 - action]
            if callback is None:
                stack[-1] = self._passed(stack[-2], stack[-1], terminal)
                continue
            made = callback(_flat(values[-size:]))  # no rule of the grammar is empty
            del stack[-size:], values[-size:]
            values.append(made)
            stack.append(states[stack[-1]][origin])

    def _passed(self, below: int, state: int, terminal: str) -> int:
        """The state after all reductions that only pass a value on: from a name up to an expression there are ten."""
        known = self.passed.get((below, state, terminal))
        if known is not None:
            return known
        found = state
        while (action := self.states[found].get(terminal, 0)) < 0 and self.callbacks[-1 - action] is None:
            found = self.states[below][self.rules[-1 - action].origin]
        self.passed[below, state, terminal] = found
        return found

    def _terminal(self, tokens: Sequence[Token], position: int, stack: list[int]) -> tuple[str, int]:
        """The terminal that the next token is, and how many tokens make it."""
        readings, otherwise, used = self._readings(tokens, position, self.states[stack[-1]])
        if len(readings) == 1:
            return readings[0], used
        fitting = (terminal for terminal in readings if self._fits(_Stack(stack), tokens, position, terminal, _AHEAD))
        return next(fitting, otherwise), used

    def _readings(
        self, tokens: Sequence[Token], position: int, table: Mapping[str, Any]
    ) -> tuple[tuple[str, ...], str, int]:
        """The terminals that a token may be, the likeliest first; which one to blame if none fits; how many tokens."""
        token = tokens[position]
        kind, word = token.kind, token.word
        if kind == SIGN:
            return _only(self.terminals[word])
        if kind != WORD:
            return _only("NAME" if kind == QUOTED else kind)
        if word == "AS" and "AS_OF" in table and _as_of(tokens, position):
            return ("AS_OF",), "AS_OF", 2
        keyword = self.terminals.get(word)
        if keyword is None:
            return _only("NAME")
        if keyword not in table:
            if begins(tokens, position):
                return _only(keyword)
            if _out_of_place(word, tokens, position, table):
                return ("NAME", keyword), keyword, 1
            return _only("NAME")
        if "NAME" not in table or "AS" in table:  # AS and a name: a variable, whose AS may be left out
            return _only(keyword)
        sure = _surely(word, tokens, position, in_pattern="SEQUENCE" in table)
        if sure is not None:
            return _only(keyword if sure else "NAME")
        readings = (keyword, "NAME") if _rather_keyword(word, tokens, position) else ("NAME", keyword)
        return readings, readings[0], 1

    def _fits(self, stack: _Stack, tokens: Sequence[Token], position: int, terminal: str, ahead: int) -> bool:
        """Whether a token can be this terminal, so that some reading of the tokens ahead can follow."""
        after = stack.copy()
        if not self._shifts(after, terminal):
            return False
        after.push(self.states[after.top][terminal])
        position += 2 if terminal == "AS_OF" else 1
        if position >= len(tokens):
            return self._shifts(after, _END)
        if ahead == 0:
            return True
        readings, _, _ = self._readings(tokens, position, self.states[after.top])
        return any(self._fits(after, tokens, position, reading, ahead - 1) for reading in readings)

    def _expected(self, stack: list[int]) -> frozenset[str]:
        """The terminals that could have stood here, keywords and signs as they are written."""
        written = {name: text for text, name in self.terminals.items()}
        here = [name for name in self.states[stack[-1]] if name.isupper()]
        return frozenset(written.get(name, name) for name in here if self._shifts(_Stack(stack), name))

    def _shifts(self, stack: _Stack, terminal: str) -> bool:
        """Whether a terminal is shifted after all reductions: a look-ahead may hold some that are not."""
        while True:
            action = self.states[stack.top].get(terminal)
            if action is None or action >= 0:
                return action is not None or (terminal == _END and stack.top == self.end)
            rule = self.rules[-1 - action]
            stack.drop(rule.size)
            stack.push(self.states[stack.top][rule.origin])


def _flat(values: list[Any]) -> list[Any]:
    """The values with those of repetitions in their place."""
    if not any(type(value) is Many for value in values):
        return values
    first, *rest = values
    flat = first if type(first) is Many else Many([first])  # a long repetition grows in place
    for value in rest:
        if type(value) is Many:
            flat.extend(value)
        else:
            flat.append(value)
    return flat


def _collect(values: list[Any]) -> Many:
    return values if isinstance(values, Many) else Many(values)


def _following(tokens: Sequence[Token], position: int) -> Token | None:
    return tokens[position + 1] if position + 1 < len(tokens) else None


def _as_of(tokens: Sequence[Token], position: int) -> bool:
    """Whether AS begins AS OF and a time, and not a name after AS."""
    following, then = _following(tokens, position), _following(tokens, position + 1)
    if following is None or following.word != "OF":
        return False
    return then is not None and (then.kind == "INTEGER" or then.word in _TIME_STARTS)


def _only(terminal: str) -> tuple[tuple[str, ...], str, int]:
    return (terminal,), terminal, 1


def _surely(word: str, tokens: Sequence[Token], position: int, *, in_pattern: bool) -> bool | None:
    """Whether a word that could be a keyword or a name is the keyword, where its neighbour alone can tell."""
    following = _following(tokens, position)
    if following is not None and following.word == ".":
        return False
    if word in _BEFORE_PARENTHESIS or (word == "NOT" and in_pattern):
        return following is not None and following.word == "("
    if word in _BEFORE_STRING:
        return following is not None and following.kind == "STRING"
    if word == "CASE":
        return following is not None and following.word == "WHEN"
    if word in _NOT_IN_PATTERNS:
        return not in_pattern
    if word == "FOREVER":
        return not in_pattern or following is None or following.word == ")"
    return None


def _rather_keyword(word: str, tokens: Sequence[Token], position: int) -> bool:
    """Whether a word that could be a keyword or a name is the keyword, where both readings fit."""
    if word not in _BEFORE_EVENT:
        return True
    following = _following(tokens, position)
    return following is not None and following.kind in (WORD, QUOTED) and following.word not in _AFTER_EVENT


def _out_of_place(word: str, tokens: Sequence[Token], position: int, table: Mapping[str, Any]) -> bool:
    """Whether a word where the grammar has only a name may be a keyword: then the message is about what is missing."""
    following = _following(tokens, position)
    at_start = "CASE" in table or "SEQUENCE" in table
    return at_start and word in _CLAUSES and not (following is not None and following.word == ".")


def begins(tokens: Sequence[Token], position: int) -> bool:
    """Whether a statement seems to begin here: EVENT name WHEN, EVENT name FROM, TYPE name ( or TYPE name FROM 'x'."""
    if tokens[position].word not in ("EVENT", "TYPE"):
        return False
    name, then = _following(tokens, position), _following(tokens, position + 1)
    if name is None or then is None or name.kind not in (WORD, QUOTED):
        return False
    if name.kind == WORD and name.word in _CLAUSES:
        return False  # a variable called type: FROM A AS type WHERE (…)
    if position and tokens[position - 1].word in ("(", ",") and name.word in TYPE_NAMES:
        return False  # an attribute called type: TYPE A (type STRUCT(x INTEGER))
    if tokens[position].word == "EVENT":
        return then.word in ("WHEN", "FROM")
    path = _following(tokens, position + 2)
    return then.word == "(" or (then.word == "FROM" and path is not None and path.kind == "STRING")


@cache
def parser() -> Parser:
    """The parser, made at its first use."""
    return Parser(tables(), Builder())


def keywords() -> frozenset[str]:
    """All keywords, in upper case."""
    return frozenset(word for word in parser().terminals if word[0].isalpha())
