# SPDX-License-Identifier: BSD-3-Clause
"""What the jobs have measured: a row for each side, partition, number of parts, measure and way; a value each round."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from urakata.measure.estimate import median
from urakata.measure.sides import MODES, Side

STEPS = ("start", "inner", "wait", "boundary", "reduce", "vectors")
SYNCHRONISED = ("put-fence", "put-pscw", "put-flush", "put-notify")
"""The forms of one-sided with synchronisation: the fastest stands for them all."""
MEASURES = {"exchange": "Exchange alone", "spmv": "SpMV", "cg": "CG", "pipelined": "Pipelined CG"}
PARTITIONS = {"rows": "blocks of rows", "metis": "METIS"}


@dataclass(frozen=True)
class Key:
    """What a row is of."""

    side: Side
    partition: str
    parts: int
    measure: str
    way: str


@dataclass
class Row:
    """Microseconds of one exchange, product or iteration, one value a round; steps are means over ranks."""

    us: list[float] = field(default_factory=list)
    exchange_us: list[float] = field(default_factory=list)
    last_us: list[float] = field(default_factory=list)
    steps: dict[str, list[float]] = field(default_factory=dict)
    iterations: int = 0
    residual: float = 0.0

    @property
    def median(self) -> float:
        """Over the rounds."""
        return statistics.median(self.us)


@dataclass(frozen=True)
class Partition:
    """The exact counts of one exchange of all parts."""

    partition: str
    n: int
    parts: int
    least_rows: int
    most_rows: int
    messages: int
    most_neighbours: int
    bytes: int
    marks_two_buffers: int
    marks_one_buffer: int


@dataclass
class Results:
    """In the order in which they came."""

    rows: dict[Key, Row] = field(default_factory=dict)
    partitions: dict[tuple[str, int], Partition] = field(default_factory=dict)

    def take(self, side: Side, partition: str, parts: int, record: Mapping[str, Any]) -> None:
        """Takes a record of bench/solver; others than of partitions and measures are passed over."""
        if record["measure"] == "partition":
            one = Partition(**{name: record[name] for name in Partition.__dataclass_fields__})
            self.partitions[one.partition, one.parts] = one
        elif record["measure"] in MEASURES:
            row = self.rows.setdefault(Key(side, partition, parts, record["measure"], record["way"]), Row())
            row.us.append(record["us"])
            row.exchange_us.append(record["exchange_us"])
            row.last_us.append(record["last_us"])
            for name in STEPS:
                row.steps.setdefault(name, []).append(record["steps"][name])
            row.iterations, row.residual = record.get("iterations", 0), record.get("residual", 0.0)

    def places(self) -> list[tuple[str, int]]:
        """Partitions with their numbers of parts that were run."""
        found = {(key.partition, key.parts) for key in self.rows}
        return sorted(found, key=lambda place: (list(PARTITIONS).index(place[0]), place[1]))

    def families(self) -> list[str]:
        """Hosts that were run."""
        return list(dict.fromkeys(key.side.family for key in self.rows))

    def sides(self) -> list[Side]:
        """Those that were run: one MPI library after another, alone first."""
        found = {key.side for key in self.rows}
        return sorted(found, key=lambda side: (self.families().index(side.family), MODES.index(side.mode)))

    def ways(self) -> list[str]:
        """Those that were run."""
        return list(dict.fromkeys(key.way for key in self.rows))

    def median(self, side: Side, place: tuple[str, int], measure: str, way: str) -> float | None:
        """Median over the rounds; None where it was not measured."""
        row = self.rows.get(Key(side, *place, measure, way))
        return median(row.us if row else None)

    def synchronised(self, side: Side, place: tuple[str, int], measure: str) -> tuple[str, float] | None:
        """The fastest form of one-sided with synchronisation, and its time."""
        measured = [(way, self.median(side, place, measure, way)) for way in SYNCHRONISED]
        found = [(way, us) for way, us in measured if us is not None]
        return min(found, key=lambda one: one[1]) if found else None

    def differing(self) -> Iterator[str]:
        """Solvers that did not end alike on all sides and ways of a partition: what differs, in words."""
        first: dict[tuple[str, str, int, str], tuple[Key, Row]] = {}
        for key, row in self.rows.items():
            if key.measure not in ("cg", "pipelined"):
                continue
            other, expected = first.setdefault((key.side.family, key.partition, key.parts, key.measure), (key, row))
            near = abs(row.residual - expected.residual) <= SAME_RESIDUAL * expected.residual
            if row.iterations != expected.iterations or not near:
                what = f"{MEASURES[key.measure]}, {key.partition}, {key.parts} parts"
                yield f"{what}: {_ending(key, row)}, {_ending(other, expected)}"

    def as_json(self) -> dict[str, Any]:
        """Rows and partitions."""
        rows = [{**asdict(key.side), **_without_side(key), **asdict(row)} for key, row in self.rows.items()]
        return {"rows": rows, "partitions": [asdict(one) for one in self.partitions.values()]}


SAME_RESIDUAL = 1e-6
"""As bench/solver has it: what additions in another order may come to."""


def _ending(key: Key, row: Row) -> str:
    how = f"after {row.iterations} iterations with residual {row.residual:.12g}"
    return f"{key.side.title}, {key.way}, ends {how}"


def _without_side(key: Key) -> dict[str, Any]:
    return {name: value for name, value in asdict(key).items() if name != "side"}


def from_json(document: Mapping[str, Iterable[Mapping[str, Any]]]) -> Results:
    """What Results.as_json wrote."""
    results = Results()
    for one in document["partitions"]:
        partition = Partition(**one)
        results.partitions[partition.partition, partition.parts] = partition
    for row in document["rows"]:
        key = Key(Side(row["family"], row["mode"]), *(row[name] for name in ("partition", "parts", "measure", "way")))
        results.rows[key] = Row(**{name: row[name] for name in Row.__dataclass_fields__})
    return results
