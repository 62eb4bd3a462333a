"""Which host runs a query: the one that is named, or else the columnar runtime.

``oracle`` is the executable meaning of the language, ``local`` the columnar runtime in this process, and ``spark`` the
same runtime, split by keys over the workers of a Spark session.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from cedr.hosts.host import Answer, Host, Job, LiveHost, unknown_host
from cedr.hosts.local import Local
from cedr.hosts.oracle import Oracle

DEFAULT: Final = "local"
"""Who runs a query where no host is named."""


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
