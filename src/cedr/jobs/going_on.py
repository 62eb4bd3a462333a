"""The queries of a job go on from a checkpoint, where some of them may be others than in the run before.

Reading: R44.  What the checkpoint has is restored with the queries that ran then; after that queries leave, are
replaced and come, all with the first step.  Of a type or an attribute that nobody has read so far, older events know
nothing: what needs them cannot begin with the past.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cedr.consistency.emitter import Output
from cedr.consistency.encoding import from_bytes
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.event_types import declared_types, merged
from cedr.jobs.changed import changed
from cedr.jobs.queries import Asked
from cedr.jobs.together import SEGMENT, Asking, Group, Together, name_of, new_group, place_of
from cedr.language.parse import parse
from cedr.model.level import MIDDLE
from cedr.model.schema import DataType, EventTypes
from cedr.model.stream import Guarantee
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.analyses.reads import reads_of
from cedr.plan.compile import CompiledQuery, compile_file
from cedr.runtime.dataflow.build import AT_FIRST, Birth


class GoingOn(Together):
    """All queries of a job that has run before."""

    def __init__(
        self, asking: Asking, segments: Mapping[str, bytes], promised: Mapping[str, Sequence[Guarantee]]
    ) -> None:
        """``promised``: what each source has promised so far.  Raises ``HostError`` with all that does not fit."""
        super().__init__(replace(asking, asked=()))
        self.asking, self._promised = asking, promised
        self._own_state = from_bytes(segments[SEGMENT])
        self._check_types()
        self._before = self._queries_before()
        self._now = {each.query.name: each for each in asking.asked}
        self._restore(segments)
        self.gone = {name: self._before[name] for name in self._before if name not in self._now}
        """The queries that leave."""
        self._change()

    # -- what was -----------------------------------------------------------------------------------------------------

    def _check_types(self) -> None:
        """What is known of events was read under types that must be the same still."""
        types, found = self.asking.types.types, []
        for name, (revisable, attributes) in self._own_state["read"].items():
            now = types.get(name)
            if now is not None and now.revisable != revisable:
                found.append(changed(f'the type "{name}" may be revised for another time', ""))
            for each, of in attributes.items():
                other = None if now is None else now.attributes.get(each)
                if other is not None and other is not DataType[of]:
                    found.append(changed(f'the type "{name}" has changed: {each} was {of} and is {other.name}', ""))
        for name, needed in self.asking.needed.items():
            before = self._own_state["read"].get(name, (0, {}))[1]
            for each, kind in needed.items():
                if kind is DataType.ANY and each not in before:
                    hint = f'declare it: [types.{name}] attributes = {{ {each} = "STRING" }}'
                    primary = f'"{each}" of "{name}" was not read so far, and nothing tells its type'
                    found.append(Diagnostic("job-changed", primary, hint=hint))
        if found:
            raise HostError(found)

    def _queries_before(self) -> dict[str, CompiledQuery]:
        file = parse(self._own_state["text"])
        own = EventTypes({each.name: each for each in declared_types(file) if not each.open})
        program = compile_file(file, merged(own, self.asking.types))
        return {name: program.queries[name] for name in self._own_state["meanings"]}

    def _restore(self, segments: Mapping[str, bytes]) -> None:
        self.groups = {}
        for number, kept in self._own_state["groups"].items():
            outputs = [
                Output(name, self._before[place_of(name)[0]].plan, MIDDLE, Birth(*birth), start)
                for name, *birth, start in kept["outputs"]
            ]
            names = {place_of(output.name)[0] for output in outputs}
            sources = set(kept["sources"]).union(*(self._now[each].sources for each in names if each in self._now))
            if any(self._replaced(name) for name in names if name in self._now):
                stay = [name for name in names if name in self._now and not self._replaced(name)]
                sources = set(kept["sources"]).union(*(self._now[each].sources for each in stay))
            group = new_group(frozenset(sources), outputs, self.asking.types, ())
            start = f"{number}/"
            group.segments = {name for name in segments if name.startswith(start)}
            group.pipeline.restore({name[len(start) :]: segments[name] for name in group.segments})
            self.groups[int(number)] = group

    def _replaced(self, name: str) -> bool:
        return tuple(self._own_state["meanings"][name]) != self.asking.meanings[name]

    @property
    def reads_otherwise(self) -> bool:
        """Whether other attributes are read than before."""
        before = {name: sorted(attributes) for name, (_, attributes) in self._own_state["read"].items()}
        return before != {name: sorted(needed) for name, needed in self.asking.needed.items()}

    # -- what is to be ------------------------------------------------------------------------------------------------

    def _change(self) -> None:
        come = [each for name, each in self._now.items() if name not in self._before]
        other = [self._now[name] for name in self._before if name in self._now and self._replaced(name)]
        ancient = self._own_state["known"]
        needed = self.asking.needed
        self.known = {
            name: [each for each in known if each in needed[name]] for name, known in ancient.items() if name in needed
        }
        found = [problem for each in other for problem in self._of_replaced(each)]
        found += [
            changed(f'the query "{name}" is emitted at another number of levels', "")
            for name, each in self._now.items()
            if name in self._before and len(self.levels(name)) != len(each.levels)
        ]
        if self.asking.retained:
            found += [problem for each in come for problem in self._of_past(each)]
        if found:
            raise HostError(found)
        self._leave()
        for each in other:
            self._replace(each)
        self._come(come)
        self.changed = bool(come or other or self.gone)
        self._unsaved = True
        for group in self.groups.values():
            group.note_reads()

    def _leave(self) -> None:
        self.leaving = set(self.gone)
        for group in self.groups.values():
            names = [each.name for each in group.outputs if place_of(each.name)[0] in self.gone]
            group.pipeline.remove(names)

    def _replace(self, asked: Asked) -> None:
        """Reading: R44.  What the old one has emitted and is final stays as it is."""
        name = asked.query.name
        group = self._group_of(name)
        assert group is not None
        own = [each.name for each in group.outputs if place_of(each.name)[0] == name]
        final = max(group.pipeline.final_up_to(each) for each in own)
        start = max(self._start(group, asked.query), plus(final, 1))
        birth = group.pipeline.birth(retained=True)
        come = {each.name: each for each in _outputs(asked, birth, start)}
        group.outputs = [come.get(each.name, each) for each in group.outputs]
        group.pipeline.replace([each for each in group.outputs if each.name in come])

    def _come(self, come: Iterable[Asked]) -> None:
        fresh: dict[frozenset[str], list[Asked]] = {}
        for each in come:
            group = self._for(each)
            if group is None:
                fresh.setdefault(each.sources, []).append(each)
                continue
            retained = self.asking.retained
            start = self._start(group, each.query) if retained else BEGINNING
            added = _outputs(each, group.pipeline.birth(retained=retained), start)
            group.outputs += added
            group.pipeline.add(added)
        for sources, asked in fresh.items():
            outputs = [output for each in asked for output in _outputs(each, AT_FIRST, BEGINNING)]
            promised = [each for name in sorted(sources) for each in self._promised.get(name, ())]
            number = max(self.groups, default=-1) + 1
            self.groups[number] = new_group(sources, outputs, self.asking.types, asked, promised)

    def _start(self, group: Group, query: CompiledQuery) -> Time:
        start = group.pipeline.known_since(query.plan)
        if start == FOREVER:
            primary = f'query "{query.name}" would need events that are forgotten, however late it begins'
            hint = "give it another name, and let it begin with what comes: queries.retained = false"
            raise HostError(Diagnostic("history-is-gone", primary, hint=hint))
        return start

    def _group_of(self, name: str) -> Group | None:
        owns = (group for group in self.groups.values() if any(place_of(o.name)[0] == name for o in group.outputs))
        return next(owns, None)

    def _for(self, asked: Asked) -> Group | None:
        """The pipeline whose queries wait for the same sources."""
        alike = (
            group
            for group in self.groups.values()
            if group.sources == asked.sources and any(place_of(o.name)[0] not in self.gone for o in group.outputs)
        )
        return next(alike, None)

    # -- what is refused ----------------------------------------------------------------------------------------------

    def _of_replaced(self, asked: Asked) -> list[Diagnostic]:
        """Why a query cannot take the place of the one of its name."""
        name, group = asked.query.name, self._group_of(asked.query.name)
        assert group is not None
        found = self._unread(asked, f'the query "{name}" has another text')
        if group.sources != asked.sources:
            detail = f"before: {', '.join(sorted(group.sources))}; now: {', '.join(sorted(asked.sources))}"
            primary = f'the query "{name}" has another text, and waits for other sources'
            found.append(changed(primary, detail, "give it another name: then it begins with what comes"))
        return found

    def _of_past(self, asked: Asked) -> list[Diagnostic]:
        """Why a query cannot begin with the past."""
        found = self._unread(asked, f'the query "{asked.query.name}" is new')
        if not found and self._for(asked) is None:
            primary = f'the query "{asked.query.name}" is new, and no query has waited for the sources that it reads'
            found.append(changed(primary, "nothing of them is retained", "let it begin with what comes"))
        return found

    def _unread(self, asked: Asked, primary: str) -> list[Diagnostic]:
        """What a query needs to know of the past and nobody has read all the time."""
        lacking = []
        for name, attributes in reads_of(asked.query.plan).items():
            known = self._own_state["known"].get(name)
            needed = self.asking.needed.get(name, {})
            wanted = [each for each in needed if attributes is None or each in attributes]
            if known is None:
                lacking.append(name)
            else:
                lacking += [f"{name}.{each}" for each in wanted if each not in known]
        if not lacking:
            return []
        hint = "give it a name that is new, and leave out queries.retained: then it begins with what comes"
        told = f"{primary}, and needs what was not read all the time: {', '.join(sorted(lacking))}"
        return [changed(told, "", hint)]


def _outputs(asked: Asked, birth: Birth, start: Time) -> list[Output]:
    return [
        Output(name_of(asked.query.name, place), asked.query.plan, level, birth, start)
        for place, level in enumerate(asked.levels)
    ]
