"""The codes of errors that are seen while a text is read: characters, words, grammar, the arguments of operators."""

from __future__ import annotations

from cedr.diagnostics.code import Code

LONGEST, DEEPEST_BRACKETS = 1_000_000, 100
"""The parser's limits; the examples lie just beyond them."""

TEXT: tuple[Code, ...] = (
    Code(
        "syntax",
        "the grammar has no place for this word or sign",
        "The message says what could stand there. Statements are separated by semicolons; each is read on its own.",
        "EVENT Pairs\nWHEN SEQUENCE(A AS a B AS b, 5 minutes)\n",
    ),
    Code(
        "empty-file",
        "the text has no statement",
        "It is empty, or holds comments only.",
        "-- nothing but a comment\n",
    ),
    Code(
        "too-long",
        "the text is too long",
        "A text may have a million characters, and a quarter as many words and signs: more is a file of data.",
        "EVENT Q WHEN ANY(A) -- ".ljust(LONGEST + 1, "x"),
        shown="The example is a text of 1,000,001 characters.",
    ),
    Code(
        "too-deep",
        "brackets or operators nest too deep",
        f"Brackets may nest {DEEPEST_BRACKETS} levels, expressions 150. Name parts of it as queries of their own.",
        "EVENT Deep WHEN " + "ANY(" * (DEEPEST_BRACKETS + 1) + "A" + ")" * (DEEPEST_BRACKETS + 1) + "\n",
    ),
    Code(
        "unexpected-character",
        "no word or sign begins with this character",
        "Often a quote from a word processor, or a file that is no text. Names with unusual characters are quoted.",
        "EVENT Q WHEN ANY(A AS a) WHERE a.x = 1 & a.y = 2\n",
    ),
    Code(
        "unterminated-string",
        "a quote is never closed",
        "Texts stand in single quotes, names in double quotes; a quote inside is written twice.",
        "EVENT Q WHEN ANY(A AS a) WHERE a.name = 'O'Neill'\n",
    ),
    Code(
        "unbalanced-bracket",
        "a bracket is never closed, or closes nothing",
        "The place is the bracket without a partner.",
        "EVENT Q WHEN UNLESS(SEQUENCE(A, B, 12 hours), C, 5 minutes\nWHERE CorrelationKey(x, EQUAL)\n",
    ),
    Code(
        "invalid-literal",
        "a constant has no value",
        "A timestamp that does not exist, a number that does not fit, bytes that are no hexadecimal digits.",
        "EVENT Q WHEN ANY(A AS a) WHERE a.Vs > TIMESTAMP '2026-02-30 12:00:00Z'\n",
    ),
    Code(
        "unknown-data-type",
        "there is no such data type",
        "The message lists those that exist. ANY is for attributes of unknown type.",
        "TYPE A (x INTEGR)\n",
    ),
    Code(
        "scope-missing",
        "an operator has no scope at its end",
        "It ends in a scope, the longest time that its events lie apart.",
        "EVENT Q WHEN SEQUENCE(A AS a, B AS b)\n",
    ),
    Code(
        "scope-not-duration",
        "the scope is not a duration",
        "A scope is a number and a unit, a bare number of ticks, or FOREVER.",
        "EVENT Q WHEN SEQUENCE(A AS a, B AS b, '12 hours')\n",
    ),
    Code(
        "count-not-number",
        "a count is missing or no whole number",
        "ATLEAST and ATMOST begin with a count; the number of a contributor in UNLESS and a WEIGHT are bare numbers.",
        "EVENT Q WHEN ATLEAST(A AS a, B AS b, 12 hours)\n",
    ),
    Code(
        "wrong-arguments",
        "an operator or function has the wrong arguments",
        "Too many, too few, or of a kind that it does not take.",
        "EVENT Q WHEN UNLESS(A AS a, B AS b, C AS c, 5 minutes)\n",
    ),
    Code(
        "unknown-option",
        "WITH has no such option",
        "The message lists the options; the reference of the language says what each means.",
        "TYPE TX (card STRING) FROM 'tx.csv' WITH (tme = ts, id = tx_id)\n",
    ),
    Code(
        "wrong-option",
        "an option of WITH has a value that it does not take",
        "A column is a name, quoted or not; a text stands in single quotes; a duration has a unit or is a number.",
        "TYPE TX (card STRING) FROM 'tx.csv' WITH (time = ts, disorder = soon)\n",
    ),
    Code(
        "level-negative",
        "B or M of a consistency level is negative",
        "B is how long a query may wait for late events, M how far back it remembers: both are 0 or more.",
        "TYPE A (x INTEGER);\nEVENT Q WHEN ANY(A) CONSISTENCY BLOCKING -5 MEMORY 10 minutes\n",
    ),
)
