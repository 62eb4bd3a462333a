"""Checks, before anything starts, whether a session that the user made can run a query.

It uses only the public API, so that it works under Spark Connect too; what that API does not show is not checked.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import lru_cache
from typing import Any, Final

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.spark.extra import check_packages

STATE_STORE: Final = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_LEAST: Final = (4, 2)
_SECONDS: Final = 60
_ASK: Final = "import sys; print('%d.%d' % sys.version_info[:2]); import cedr.spark"


def check_session(session: Any, *, streaming: bool) -> None:
    """Raises ``HostError`` with what a session lacks to run a query, and how to set it."""
    check_packages()
    version = tuple(map(int, re.findall(r"\d+", session.version)[:2]))
    if version < _LEAST:
        primary = f"the session is of Spark {session.version}, and a query needs 4.2 or newer"
        raise HostError(Diagnostic("unfit-session", primary, hint="use a newer Spark"))
    if streaming:
        _check_state_store(session)
    check_workers(session)


def _check_state_store(session: Any) -> None:
    """Stateful Python needs RocksDB; distributions of Spark may have a RocksDB provider of their own."""
    found = session.conf.get(STATE_STORE)
    if "RocksDB" not in found:
        primary = f"the session keeps the state of streams in {found.rpartition('.')[2]}, and a query needs RocksDB"
        hint = f'spark.conf.set("{STATE_STORE}", "{ROCKSDB}"), or make the session with cedr.spark_session()'
        raise HostError(Diagnostic("unfit-session", primary, hint=hint))


def check_workers(session: Any) -> None:
    """Raises ``HostError`` if workers on this machine run a Python that cannot run a query."""
    try:
        context = session.sparkContext
        python, local = str(context.pythonExec), str(context.master).startswith("local")
    except Exception:  # Spark Connect has no context, and does not show which Python its workers run
        return
    found = shutil.which(python)
    if not local or found == sys.executable:
        return
    wrong = "is not there" if found is None else _wrong_with(found)
    if wrong:
        primary = f"the workers of the session run the Python {python}, which {wrong}"
        hint = (
            'say os.environ["PYSPARK_PYTHON"] = sys.executable before the session starts, '
            "or make the session with cedr.spark_session()"
        )
        raise HostError(Diagnostic("unfit-session", primary, hint=hint))


@lru_cache(maxsize=16)
def _wrong_with(python: str) -> str:
    """Why a Python cannot run a query; empty if it can."""
    try:
        done = subprocess.run([python, "-c", _ASK], capture_output=True, timeout=_SECONDS, check=False, text=True)
    except (OSError, subprocess.TimeoutExpired):
        return "does not start"
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    version = done.stdout.strip()
    if version != own:
        return f"is Python {version or 'of an unknown version'}, and this one is {own}"
    return "" if done.returncode == 0 else "has no cedr[spark] installed"
