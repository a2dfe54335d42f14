# SPDX-License-Identifier: BSD-3-Clause
"""What the jobs have measured: for each link, operation, size and method a value each round, and what was predicted."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from urakata.measure.estimate import median
from urakata.sites_study import paper


@dataclass(frozen=True)
class Key:
    """What a row is of. `bytes`: of the largest buffer."""

    bed: str
    operation: str
    bytes: int
    method: str


@dataclass
class Row:
    """`us`: from the moment at which all begin to the last rank's end, the median of each job. `predicted_us` and
    `chosen`: of Urakata's model, where it was asked; `paper_us`: of the paper's, for the same lanes."""

    us: list[float] = field(default_factory=list)
    predicted_us: float | None = None
    chosen: str = ""
    paper_us: float | None = None


@dataclass
class Relayed:
    """Medians of each job in which a leader computes: `us`, until the last of the other ranks has it; `idle_us`, the
    same while the leader waits as they do; `compute_us`, what its work takes alone; `lost_us`, how much longer that
    takes meanwhile."""

    us: list[float] = field(default_factory=list)
    idle_us: list[float] = field(default_factory=list)
    compute_us: list[float] = field(default_factory=list)
    lost_us: list[float] = field(default_factory=list)

    def medians(self) -> dict[str, float]:
        """Over rounds."""
        return {name: statistics.median(values) for name, values in vars(self).items()}


@dataclass
class Results:
    """In the order in which they came. `relayed`: by engine, which is the key's method."""

    rows: dict[Key, Row] = field(default_factory=dict)
    relayed: dict[Key, Relayed] = field(default_factory=dict)

    def take(self, bed: str, method: str, home: int, record: Mapping[str, Any], report: Mapping[str, Any]) -> None:
        """Takes a record of bench/sites, with `home` ranks at the root's site, and rank 0's report, {} without one."""
        key = Key(bed, record["operation"], record["bytes"], method)
        row = self.rows.setdefault(key, Row())
        row.us.append(record["us"])
        for site in report.get("call_sites", ()):
            of_rank = record["bytes"] // record["ranks"]
            if site["operation"].lower() == record["operation"] and site["bytes"] in (record["bytes"], of_rank):
                row.chosen = chosen(site["algorithm"], site["why"])
                row.predicted_us = predicted_us(site["why"])
                row.paper_us = paper.predicted_us(record, home, row.chosen, report.get("sites", {}).get("links", []))

    def take_relayed(self, bed: str, engine: str, record: Mapping[str, Any]) -> None:
        """Takes a record of bench/sites with a leader that computes."""
        row = self.relayed.setdefault(Key(bed, record["operation"], record["bytes"], engine), Relayed())
        for name, values in vars(row).items():
            values.append(record[name])

    def us(self, key: Key) -> float | None:
        """The median over rounds; None where it was not measured."""
        row = self.rows.get(key)
        return median(row.us if row else None)

    def beds(self) -> list[str]:
        """The links."""
        return list(dict.fromkeys(key.bed for key in self.rows))

    def operations(self, bed: str) -> list[str]:
        """Those that were run across a link."""
        return list(dict.fromkeys(key.operation for key in self.rows if key.bed == bed))

    def sizes(self, bed: str, operation: str) -> list[int]:
        """Sizes of an operation."""
        return sorted({key.bytes for key in self.rows if (key.bed, key.operation) == (bed, operation)})

    def methods(self, bed: str, operation: str) -> list[str]:
        """Those that were run of an operation."""
        return list(dict.fromkeys(key.method for key in self.rows if (key.bed, key.operation) == (bed, operation)))

    def as_json(self) -> dict[str, Any]:
        """All values of all rounds."""
        return {
            "rows": [{**asdict(key), **asdict(row)} for key, row in self.rows.items()],
            "relayed": [{**asdict(key), **asdict(row)} for key, row in self.relayed.items()],
        }


_PREDICTED = re.compile(r"predicted: (?:straight|\d+ lanes?)(?: of (\d+) connections?)? ([0-9.e+-]+) ms")


def predicted_us(why: str) -> float | None:
    """What the report says of what was taken: 'predicted: 2 lanes of 5 connections 14.2 ms, 1 lane of ...'."""
    found = _PREDICTED.search(why)
    return float(found[2]) * 1e3 if found else None


def chosen(algorithm: str, why: str) -> str:
    """'lanes 2, S=5', or without the connections of a pair of ranks where the report does not say how many."""
    found = _PREDICTED.search(why)
    return f"{algorithm}, S={found[1]}" if found and found[1] else algorithm


def _key(row: Mapping[str, Any]) -> Key:
    return Key(row["bed"], row["operation"], row["bytes"], row["method"])


def from_json(document: Mapping[str, Iterable[Mapping[str, Any]]]) -> Results:
    """What Results.as_json wrote."""
    results = Results()
    for row in document["rows"]:
        results.rows[_key(row)] = Row(list(row["us"]), row["predicted_us"], row["chosen"], row.get("paper_us"))
    for row in document.get("relayed", ()):
        results.relayed[_key(row)] = Relayed(**{name: list(row[name]) for name in vars(Relayed())})
    return results
