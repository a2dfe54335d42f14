# SPDX-License-Identifier: BSD-3-Clause
"""What the jobs have measured: for each part, operation, size and variant a value each round."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from urakata.kernel_study.methods import Variant
from urakata.measure.estimate import median

QUANTITIES = (
    "us",
    "stolen_us",
    "interruptions",
    "start_ns",
    "lost_us",
    "lost_thread_us",
    "lost_process_us",
    "cpu_us",
    "workers",
)

Counts = Mapping[str, Mapping[str, float]]
"""Of a round: for each kind of interrupt (net_rx, function_call, reschedule) and core how many an operation costs."""


@dataclass(frozen=True)
class Key:
    """What a row is of."""

    part: str
    operation: str
    bytes: int
    method: str
    algorithm: str = ""
    steering: str = "none"

    @property
    def variant(self) -> Variant:
        """How it was run."""
        return Variant(self.method, self.algorithm, self.steering)


@dataclass
class Results:
    """In the order in which they came. `places`: for each part the cores of its hosts."""

    rows: dict[Key, dict[str, list[float]]] = field(default_factory=dict)
    interrupts: dict[Key, list[Counts]] = field(default_factory=dict)
    places: dict[str, list[list[int]]] = field(default_factory=dict)

    def take(self, part: str, variant: Variant, record: Mapping[str, Any]) -> None:
        """Takes a record of bench/kernel."""
        key = Key(part, record.get("operation", "ibcast"), record["bytes"], **asdict(variant))
        row = self.rows.setdefault(key, {})
        for name in QUANTITIES:
            if name in record:
                row.setdefault(name, []).append(record[name])
        if "late" in record:
            row.setdefault("late", []).append(record["late"] / record["repetitions"])
        if "interrupts" in record:
            self.interrupts.setdefault(key, []).append(record["interrupts"])

    def median(self, key: Key, quantity: str) -> float | None:
        """Over the rounds; None where it was not measured."""
        return median(self.rows.get(key, {}).get(quantity))

    def interrupts_on(self, key: Key, kind: str, cores: Iterable[int]) -> float:
        """Of an operation, on these cores together: the median over the rounds."""
        wanted = {str(core) for core in cores}
        each = [sum(n for core, n in counts[kind].items() if core in wanted) for counts in self.interrupts[key]]
        return statistics.median(each)

    def points(self, part: str) -> list[tuple[str, int]]:
        """Operations and sizes of a part."""
        return list(dict.fromkeys((key.operation, key.bytes) for key in self.rows if key.part == part))

    def variants(self, part: str) -> list[Variant]:
        """Those in which a part was run."""
        return list(dict.fromkeys(key.variant for key in self.rows if key.part == part))

    def as_json(self) -> dict[str, Any]:
        """All values of all rounds."""
        rows = [
            {**asdict(key), "values": values, "interrupts": self.interrupts.get(key, [])}
            for key, values in self.rows.items()
        ]
        return {"rows": rows, "places": self.places}


def key_of(part: str, point: tuple[str, int], variant: Variant) -> Key:
    """Of a point and a variant."""
    return Key(part, *point, **asdict(variant))


def from_json(document: Mapping[str, Any]) -> Results:
    """What Results.as_json wrote; an earlier version's rows have neither algorithm and steering nor interrupts."""
    results = Results(places={part: list(cores) for part, cores in document.get("places", {}).items()})
    rows: Sequence[Mapping[str, Any]] = document["rows"]
    for row in rows:
        variant = Variant(row["method"], row.get("algorithm", ""), row.get("steering", "none"))
        key = key_of(row["part"], (row["operation"], row["bytes"]), variant)
        results.rows[key] = dict(row["values"])
        if row.get("interrupts"):
            results.interrupts[key] = list(row["interrupts"])
    return results
