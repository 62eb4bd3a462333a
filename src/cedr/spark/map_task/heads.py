"""The head that a map task sends to every bucket: what all buckets must know of its rows.

Readings: R7 (Sync), R33 (all buckets share h and g), R41.  A head has an entry for each CEDR time of the rows: the
largest Sync of each source and provider, the guarantees of providers, and control messages.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.model.time import BEGINNING, FOREVER
from cedr.spark.layout.layout import BAD_TIME, CONTROL, GUARANTEE, INSERT, RETRACT, UNKNOWN, Layout

Times = NDArray[np.int64]
Mask = NDArray[np.bool_]


def numbers(rows: pa.Table, name: str, missing: int = 0) -> Any:
    """A column of whole numbers, with ``missing`` for NULL."""
    column = rows.column(name)
    if column.null_count:
        column = pc.fill_null(column, missing)
    return column.to_numpy()


class Heads:
    """Makes the head of some rows: what all buckets must know of them."""

    def __init__(self, layout: Layout, rows: pa.Table) -> None:
        self._layout, self._rows = layout, rows
        names = rows.column_names
        self._kinds = numbers(rows, "kind") if "kind" in names else np.broadcast_to(np.int8(INSERT), rows.num_rows)
        self._sources = numbers(rows, "source") if "source" in names else None

    def entries(self) -> list[dict[str, Any]]:
        """One entry for each CEDR time, in rising order."""
        names = self._rows.column_names
        if "arrival" not in names:
            entry = self._entry(None, np.ones(self._rows.num_rows, np.bool_))
            if "cedr" in names:
                entry["time"] = int(self._rows.column("cedr")[0].as_py())
            return [entry]
        arrivals = numbers(self._rows, "arrival", BEGINNING)
        order = np.argsort(arrivals, kind="stable")
        times, firsts = np.unique(arrivals[order], return_index=True)
        cuts = [*firsts.tolist(), len(order)]
        entries = []
        for number, time in enumerate(times.tolist()):
            own = self._rows.take(pa.array(order[cuts[number] : cuts[number + 1]]))
            entries.append(Heads(self._layout, own)._entry(time, np.ones(own.num_rows, np.bool_)))
        return entries

    def _entry(self, time: int | None, chosen: Mask) -> dict[str, Any]:
        entry: dict[str, Any] = {"time": time, "highs": self._highs(chosen)}
        promises = self._promises(chosen)
        if promises:
            entry["promises"] = promises
        if "control" in self._rows.column_names:
            commands = self._rows.column("control").filter(pa.array(chosen & (self._kinds == CONTROL))).to_pylist()
            if commands:
                entry["control"] = commands
        return entry

    def _highs(self, chosen: Mask) -> list[list[Any]]:
        """The largest Sync of each source and provider, over the messages that are certain to be usable."""
        syncs, usable = self._syncs()
        highs: list[list[Any]] = []
        sources = [0] if self._sources is None else np.unique(self._sources[chosen]).tolist()
        for source in sources:
            of_source = chosen if self._sources is None else chosen & (self._sources == source)
            if "provider" not in self._rows.column_names:
                highs += self._high(source, self._layout.sources[source].provider, of_source & usable, syncs)
                continue
            providers = self._rows.column("provider").filter(pa.array(of_source)).unique().to_pylist()
            column = self._rows.column("provider")
            for provider in sorted(providers, key=str):
                same = (
                    pc.is_null(column)
                    if provider is None
                    else pc.equal(column, provider).fill_null(pa.scalar(value=False))
                )
                own = of_source & same.to_numpy()
                name = provider if provider is not None else self._layout.sources[source].provider
                highs += self._high(source, name, own & usable, syncs)
        return highs

    def _high(self, source: int, provider: str | None, rows: Mask, syncs: Times) -> list[list[Any]]:
        return [[source, provider, int(syncs[rows].max())]] if rows.any() else []

    def _syncs(self) -> tuple[Times, Mask]:
        """Sync of inserts and retractions, and which of them move h.  Readings: R7, R33, R41.

        A removal has the Sync of its insert.  If the insert has arrived, it has moved h already; if not, the removal
        must not move h.  Only its bucket knows whether a shortening waits for its insert; a shortening moves h at once.
        """
        rows = self._rows
        vs = numbers(rows, "vs", BEGINNING)
        os = self._or("os", vs)
        ve, oe = (self._or(name, np.broadcast_to(np.int64(FOREVER), vs.shape)) for name in ("ve", "oe"))
        codes = numbers(rows, "code")
        known = (vs > BAD_TIME) & (vs < FOREVER)
        if rows.column("id").null_count:
            known &= rows.column("id").is_valid().to_numpy()
        usable = known & (codes != UNKNOWN)
        if not {"kind", "os", "ve", "oe"}.intersection(rows.column_names):  # stated in time, and open
            return os, usable
        known, usable = known & (os < FOREVER), usable & (os < FOREVER) & (os <= self._latest(vs, codes))
        usable &= (self._kinds == INSERT) & (ve >= vs) & (oe >= os)
        retracts = self._kinds == RETRACT
        if not retracts.any():
            return os, usable
        ends = np.minimum(np.where(oe <= os, os, oe), np.where(ve <= vs, os, np.maximum(os, ve)))
        named = retracts & known & (os < ends) & (ends < FOREVER)
        return np.where(retracts, ends, os), usable | named

    def _latest(self, vs: Times, codes: NDArray[np.int8]) -> Times:
        """The latest Os of each event.  Reading: R41."""
        allowed = np.zeros(len(vs), np.int64)
        for number, each in enumerate(self._layout.types):
            if each.revisable:
                allowed[codes == number] = each.revisable
        latest: Times = np.where(allowed > FOREVER - np.maximum(vs, 0), FOREVER, vs + allowed)
        return latest

    def _or(self, name: str, default: Times) -> Times:
        if name not in self._rows.column_names:
            return default
        column = self._rows.column(name)
        if not column.null_count:
            return np.asarray(column.to_numpy())
        return np.where(column.is_null().to_numpy(), default, pc.fill_null(column, 0).to_numpy())

    def _promises(self, chosen: Mask) -> list[list[Any]]:
        """The guarantee of each provider, from guarantee rows or from a column."""
        promises: dict[str | None, int] = {}
        names = self._rows.column_names
        sources = [("vs", chosen & (self._kinds == GUARANTEE))]
        if "promise" in names:
            sources.append(("promise", chosen))
        for name, rows in sources:
            if not rows.any():
                continue
            keys = [key for key in ("provider", "source") if key in names]
            part = self._rows.filter(pa.array(rows)).select([*keys, name])
            for row in part.group_by(keys).aggregate([(name, "max")]).to_pylist():
                time, source = row[f"{name}_max"], row.get("source") or 0
                provider = row.get("provider") or self._layout.sources[source].provider
                if time is not None:
                    promises[provider] = max(promises.get(provider, time), time)
        return [[provider, time] for provider, time in sorted(promises.items(), key=lambda item: str(item[0]))]
