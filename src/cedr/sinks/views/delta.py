"""The view as a Delta table, without a JVM; or rows one after the other.

Each batch is one commit that carries the batch's number as a transaction of this output: the rows and the number are
there together or not at all, and whoever writes it twice sees that it is there.  Readings: R10, R48.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any, Final

import pyarrow as pa

from cedr.diagnostics.exceptions import SinkError
from cedr.sinks.contract import Output
from cedr.sinks.errors import altered, differs, dropped, failed, not_ours, other_writer
from cedr.sinks.extras import package
from cedr.sinks.net import net, view_schema

_OURS: Final = "cedr"
"""The transactions of an output are of the application ``cedr/NAME``."""


class Delta:
    """A sink that is a Delta table."""

    traceless = True
    """A batch that changes nothing leaves no trace."""

    def __init__(
        self, path: str | PathLike[str], *, append: bool = False, storage: Mapping[str, str] | None = None
    ) -> None:
        """``storage`` has what an object store needs to know, such as its region."""
        self._path, self._append, self._storage = fspath(path), append, dict(storage or {})
        self._place = f'the Delta table "{self._path}"'
        self._output: Output | None = None
        self._table: Any = None
        self._batch: int | None = None
        """The last batch that was committed; one that changes nothing makes no commit, and has no number here."""
        self._known = False
        """Whether the table was ours when we last looked."""

    @property
    def promise(self) -> str:
        """What is delivered how often."""
        rows = "each row is stored" if self._append else "the table equals the latest belief of all batches stored"
        return f"exactly once: {rows}; rows and the number of their batch are one commit"

    def open(self, output: Output) -> None:
        """Make the table where there is none, and check it where there is one."""
        self._output = output
        try:
            self._load(package("deltalake", "delta"))
        except SinkError:
            raise
        except OSError as error:
            raise failed(self._place, error) from None

    def stored(self) -> int | None:
        """The last batch that is stored."""
        return self._batch

    def write(self, batch: int, changes: pa.Table) -> None:
        """Store a batch in one commit."""
        deltalake = package("deltalake", "delta")
        if self._table is None:
            self._load(deltalake)
        if self._batch is not None and batch <= self._batch:
            return
        try:
            self._check_still_ours(deltalake)
            if not self._commit(deltalake, batch, changes):
                return
        except (SinkError, MemoryError):
            self._table = None
            raise
        except Exception as error:
            self._table = None
            raise failed(self._place, error) from None
        self._batch = batch

    def close(self) -> None:
        """Nothing is held."""
        self._table = None

    def _commit(self, deltalake: Any, batch: int, changes: pa.Table) -> bool:
        """Whether there was anything to commit."""
        told = deltalake.CommitProperties(
            app_transactions=[deltalake.Transaction(self._name, batch)], max_commit_retries=0
        )
        if self._append:
            if not changes.num_rows:
                return False
            rows = _kept(changes)
            deltalake.write_deltalake(self._table, rows, mode="append", commit_properties=told)
            return True
        change = net(changes)
        if not change.present.num_rows and not change.gone.num_rows:
            return False
        rows = _kept(change.present).append_column(
            "cedr_gone", pa.repeat(pa.scalar(value=False), change.present.num_rows)
        )
        gone = change.gone.append_column("cedr_gone", pa.repeat(pa.scalar(value=True), change.gone.num_rows))
        source = pa.concat_tables([rows, gone], promote_options="default")
        own = [name for name in source.column_names if name != "cedr_gone"]
        every = {_name(name): f"s.{_name(name)}" for name in own}
        (
            self._table.merge(
                source,
                "t.id = s.id AND (NOT s.cedr_gone OR t.`K` = s.`K`)",
                source_alias="s",
                target_alias="t",
                commit_properties=told,
            )
            .when_matched_delete("s.cedr_gone")
            .when_matched_update(every, predicate="NOT s.cedr_gone")
            .when_not_matched_insert(every, predicate="NOT s.cedr_gone")
            .execute()
        )
        return True

    @property
    def _name(self) -> str:
        assert self._output is not None
        return f"{_OURS}/{self._output.name}"

    def _wanted(self) -> pa.Schema:
        assert self._output is not None
        return _kept((self._output.schema if self._append else view_schema(self._output.schema)).empty_table()).schema

    def _load(self, deltalake: Any) -> None:
        """Look at the table, or make it; what is stored is what it says."""
        if not deltalake.DeltaTable.is_deltatable(self._path, self._storage):
            if self._known:
                raise dropped(self._place, self._batch)
            deltalake.DeltaTable.create(
                self._path,
                self._wanted(),
                name=self._name,
                description=self._described(),
                storage_options=self._storage,
            )
        self._table = deltalake.DeltaTable(self._path, storage_options=self._storage)
        self._check_columns()
        self._batch, self._known = self._table.transaction_version(self._name), True

    def _check_still_ours(self, deltalake: Any) -> None:
        if not deltalake.DeltaTable.is_deltatable(self._path, self._storage):
            raise dropped(self._place, self._batch)
        self._table = deltalake.DeltaTable(self._path, storage_options=self._storage)
        self._check_columns()
        found = self._table.transaction_version(self._name)
        if found != self._batch:
            raise other_writer(self._place, self._batch, found)

    def _check_columns(self) -> None:
        if self._table.metadata().name != self._name:
            raise not_ours(self._place)
        there = {field.name: str(field.type) for field in self._table.schema().fields}
        wanted = {field.name: str(field.type) for field in _delta_fields(self._wanted())}
        if there == wanted:
            return
        missing = [name for name in wanted if name not in there]
        added = [name for name in there if name not in wanted]
        odd = (missing or added or [name for name in wanted if there[name] != wanted[name]])[0]
        what = f'the column "{odd}" ' + ("is not there" if missing else "was added" if added else "has another type")
        ours = self._table.metadata().description == self._described()
        raise altered(self._place, what) if ours else differs(self._place, what)

    def _described(self) -> str:
        """The columns as they were when the table was made."""
        columns = ", ".join(f"{field.name} {field.type}" for field in self._wanted())
        return f"kept by CEDR: {columns}"


def _name(column: str) -> str:
    return f"`{column}`"


def _delta_fields(schema: pa.Schema) -> Any:
    return package("deltalake", "delta").Schema.from_arrow(schema).fields


def _kept(rows: pa.Table) -> pa.Table:
    """The rows in types that Delta has: durations are microseconds."""
    made = {
        name: column.cast(pa.duration("us")).cast(pa.int64()) if pa.types.is_duration(column.type) else column
        for name, column in zip(rows.column_names, rows.columns, strict=True)
    }
    return pa.table(made)
