"""``cedr route``: events to those who have subscribed to them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
import typer

from cedr.cli.describing import Data
from cedr.cli.reporting import WRONG, report, say
from cedr.cli.show import show, working
from cedr.connect.rows import end_as_data
from cedr.connect.tables import Clock, Table
from cedr.connect.values import as_json
from cedr.data.opening import origin_of
from cedr.data.words import words_of
from cedr.data.writing import format_of, write_table
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.event_types import read_types
from cedr.model.event import Payload
from cedr.model.time import FIRST_TIMESTAMP
from cedr.subscriptions.arriving import opened
from cedr.subscriptions.given import listed
from cedr.subscriptions.routed import HEADER, Routed
from cedr.subscriptions.subscriptions import Subscriptions

_SHOWN = 1_000
"""So many pairs are printed as a table where nobody says how many."""
_DRAWN = 20
"""So many dead letters and failures are printed."""
_CLOCKS = ("Vs", "Ve", "Os", "Oe")


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing:
    """What is shown, and how."""

    as_json: bool
    limit: int | None
    output: str | None


def route_file(
    file: str,
    data: Data,
    catalogs: Sequence[str],
    consistency: str | None,
    batch: int | None,
    printing: Printing,
    *,
    strict: bool,
) -> None:
    """Route and print; dead letters and failures go to standard error."""
    if printing.output is not None:
        format_of(printing.output)
    given = data.given()
    if given is None:
        raise StreamError(Diagnostic("no-data", "no data is named", hint="name it: --events FILE or --messages FILE"))
    asked = [(id_, where, of or data.words.get("type")) for id_, where, of in listed(origin_of(file, words_of({})))]
    names = {of.strip("'") for _, _, of in asked if isinstance(of, str)}
    catalog = read_types(catalogs)
    with working("routing"):
        types, steps = opened(given, catalog, data.words, batch, data.bad_rows, names)
        subscriptions = Subscriptions(types, consistency=consistency or "MIDDLE")
        subscriptions.add_all(
            (id_, where, of.strip("'")) if isinstance(of, str) else (id_, where) for id_, where, of in asked
        )
        routed = [each for each in subscriptions.route(steps) if len(each)]
    _print(routed, printing)
    told = (*subscriptions.failures, *subscriptions.dead_letters)
    report(list(told[:_DRAWN]))
    if len(told) > _DRAWN:
        say(f"… and {len(told) - _DRAWN:,} more")
    raise typer.Exit(WRONG if strict and told else 0)


def _print(routed: Sequence[Routed], printing: Printing) -> None:
    if printing.output is not None:
        table = _whole(routed)
        write_table(table, printing.output)
        say(f"{printing.output}: {table.num_rows:,} rows")
    elif printing.as_json:
        for row in islice(_rows(routed), printing.limit):
            sys.stdout.write(json.dumps(_as_data(row), ensure_ascii=False) + "\n")
    else:
        count = sum(map(len, routed))
        most = _SHOWN if printing.limit is None else printing.limit
        show(f"{count:,} routed", _as_text([*islice(_rows(routed), most)], count))


def _whole(routed: Sequence[Routed]) -> pa.Table:
    tables = [_plain(each.to_arrow()) for each in routed] or [
        pa.table({name: pa.nulls(0, pa.string()) for name in HEADER})
    ]
    return pa.concat_tables(tables, promote_options="permissive")


def _plain(table: pa.Table) -> pa.Table:
    """The same columns without dictionaries."""
    columns = zip(table.schema.names, table.columns, strict=True)
    coded = {
        name: pa.types.is_dictionary(column.type)
        for name, column in zip(table.schema.names, table.columns, strict=True)
    }
    return pa.table({name: c.cast(c.type.value_type) if coded[name] else c for name, c in columns})


def _rows(routed: Sequence[Routed]) -> Iterator[Mapping[str, Any]]:
    for each in routed:
        for table in each.by_type().values():
            yield from table.to_pylist()


def _as_data(row: Mapping[str, Any]) -> dict[str, object]:
    told = {name: row[name] for name in ("subscription", "change", "type", "id")}
    times = {name.lower(): end_as_data(row[name]) for name in _CLOCKS}
    return {**told, **times, "payload": as_json(_payload(row))}


def _payload(row: Mapping[str, Any]) -> Payload:
    return Payload({name: value for name, value in row.items() if name not in HEADER})


def _as_text(rows: Sequence[Mapping[str, Any]], count: int) -> Table:
    names = list(dict.fromkeys(name for row in rows for name in row if name not in HEADER))
    clock = Clock(any(row["Vs"] >= FIRST_TIMESTAMP for row in rows))
    cells = tuple(
        (
            *(str(row[name]) for name in ("subscription", "change", "type", "id")),
            *(clock.show(row[name]) for name in ("Vs", "Ve")),
            *("NULL" if row.get(name) is None else str(as_json(_payload(row)[name])) for name in names),
        )
        for row in rows
    )
    left = count - len(rows)
    return Table(
        ("subscription", "change", "type", "id", "Vs", "Ve", *names), cells, note=f"… and {left:,} more" if left else ""
    )
