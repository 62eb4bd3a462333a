"""CEDR: consistent streaming through time.

    import cedr
    result = cedr.evaluate(query, "messages.jsonl")
    print(result)

Everything public is here, and is imported when it is first used: ``import cedr`` itself costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cedr.builder.columns import Column as Column
    from cedr.builder.columns import aggregate as aggregate
    from cedr.builder.columns import call as call
    from cedr.builder.columns import col as col
    from cedr.builder.columns import expr as expr
    from cedr.builder.columns import lit as lit
    from cedr.builder.patterns import Pattern as Pattern
    from cedr.builder.patterns import all_of as all_of
    from cedr.builder.patterns import any_of as any_of
    from cedr.builder.patterns import at_least as at_least
    from cedr.builder.patterns import at_most as at_most
    from cedr.builder.patterns import attribute_equals as attribute_equals
    from cedr.builder.patterns import cancel_when as cancel_when
    from cedr.builder.patterns import correlation_key as correlation_key
    from cedr.builder.patterns import event as event
    from cedr.builder.patterns import exactly as exactly
    from cedr.builder.patterns import not_ as not_
    from cedr.builder.patterns import sequence as sequence
    from cedr.builder.patterns import unless as unless
    from cedr.builder.patterns import use as use
    from cedr.builder.streams import Stream as Stream
    from cedr.builder.streams import coalesced as coalesced
    from cedr.builder.streams import deletes as deletes
    from cedr.builder.streams import hopping as hopping
    from cedr.builder.streams import inserts as inserts
    from cedr.builder.streams import lifetime as lifetime
    from cedr.builder.streams import moving as moving
    from cedr.builder.streams import session as session
    from cedr.builder.streams import stream as stream
    from cedr.builder.streams import tumbling as tumbling
    from cedr.connect.messages import read_messages as read_messages
    from cedr.consistency.batch import EventBatch as EventBatch
    from cedr.consistency.measures import Measures as Measures
    from cedr.data.change_log import ChangeLog as ChangeLog
    from cedr.data.opening import LocalEvents as LocalEvents
    from cedr.diagnostics.diagnostic import Diagnostic as Diagnostic
    from cedr.diagnostics.exceptions import CedrError as CedrError
    from cedr.diagnostics.exceptions import HostError as HostError
    from cedr.diagnostics.exceptions import InternalError as InternalError
    from cedr.diagnostics.exceptions import LanguageError as LanguageError
    from cedr.diagnostics.exceptions import PlanError as PlanError
    from cedr.diagnostics.exceptions import SinkError as SinkError
    from cedr.diagnostics.exceptions import StreamError as StreamError
    from cedr.drawing.picture import Drawing as Drawing
    from cedr.expression.own import function as function
    from cedr.history.reading import Believed as Believed
    from cedr.history.reading import read_history as read_history
    from cedr.hosts.catalog import Catalog as Catalog
    from cedr.hosts.catalog_graph import CatalogGraph as CatalogGraph
    from cedr.hosts.event_types import read_types as read_types
    from cedr.hosts.events import events as events
    from cedr.hosts.live import AsyncLive as AsyncLive
    from cedr.hosts.live import Live as Live
    from cedr.hosts.live import Said as Said
    from cedr.hosts.live import run as run
    from cedr.hosts.live_catalog import AsyncLiveCatalog as AsyncLiveCatalog
    from cedr.hosts.live_catalog import LiveCatalog as LiveCatalog
    from cedr.hosts.queries import compile_query, explain_query
    from cedr.hosts.result import Result as Result
    from cedr.hosts.run import evaluate as evaluate
    from cedr.hosts.running_catalog import QueryChange as QueryChange
    from cedr.hosts.storing import store as store
    from cedr.model.event import Event as Event
    from cedr.model.event import Payload as Payload
    from cedr.model.event import primitive as primitive
    from cedr.model.history import HistoryTable as HistoryTable
    from cedr.model.level import MIDDLE as MIDDLE
    from cedr.model.level import STRONG as STRONG
    from cedr.model.level import WEAK as WEAK
    from cedr.model.level import Bound as Bound
    from cedr.model.level import ConsistencyLevel as ConsistencyLevel
    from cedr.model.schema import DataType as DataType
    from cedr.model.schema import EventType as EventType
    from cedr.model.schema import EventTypes as EventTypes
    from cedr.model.stream import Change as Change
    from cedr.model.stream import Guarantee as Guarantee
    from cedr.model.stream import Insert as Insert
    from cedr.model.stream import Retract as Retract
    from cedr.model.stream import insert as insert
    from cedr.model.time import FOREVER as FOREVER
    from cedr.plan.compile import CompiledQuery as CompiledQuery
    from cedr.plan.compile import Program as Program
    from cedr.plan.explain import Explanation as Explanation
    from cedr.sinks.contract import Sink as Sink
    from cedr.sinks.kinds import sink as sink
    from cedr.spark.api.files import files as files
    from cedr.spark.api.match import match as match
    from cedr.spark.api.query import dead_letters as dead_letters
    from cedr.spark.api.query import query as query
    from cedr.spark.api.write_to import write_to as write_to
    from cedr.spark.output.failures import failure as failure
    from cedr.spark.output.measures import status as status
    from cedr.spark.session.session import spark_session as spark_session
    from cedr.spark.sources.control import Control as Control
    from cedr.spark.sources.events import Events as Events
    from cedr.subscriptions.routed import Matches as Matches
    from cedr.subscriptions.routed import Routed as Routed
    from cedr.subscriptions.subscriptions import Subscriptions as Subscriptions

    compile = compile_query  # noqa: A001 - cedr.compile, as re.compile
    explain = explain_query

_MODULES = {
    "cedr.builder.columns": ("Column", "aggregate", "call", "col", "expr", "lit"),
    "cedr.builder.patterns": (
        "Pattern",
        "all_of",
        "any_of",
        "at_least",
        "at_most",
        "attribute_equals",
        "cancel_when",
        "correlation_key",
        "event",
        "exactly",
        "not_",
        "sequence",
        "unless",
        "use",
    ),
    "cedr.builder.streams": (
        "Stream",
        "coalesced",
        "deletes",
        "hopping",
        "inserts",
        "lifetime",
        "moving",
        "session",
        "stream",
        "tumbling",
    ),
    "cedr.connect.messages": ("read_messages",),
    "cedr.consistency.batch": ("EventBatch",),
    "cedr.consistency.measures": ("Measures",),
    "cedr.data.change_log": ("ChangeLog",),
    "cedr.data.opening": ("LocalEvents",),
    "cedr.drawing.picture": ("Drawing",),
    "cedr.diagnostics.diagnostic": ("Diagnostic",),
    "cedr.diagnostics.exceptions": (
        "CedrError",
        "HostError",
        "InternalError",
        "LanguageError",
        "PlanError",
        "SinkError",
        "StreamError",
    ),
    "cedr.expression.own": ("function",),
    "cedr.history.reading": ("Believed", "read_history"),
    "cedr.hosts.catalog": ("Catalog",),
    "cedr.hosts.catalog_graph": ("CatalogGraph",),
    "cedr.hosts.event_types": ("read_types",),
    "cedr.hosts.events": ("events",),
    "cedr.hosts.live_catalog": ("AsyncLiveCatalog", "LiveCatalog"),
    "cedr.hosts.running_catalog": ("QueryChange",),
    "cedr.hosts.live": ("AsyncLive", "Live", "Said", "run"),
    "cedr.hosts.queries": ("compile", "explain"),
    "cedr.hosts.result": ("Result",),
    "cedr.hosts.run": ("evaluate",),
    "cedr.hosts.storing": ("store",),
    "cedr.model.event": ("Event", "Payload", "primitive"),
    "cedr.model.history": ("HistoryTable",),
    "cedr.model.level": ("MIDDLE", "STRONG", "WEAK", "Bound", "ConsistencyLevel"),
    "cedr.model.schema": ("EventTypes", "DataType", "EventType"),
    "cedr.model.stream": ("Change", "Guarantee", "Insert", "Retract", "insert"),
    "cedr.model.time": ("FOREVER",),
    "cedr.plan.compile": ("CompiledQuery", "Program"),
    "cedr.plan.explain": ("Explanation",),
    "cedr.spark.sources.control": ("Control",),
    "cedr.spark.sources.events": ("Events",),
    "cedr.spark.output.failures": ("failure",),
    "cedr.spark.api.files": ("files",),
    "cedr.spark.output.measures": ("status",),
    "cedr.spark.api.match": ("match",),
    "cedr.spark.api.query": ("dead_letters", "query"),
    "cedr.spark.api.write_to": ("write_to",),
    "cedr.sinks.contract": ("Sink",),
    "cedr.sinks.kinds": ("sink",),
    "cedr.spark.session.session": ("spark_session",),
    "cedr.subscriptions.routed": ("Matches", "Routed"),
    "cedr.subscriptions.subscriptions": ("Subscriptions",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}
_ELSEWHERE_CALLED = {"compile": "compile_query", "explain": "explain_query"}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("cedr")
    if name not in _HOME:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = globals()[name] = getattr(import_module(_HOME[name]), _ELSEWHERE_CALLED.get(name, name))
    return value


def __dir__() -> list[str]:
    return __all__
