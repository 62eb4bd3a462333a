"""``cedr demo``: on Spark, or in this process where Spark is missing or not wanted.

Paper: Section 3.1 (CIDR07_Example), Section 5, Figure 8.  Everything shown is computed by this run.
"""

from __future__ import annotations

from importlib.util import find_spec

from cedr.cli.reporting import say
from cedr.hosts.host import unknown_host


def show_demo(host: str, scale: dict[str, int], *, verbose: bool) -> int:
    """Run the demo; ``scale`` says how much happens.  The exit status is 1 if a level has broken its promise."""
    if host not in ("spark", "local"):
        raise unknown_host(host, ("spark", "local"))
    missing = _missing() if host == "spark" else ""
    if missing:
        say(f"note: {missing}; this is the same demo on the host local")
        host = "local"
    from cedr_demo.demo import Demo

    return Demo(scale, verbose=verbose).on_spark() if host == "spark" else Demo(scale, verbose=verbose).local()


def _missing() -> str:
    """What the demo on Spark needs and does not find."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed (the extra cedr[spark] brings it)"
    from cedr.spark.session.java import LEAST, find_java

    return "" if find_java() is not None else f"Spark needs Java {LEAST} or newer, and there is none"
