"""The dataflow of a plan: operators in order, changes through them, guarantees out, what is forgotten.

Paper: Section 5, Figure 7 (the operational module).  Readings: R32 (queries compose), R36 (guarantees), R34 and R37
(forgetting).  A part of the plan that occurs twice is one operator.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

from cedr.model.schema import EventType
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan import logical
from cedr.plan.analyses.memory import Memory
from cedr.plan.analyses.open_ends import shown_ends
from cedr.plan.logical import Node
from cedr.plan.physical.choose import choose, desugared
from cedr.runtime.dataflow.build import Sources, build
from cedr.runtime.dataflow.stage import Lines, Stage
from cedr.runtime.operators.contract import OWN, Operator, Size
from cedr.runtime.operators.filter import Select, Slice
from cedr.runtime.operators.mechanism.affected_ranges import PatternOperator
from cedr.runtime.operators.mechanism.instances import Chosen
from cedr.runtime.operators.pattern.unless_sequence import UnlessSequence
from cedr.runtime.operators.project import RowByRow
from cedr.runtime.store.key_codes import Codes
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows, Table, closed, renumbered


class Dataflow:
    """A plan as operators.  ``update`` takes changes of the sources and gives the change of the plan's output."""

    def __init__(self, plan: Node, sources: Sources) -> None:
        self._codes = Codes()
        self.open_ended = shown_ends(plan)
        """The event types of which rows stay known while their Ve is open."""
        plan = desugared(plan)
        self.stages = build(choose(plan), sources, self._codes)
        self.top = self.stages[-1]
        memory = Memory(plan)
        for stage in self.stages:
            stage.reach = memory.reach(stage.node)

    @property
    def relation(self) -> Relation:
        """What the plan gives."""
        return self.top.relation

    @property
    def holds_back(self) -> bool:
        """Whether a row may wait to be said though nothing bears on it: slices and open ends.  Reading: R36."""
        return any(isinstance(s.node, logical.Slice) or any(s.open_ends) for s in self.stages)

    # -- changes ------------------------------------------------------------------------------------------------------

    def settle(self, guarantee: Time) -> None:
        """With the changes to come, what is final up to a guarantee will be."""
        for stage in self.stages:
            stage.settled = self._settled(stage, guarantee)
            if isinstance(stage.operator, PatternOperator):
                stage.operator.known = stage.known
                stage.operator.final = min(stage.settled, stage.operator.decided())

    def update(self, changes: Mapping[str, Delta]) -> Delta:
        """Take in changes of the sources; the change of the output."""
        for stage in self.stages:
            if isinstance(stage.node, logical.Source):
                stage.delta = changes.get(stage.node.type.name, Delta())
                continue
            deltas = [below.delta for below in stage.inputs]
            for ends, delta in zip(stage.open_ends, deltas, strict=False):
                if ends is not None:
                    ends.update(delta)
            if stage.operator is None:
                stage.delta = deltas[0]
            else:
                stage.delta = stage.operator.update(deltas) if any(deltas) else Delta()
        return self.top.delta

    # -- guarantees and forgetting ------------------------------------------------------------------------------------

    def let_go(self, frozen: Time) -> None:
        """What bears on nothing that is not frozen, by m, holds no guarantee back.  Readings: R34, R36."""
        for stage in self.stages:
            if stage.operator is not None and stage.reach < FOREVER:
                stage.operator.let_go(stage.line_behind(frozen))
            for below, ends in zip(stage.inputs, stage.open_ends, strict=False):
                if ends is not None:
                    ends.let_go(below.line_behind(frozen))

    def guarantee_out(self, guarantee: Time) -> Time:
        """The guarantee that leaves, by the guarantee g of the sources.  Reading: R36."""
        for stage in self.stages:
            least = min((below.guarantee for below in stage.inputs), default=guarantee)
            undecided = [] if stage.operator is None else [stage.operator.undecided(least)]
            undecided.extend(ends.undecided(least) for ends in stage.open_ends if ends is not None)
            stage.guarantee = min([least, *(plus(sync, -1) for sync in undecided if sync is not None)])
        return self.top.guarantee

    def forget(self, guarantee: Time, lines: Lines, *, begins: bool = False) -> dict[str, Time]:
        """Forget what can no longer bear on an output: by the guarantee (R37) and by memory (R34).

        Gives for each event type up to which Vs its rows are not needed any more.  ``begins``: nothing was evaluated,
        so that also what is final must be, where somebody above needs it.
        """
        for stage in self.stages:
            stage.settled = self._settled(stage, guarantee)
            stage.line = FOREVER
        self.top.line = max(lines.forgotten, min(self.top.settled, lines.waiting))
        needed: dict[str, Time] = {}
        for stage in reversed(self.stages):
            if isinstance(stage.node, logical.Source):
                name = stage.node.type.name
                needed[name] = min(needed.get(name, FOREVER), max(stage.line, BEGINNING))
                continue
            below = [BEGINNING if begins else part.settled for part in stage.inputs]
            if isinstance(stage.operator, PatternOperator):
                stage.operator.known = stage.known
            ends = lines.ended if stage is self.top or self._of_output(stage) else BEGINNING
            wanted = [stage.line] if stage.operator is None else stage.operator.needs(below, stage.line, ends)
            for part, until in zip(stage.inputs, wanted, strict=True):
                part.line = min(part.line, until)
        return needed

    def _of_output(self, stage: Stage) -> bool:
        """Whether the rows of a stage are those of the output, with their own Ve."""
        above = self.top
        while above is not stage:
            keeps = isinstance(above.operator, Select | Slice) or above.operator is None
            if not (keeps or (isinstance(above.operator, RowByRow) and not above.operator.sets_valid)):
                return False
            above = above.inputs[0]
        return True

    def _settled(self, stage: Stage, guarantee: Time) -> Time:
        if isinstance(stage.node, logical.Source):
            return self._settled_source(stage, stage.node.type, guarantee)
        below = [part.settled for part in stage.inputs]
        return below[0] if stage.operator is None else stage.operator.settled(below)

    @property
    def guarantees(self) -> list[Time]:
        """The guarantee that left each stage."""
        return [stage.guarantee for stage in self.stages]

    @guarantees.setter
    def guarantees(self, times: list[Time]) -> None:
        for stage, time in zip(self.stages, times, strict=True):
            stage.guarantee = time

    def choices(self) -> list[list[Chosen]]:
        """Choices that bear on later ones, of each operator that makes some."""
        return [operator.choices() for operator in self._choosing()]

    def resume(self, choices: list[list[list[Any]]]) -> None:
        """Choices made before, as they were written."""
        for operator, chosen in zip(self._choosing(), choices, strict=True):
            operator.resume([Chosen(tuple(header), tuple(map(_name, events))) for header, events in chosen])

    def _choosing(self) -> list[PatternOperator]:
        operators = (stage.operator for stage in self.stages)
        return [each for each in operators if isinstance(each, PatternOperator) and each.endless]

    # -- what came and went -------------------------------------------------------------------------------------------

    def trim(self) -> bool:
        """Clear all tables but the sources' where nobody holds a row of them; whether it was so."""
        sources = {id(s.relation.table) for s in self.stages if isinstance(s.node, logical.Source)}
        for stage in self.stages:
            if stage.operator is not None and not stage.operator.free_of(sources):
                return False
            for below, ends in zip(stage.inputs, stage.open_ends, strict=False):
                if ends is not None and len(ends.rows) and id(below.relation.table) not in sources:
                    return False
        for stage in self.stages:
            if isinstance(stage.operator, RowByRow | UnlessSequence):
                stage.operator.clear()
        for table in self.tables():
            if id(table) not in sources:
                table.clear()
        return True

    # -- compaction ---------------------------------------------------------------------------------------------------

    def tables(self) -> list[Table]:
        """All tables, those that refer to others after these."""
        return list({id(stage.relation.table): stage.relation.table for stage in self.stages}.values())

    def held(self, wanted: Collection[int], sources: Callable[[str], Rows], said: Rows) -> dict[int, Rows]:
        """The rows that somebody holds of the tables wanted: operators, those who said them, what these refer to.

        ``sources``: the rows of a source that stand; ``said``: the rows of the output that are held for saying.
        """
        concerned = self.concerned(wanted)
        held: dict[int, list[Rows]] = {place: [] for place in concerned}
        if id(self.top.relation.table) in concerned:
            held[id(self.top.relation.table)].append(said)
        for stage in self.stages:
            for part, (place, operator) in enumerate(self._holders(stage)):
                ends = stage.open_ends[part] if part < len(stage.open_ends) else None
                if place in concerned:
                    held[place].append(operator.holds(part if part < len(stage.inputs) else OWN))
                    held[place].extend([] if ends is None else [ends.rows])
            if isinstance(stage.operator, RowByRow) and id(stage.relation.table) in concerned and not stage.shares:
                held[id(stage.relation.table)].append(self._live(stage, sources))
        return closed([table for table in self.tables() if id(table) in concerned], held)

    def concerned(self, wanted: Collection[int]) -> set[int]:
        """Some tables, and those whose rows refer to them, and so on."""
        concerned = set(wanted)
        for table in self.tables():  # those that are referred to come first
            if any(id(target) in concerned for target in table.targets):
                concerned.add(id(table))
        return concerned

    def _holders(self, stage: Stage) -> list[tuple[int, Operator]]:
        """The tables of the inputs of a stage and its own, if it has an operator that may hold rows of them."""
        operator = stage.operator
        below = [] if operator is None else [*(part.relation.table for part in stage.inputs), stage.relation.table]
        return [(id(table), operator) for table in below if operator is not None]

    def _live(self, stage: Stage, sources: Callable[[str], Rows]) -> Rows:
        """The rows that stand as a stage's output and may still change."""
        if isinstance(stage.node, logical.Source):
            return sources(stage.node.type.name)
        if isinstance(stage.operator, PatternOperator):
            return stage.operator.holds(OWN)
        below = self._live(stage.inputs[0], sources)
        if isinstance(stage.operator, RowByRow):
            return stage.operator.made_of(below)
        return below[stage.operator.passes(below)] if isinstance(stage.operator, Select | Slice) else below

    def renumber(self, maps: Mapping[int, Rows]) -> None:
        """Some tables were compacted: for each of them the new number of each old row, or -1."""
        groups: dict[object, Rows] = {}
        if any(id(table) in maps for table in self._codes.tables()):
            for table in self.tables():
                if id(table) in maps:
                    self._codes.keep(table, np.flatnonzero(maps[id(table)] >= 0))
            groups.update(self._codes.restart().items())
        for stage in self.stages:
            below = [maps.get(id(part.relation.table)) for part in stage.inputs]
            for ends, new in zip(stage.open_ends, below, strict=False):
                if ends is not None:
                    ends.rows = renumbered(ends.rows, new)
            if stage.operator is not None:
                stage.operator.renumber(below, maps.get(id(stage.relation.table)), groups)

    def _settled_source(self, stage: Stage, type_: EventType, guarantee: Time) -> Time:
        """No event of a type with Vs up to here can come, go or change any more.  Reading: R37."""
        if guarantee == BEGINNING or type_.revisable == FOREVER:
            return BEGINNING
        settled = plus(guarantee, -type_.revisable)
        if type_.name in self.open_ended:
            table = stage.relation.table
            open_ = table.vs.view[table.ve.view > guarantee]
            settled = min([settled, *([int(open_.min()) - 1] if len(open_) else [])])
        return settled

    def sizes(self) -> Iterator[tuple[str, Size]]:
        """What each operator holds, by its place in the query."""
        for stage in self.stages:
            if stage.operator is not None:
                yield stage.node.place or type(stage.node).__name__, stage.operator.size


def _name(written: list[int] | None) -> tuple[int, int, int] | None:
    return None if written is None else (written[0], written[1], written[2])
