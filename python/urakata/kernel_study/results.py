"""What the jobs have measured: for each part, operation, size and method a value each round."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

QUANTITIES = ("us", "stolen_us", "interruptions", "start_ns", "lost_us", "cpu_us", "workers")


@dataclass(frozen=True)
class Key:
    """What a row is of."""

    part: str
    operation: str
    bytes: int
    method: str


@dataclass
class Results:
    """In the order in which they came."""

    rows: dict[Key, dict[str, list[float]]] = field(default_factory=dict)

    def take(self, part: str, method: str, record: Mapping[str, Any]) -> None:
        """Takes a record of bench/kernel."""
        key = Key(part, record.get("operation", "ibcast"), record["bytes"], method)
        row = self.rows.setdefault(key, {})
        for name in QUANTITIES:
            if name in record:
                row.setdefault(name, []).append(record[name])

    def median(self, key: Key, quantity: str) -> float | None:
        """Over the rounds; None where it was not measured."""
        values = self.rows.get(key, {}).get(quantity)
        return statistics.median(values) if values else None

    def points(self, part: str) -> list[tuple[str, int]]:
        """Operations and sizes of a part."""
        return list(dict.fromkeys((key.operation, key.bytes) for key in self.rows if key.part == part))

    def methods(self, part: str) -> list[str]:
        """Those that were run of a part."""
        return list(dict.fromkeys(key.method for key in self.rows if key.part == part))

    def as_json(self) -> dict[str, Any]:
        """All values of all rounds."""
        return {"rows": [{**asdict(key), "values": values} for key, values in self.rows.items()]}


def from_json(document: Mapping[str, Iterable[Mapping[str, Any]]]) -> Results:
    """What Results.as_json wrote."""
    results = Results()
    for row in document["rows"]:
        results.rows[Key(row["part"], row["operation"], row["bytes"], row["method"])] = dict(row["values"])
    return results
