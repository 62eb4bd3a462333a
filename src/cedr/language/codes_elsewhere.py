"""The codes that are not about the text of a query: message files, evaluation, the command line.

They are made elsewhere and only listed here, so that one page has them all.
"""

from __future__ import annotations

from collections.abc import Mapping

DEAD_LETTERS: Mapping[str, str] = {
    "bad-encoding": "is not UTF-8",
    "bad-json": "is not JSON",
    "line-too-long": "is longer than a line may be",
    "bad-message": "is no object, or has a field of the wrong kind",
    "unknown-message": "is neither insert, retract nor guarantee",
    "unknown-field": "has a field that does not exist",
    "missing-field": "lacks a field that is required",
    "bad-time": "has a time that is neither an integer nor a timestamp",
    "time-out-of-range": "has a time beyond 64 bits, or one that cannot stand there",
    "valid-end-before-start": "has Ve before Vs",
    "occurrence-end-before-start": "has Oe before Os",
    "wrong-value": "has a value that is not of the attribute's type",
    "broken-guarantee": "comes after a guarantee that it would not (R39)",
    "key-reused": "is a second insert under one key, with other content (R41)",
    "second-live-row": "is a second row of one ID and Os under another key (R41)",
    "retraction-without-insert": "retracts a key that never came (R41)",
    "lengthening-retraction": "would move an end later (R3)",
    "revision-too-late": "revises an event later than its type allows (R37)",
    "unknown-type": "is a row of a DataFrame of a type that was not declared",
    "null-id": "is a row of a columnar batch without an ID",
    "null-time": "is a row of a columnar batch without a time",
    "removal-too-late": "removes a modification that a level with finite memory has forgotten (R34)",
}
"""What is wrong with a message that becomes a dead letter."""

ELSEWHERE: Mapping[str, str] = {
    "no-query": "the text has types but no query to evaluate",
    "unknown-query": "the file has no query of the name that was asked for",
    "unknown-level": "the consistency level that was asked for does not exist",
    "unknown-host": "there is no such host to run a query on",
    "no-java": "the host spark needs Java 17 or newer, and none was found",
    "not-live": "an operator of the query does not run on live streams; the host oracle evaluates it on a finite file",
    "batch-not-positive": "a run was asked to take less than one message at a time",
    "no-state": "the host oracle keeps no state that could be stored",
    "restore-too-late": "a run had taken messages already when it was to be restored",
    "unknown-column": "a table of events has no column of the name that was given",
    "wrong-column-type": "a column of events cannot be an ID, or a time",
    "no-event-type": "no column tells the type of an event, or a type has no DataFrame",
    "no-spark-type": "an attribute has values of no single Spark type",
    "not-bounded": "a final result was asked of a stream",
    "not-streaming": "something was asked of a bounded query that only a stream can do",
    "no-history": "AS OF was asked of events that do not tell when they arrived",
    "no-dead-letters": "a DataFrame was made without its dead letters",
    "checkpoint-changed": "a checkpoint is of another query, other types, another key or another number of buckets",
    "no-segment": "a checkpoint has lost a part of its state",
    "said-is-gone": "a worker process ended before what it had said was made into rows; Spark makes the step again",
    "cannot-control": "the folder of control messages cannot be written to",
    "spark-not-started": "Spark was to be started here, and has not",
    "query-stopped": "a query on Spark was stopped from outside while its end was waited for",
    "worker-failed": "a query failed in a worker of Spark; says in which bucket and operator, and about which event",
    "unequal-columns": "the columns of a batch of events are not equally long",
    "unknown-state-version": "the state was stored by another version, in a form that is not known",
    "no-messages": "a warning: no message has a type that the query names",
    "unless-early": "a note: at its level UNLESS emits rows that it retracts when a second event comes (R33)",
    "types-not-declared": "a note: without declared types, names are not checked",
    "cannot-read": "a file is not there, or cannot be read",
    "unreadable-file": "a file of events among others cannot be read as what it should be; also a dead letter",
    "unreadable-line": "a line or row of a file of events is not what it should be; also a dead letter",
    "unknown-policy": "what is to be done with files that cannot be read is neither failing nor a dead letter",
    "cannot-write": "a file cannot be written",
    "already-there": "a file or folder that is to be written is there; it is not written over unasked",
    "bad-count": "fewer events, machines or messages than one were asked for, or too many",
    "bad-share": "a share is not from 0 to 1, or shares of the same events are more than all of them",
    "bad-duration": "a duration is not written as one, or is not longer than nothing",
    "bad-start": "a start is no timestamp",
    "bad-pace": "a pace is not more than nothing, or is asked for where nothing appears bit by bit",
    "unknown-format": "a file is to be written in a format that does not exist, or its name says none",
    "unknown-correction": "what corrections are to correct is not an attribute that can be",
    "too-large": "the input is larger or deeper than can be handled",
    "endless-rewrite": "our defect: rewriting a plan did not end; please report it",
    "no-denotation": "our defect: an operator has no meaning; please report it",
}
"""What may be wrong before and after."""
