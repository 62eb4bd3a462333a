"""Which host runs a query: the one that is named, or else the columnar runtime where it can.

``oracle`` is the executable meaning of the language, ``local`` the columnar runtime in this process, and ``spark`` the
same runtime, split by keys over the workers of a Spark session.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Final, NamedTuple

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.host import Answer, Host, Job, LiveHost, unknown_host
from cedr.hosts.local import Local
from cedr.hosts.oracle import Oracle
from cedr.model.level import MIDDLE
from cedr.model.schema import Catalog
from cedr.plan.compile import CompiledQuery

NOT_LIVE: Final = "not-live"
"""The code of the error for a plan that the columnar runtime cannot run."""


class _Spark:
    """The host ``spark``, which is loaded when it is first asked."""

    name: Final = "spark"

    def evaluate(self, job: Job) -> Answer:
        """The same rows, by a query on Spark."""
        answer: Answer = import_module("cedr.spark.api.host").evaluate(job)  # by name: the hosts stand below Spark
        return answer


HOSTS: dict[str, Host] = {host.name: host for host in (Oracle(), Local(), _Spark())}
"""Every host by its name."""


def host_named(name: str) -> Host:
    """The host of a name.  Raises ``HostError``."""
    if name not in HOSTS:
        raise unknown_host(name, HOSTS)
    return HOSTS[name]


def live_host_named(name: str) -> LiveHost:
    """The host of a name, to run a query on a stream.  Raises ``HostError``."""
    host = HOSTS.get(name)
    if not isinstance(host, LiveHost):
        raise unknown_host(name, (each.name for each in HOSTS.values() if isinstance(each, LiveHost)))
    return host


class Fitting(NamedTuple):
    """The host for a query where none is named, and what that costs."""

    name: str
    warnings: tuple[Diagnostic, ...] = ()


def fitting_host(query: CompiledQuery, types: Catalog, providers: Iterable[str] = ()) -> Fitting:
    """The host local if it can run the query; else the oracle, with a warning."""
    try:
        live_host_named("local").start(query.plan, MIDDLE, types, providers)
    except HostError as error:
        if all(diagnostic.code == NOT_LIVE for diagnostic in error.diagnostics):
            return Fitting("oracle", (_on_the_oracle(query),))
        raise
    return Fitting("local")


def _on_the_oracle(query: CompiledQuery) -> Diagnostic:
    """What it costs that only the oracle runs a query."""
    primary = f'"{query.name}" uses the algebra, which the columnar runtime does not run: the oracle evaluates it'
    detail = "the oracle is slow: its time grows with the square of the events, and thousands of them take minutes"
    hint = 'host="oracle" (--host oracle) says that this is meant'
    return Diagnostic("on-the-oracle", primary, detail=detail, hint=hint, severity="warning")
