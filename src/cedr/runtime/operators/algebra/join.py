"""Join, LEFT join and ANTI join.

Paper: Section 6, Definition 9.  Readings: R8 (IDs), R9, R10 (beliefs), R29, R33, R36, R37.  A change of one input meets
the rows of the other that are alive at the same time: ``Δ(L ⋈ R) = ΔL ⋈ R' + L ⋈ ΔR``.  A pair of versions is one row,
believed while both are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cedr.model.modes import JoinKind
from cedr.model.time import BEGINNING, Time
from cedr.plan import logical
from cedr.runtime.ids.text_ids import Digests, MadeIds, Making, Recipe, TextIds, integer_digests
from cedr.runtime.operators.algebra.left_over import LeftOver, Rest
from cedr.runtime.operators.contract import Frontier, Line, Size, Snapshot
from cedr.runtime.operators.mechanism.arranged_input import beside, first_os
from cedr.runtime.operators.mechanism.arrangement import Pairs
from cedr.runtime.operators.mechanism.chains import Chains
from cedr.runtime.operators.mechanism.matches import Matches
from cedr.runtime.store.relation import Reach, Relation
from cedr.runtime.store.table import Delta, Header, Mask, Rows, Table, plain_header


class Join:
    """Rows refer to a row of each input; what is left of a row of the left one has no row of the right one: -1."""

    def __init__(self, node: logical.Join, inputs: Sequence[Relation]) -> None:
        self._relations = tuple(inputs)
        self._place, self._pairs = node.place, node.kind is not JoinKind.ANTI
        tables = [relation.table for relation in inputs]
        self.table = Table(MadeIds(self._made, _recipe(node, inputs)), tables)
        self._matches = Matches(node.predicate, inputs)
        self._inputs = self._matches.inputs
        self._chains = Chains(self.table, tables)
        self._rest = None if node.kind is JoinKind.INNER else LeftOver(self._matches)
        self.relation = _relation(node, self.table, inputs, self._open_ended)
        self._certain = Frontier()
        """What was certain about the output before the changes at hand."""

    def ask(self, until: Time) -> list[Time]:
        """A row begins with the later one of two, and ends with the earlier one."""
        return [until, until]

    @property
    def withholds(self) -> bool:
        """What is found is told at once."""
        return False

    # -- changes ------------------------------------------------------------------------------------------------------

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:  # noqa: ARG002 - told at once
        """The change of the output: pairs of what changed, and what is left of the rows on the left that it meets."""
        again = beside(self._inputs, deltas)
        removed = [np.concatenate([delta.removed, rows]) for delta, rows in zip(deltas, again, strict=True)]
        added = [np.concatenate([delta.added, rows]) for delta, rows in zip(deltas, again, strict=True)]
        for source, rows in zip(self._inputs, removed, strict=True):
            source.apply(Delta(removed=rows))
        pairs = self._new_pairs(added)
        header, references = self._headed(pairs)
        old = [self._chains.of(which, rows) for which, rows in enumerate(removed)]
        if self._rest is not None:
            met = [self._matches.of(1, rows).rows for rows in (removed[1], added[1])]
            affected = np.unique(np.concatenate([added[0], *met]))
            old.append(self._unpaired(affected))
            header, references = _with(self._rest.of(affected), header, references)
        return self._replaced(old, header, references)

    def _unpaired(self, rows: Rows) -> Rows:
        made = self._chains.of(0, rows)
        return made[self.table.references[1].view[made] < 0]

    def _new_pairs(self, added: Sequence[Rows]) -> Pairs:
        """Each pair once: what came on the right with what was there on the left, then the other way round."""
        found = []
        for which in (1, 0):
            if self._pairs:
                found.append(self._matches.of(which, added[which]))
            self._inputs[which].apply(Delta(added=added[which]))
        if not found:
            return Pairs.together([])
        right, left = found
        return Pairs.together([left, right._replace(probes=right.rows, rows=right.probes)])

    def _headed(self, pairs: Pairs) -> tuple[Header, list[Rows]]:
        """The header of pairs: while both are alive and believed.  Readings: R9, R10."""
        tables, references = [relation.table for relation in self._relations], [pairs.probes, pairs.rows]
        vs, ve, rt = pairs.vs, pairs.ve, pairs.since
        if not all(table.rt.implicit for table in tables):
            rt = np.minimum(*(table.rt.view[rows] for table, rows in zip(tables, references, strict=True)))
        header = plain_header(vs, ve, rt)
        if all(table.plain.implicit for table in tables):
            return header, references
        plain = tables[0].plain.view[pairs.probes] & tables[1].plain.view[pairs.rows]
        if plain.all():
            return header, references
        beliefs = [source.believed(rows) for source, rows in zip(self._inputs, references, strict=True)]
        starts, ends = zip(*beliefs, strict=True)
        first = (first_os(self._inputs, which, rows) for which, rows in enumerate(references))
        os, oe = np.maximum.reduce([*starts, vs, *first]), np.minimum(*ends)
        header = Header(vs, ve, np.where(plain, vs, os), oe, rt, plain)
        real = oe > header.os
        return header.take(real), [rows[real] for rows in references]

    def _replaced(self, old: Sequence[Rows], header: Header, references: list[Rows]) -> Delta:
        """Rows go and come; one that is final does neither, though an input's row is another one with another end."""
        gone = np.unique(np.concatenate(old))
        if self._certain.final > BEGINNING:
            gone = gone[~self._is_final(self.table.vs.view[gone], self.table.ve.view[gone])]
            come = ~self._is_final(header.vs, header.ve)
            if not come.all():
                header, references = header.take(come), [rows[come] for rows in references]
        if len(gone) and len(header.vs):
            stays, new = self._unmatched(gone, header, references)
            gone = gone[~stays]
            header, references = header.take(new), [rows[new] for rows in references]
        self._chains.remove(gone)
        if not len(header.vs):
            return Delta(gone)
        made = self.table.extend(header, references, given=True)
        self._chains.add(made)
        return Delta(gone, made)

    def _unmatched(self, gone: Rows, header: Header, references: list[Rows]) -> tuple[Mask, Mask]:
        """Which rows that go come again as they were, and which rows that come were not there."""
        was = self.table.header(gone)
        old = [column.view[gone] for column in self.table.references]
        columns = [*zip(old, references, strict=True), *zip(was[:5], header[:5], strict=True)]
        both = np.stack([np.concatenate(pair) for pair in columns])
        order = np.lexsort(both)
        same = np.zeros(len(order), np.bool_)
        same[1:] = (both[:, order[1:]] == both[:, order[:-1]]).all(axis=0)
        matched = np.zeros(len(order), np.bool_)
        matched[order[same]] = matched[order[np.flatnonzero(same) - 1]] = True
        return matched[: len(gone)], ~matched[len(gone) :]

    def _is_final(self, vs: Rows, ve: Rows) -> Mask:
        found: Mask = (vs <= self._certain.final) & (ve <= self._certain.ended)
        return found

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _made(self, rows: Rows) -> Digests:
        """IDs over both rows; of what is left of a row over that row and its Vs.  Reading: R8."""
        left, right = (column.view[rows] for column in self.table.references)
        high, low = np.empty(len(rows), np.uint64), np.empty(len(rows), np.uint64)
        for chosen, paired in ((right >= 0, True), (right < 0, False)):
            if not chosen.any():
                continue
            making = Making(self._place, int(chosen.sum()))
            making.take_in(self._relations[0].stream_digest, *self._relations[0].ids(left[chosen]))
            if paired:
                making.take_in(self._relations[1].stream_digest, *self._relations[1].ids(right[chosen]))
            else:
                making.take_in_each(integer_digests(self.table.vs.view[rows[chosen]]))
            high[chosen], low[chosen] = making.finish()
        return high, low

    def _open_ended(self, rows: Rows) -> Mask:
        """What is left of a row, and pairs of which one is.  Reading: R33."""
        references = [column.view[rows] for column in self.table.references]
        found: Mask = references[1] < 0
        paired = np.flatnonzero(~found)
        for relation, column in zip(self._relations, references, strict=True):
            if relation.open_ended is not None:
                found[paired] |= relation.open_ended(column[paired])
        return found

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:
        """Note which rows are final."""
        self._certain = self.frontier(inputs, frozen)

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:  # noqa: ARG002 - decided at once
        """What is certain about both; what is left of a row may be cut by what comes."""
        final, guarantee, ended = map(min, *inputs)
        final = min(final, ended)
        return Frontier(final, guarantee, ended if self._rest is None else final)

    def demand(self, line: Line, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:  # noqa: ARG002 - as above
        """Rows that have ended meet nothing that comes; on the right they are needed while they cut a row."""
        certain = min(min(part.final, part.ended) for part in inputs)
        self._chains.settle(self._certain.final, self._certain.ended)
        needless = min(certain, line.vs, line.ended)
        lines = [Line(needless, line.ve, needless), Line(needless, line.ve, needless)]
        over = max(needless, line.ve - 1 if line.ve > BEGINNING else BEGINNING)
        if self._rest is not None:
            needless = min(over, self._inputs[0].arrangement.earliest_alive_after(over))
            lines[1] = Line(needless, BEGINNING, needless)
        for source, until in zip(self._inputs, (over, needless), strict=True):
            source.forget_ended(until)
        self._matches.codes.restart()
        return lines

    def snapshot(self) -> Snapshot | None:
        """Nothing: pairs follow from the rows that are known."""
        return None

    def restore(self, snapshot: Snapshot) -> None:
        """Nothing was saved."""
        raise NotImplementedError

    @property
    def size(self) -> Size:
        """Rows and bytes of the arrangements, and what rows were made of."""
        held = sum(source.nbytes for source in self._inputs)
        rows = sum(len(source.store) for source in self._inputs)
        return Size(rows, held + self._chains.nbytes + self.table.nbytes)

    @property
    def ties(self) -> int:
        """No order is asked for."""
        return 0


def _with(rest: Rest, header: Header, references: list[Rows]) -> tuple[Header, list[Rows]]:
    """Pairs, and what is left of rows behind them."""
    both = Header(*(np.concatenate(columns) for columns in zip(header, rest.header, strict=True)))
    nothing = np.full(len(rest.rows), -1)
    return both, [np.concatenate(columns) for columns in zip(references, (rest.rows, nothing), strict=True)]


def _recipe(node: logical.Join, inputs: Sequence[Relation]) -> Recipe | None:
    """What IDs are made of, where that are two events, each by its own ID."""
    ids = [relation.id_holder for relation in inputs if not relation.identity]
    texts = [each for each in ids if isinstance(each, TextIds)]
    if len(texts) < len(inputs) or node.kind is not JoinKind.INNER:
        return None
    return Recipe(node.place, [relation.stream_digest for relation in inputs], texts)


def _relation(
    node: logical.Join, table: Table, inputs: Sequence[Relation], open_ended: Callable[[Rows], Mask]
) -> Relation:
    anti = node.kind is JoinKind.ANTI
    shown = inputs[:1] if anti else inputs
    left = node.kind is JoinKind.LEFT
    variables = {
        name: replace(reach.after((table, which)), nullable=reach.nullable or (left and which == 1))
        for which, relation in enumerate(shown)
        for name, reach in relation.variables.items()
    }
    contributors = tuple(Reach(((table, which),), relation) for which, relation in enumerate(shown))
    ends = node.kind is not JoinKind.INNER or any(relation.open_ended is not None for relation in inputs)
    payload = ((table, 0), *inputs[0].payload) if anti else ()
    projection = inputs[0].projection if anti else None
    return Relation(
        table,
        node.place,
        variables,
        payload,
        (),
        contributors,
        projection=projection,
        open_ended=open_ended if ends else None,
    )
