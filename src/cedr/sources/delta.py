"""A source of a Delta table: the rows that each version adds; a version that removes rows is an error."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from cedr.data.frames import Frame
from cedr.data.origins import Origin
from cedr.sources.contract import Chunk, Offset, missing_extra, refused


class Delta:
    """The versions of a table, one after the other; the first chunk is the whole table as it is."""

    single = False
    pushed = False
    provider_column: str | None = None
    finished = False

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self.name = name
        self._path = str(options["table"])
        self._storage = {key: str(value) for key, value in options.get("storage", {}).items()} or None
        self._version: int | None = None
        try:
            import deltalake
        except ModuleNotFoundError:
            raise missing_extra(name, "deltalake", "delta") from None
        self._deltalake = deltalake
        self._open(None)

    def providers(self) -> None:
        """The source itself."""

    def resume(self, end: Offset, done: Collection[str]) -> None:  # noqa: ARG002 - the contract
        """Go on after a version."""
        self._version = end

    def next(self, most: int) -> Chunk | None:  # noqa: ARG002 - a version is whole
        """The table as it is, then what each version adds."""
        newest = int(self._open(None).version())
        if self._version is not None and newest <= self._version:
            return None
        before, self._version = self._version, newest if self._version is None else self._version + 1
        return Chunk([before, self._version], self._version)

    def read(self, chunk: Chunk) -> Origin:
        """The files that were added since the version before."""
        before, version = chunk.what
        now = self._open(version)
        new = set(now.file_uris())
        if before is not None:
            old = set(self._open(before).file_uris())
            if old - new:
                hint = "write by append only, or start anew with another checkpoint"
                primary = f"version {version} of {self._path} removes or rewrites rows that were read before"
                raise refused(self.name, "source-changed", primary, hint=hint)
            new -= old
        rows = now.to_pyarrow_dataset()
        names = {each.rpartition("/")[2] for each in new}
        chosen = [each for each in rows.get_fragments() if each.path.rpartition("/")[2] in names]
        added = type(rows)(chosen, rows.schema, rows.format, rows.filesystem)
        return Frame(added.to_table(), f"{self._path} version {version}")

    def close(self) -> None:
        """Nothing is held."""

    def _open(self, version: int | None) -> Any:
        try:
            return self._deltalake.DeltaTable(self._path, version=version, storage_options=self._storage)
        except Exception as error:
            first = str(error).splitlines()[0]
            raise refused(self.name, "cannot-read", f"cannot read the Delta table {self._path}: {first}") from None
