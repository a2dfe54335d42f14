"""Merges the ranks' reports: one row for each call site, and what to switch on or off there.

exposed = time inside the start, unsuccessful tests and the wait. hidden = 1 - exposed / pure, where pure is the time
from start to end of those instances that the program waited for at once; where there was none, engine thread's share
of the time in flight that the program computed in, marked as an estimate; else unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from urakata.report.files import read_ranks
from urakata.report.places import resolve

_TIMES = ("start", "gap", "test", "wait", "in_flight", "overlapped", "pure")


@dataclass
class Times:
    """Number, sum and extremes of a time in ns."""

    count: int = 0
    sum: int = 0
    min: int = 0
    max: int = 0

    def add(self, other: dict[str, int]) -> None:
        if other["count"] == 0:
            return
        self.min = other["min"] if self.count == 0 else min(self.min, other["min"])
        self.max = max(self.max, other["max"])
        self.count += other["count"]
        self.sum += other["sum"]

    @property
    def mean(self) -> float:
        return self.sum / self.count if self.count else 0.0


@dataclass
class Row:
    """One call site over all ranks."""

    place: str
    operation: str
    bytes: int
    engine: str
    algorithm: str
    why: str
    ranks: int = 0
    started: int = 0
    helper_ns: int = 0
    times: dict[str, Times] = field(default_factory=lambda: {name: Times() for name in _TIMES})

    @property
    def helped(self) -> bool:
        """Helpers took it on: engines "thread/spare" and "thread/shared"."""
        return self.engine.startswith("thread/")

    @property
    def exposed_ns(self) -> float:
        """Mean time that an instance kept the program inside MPI."""
        ended = self.times["wait"].count
        return sum(self.times[name].sum for name in ("start", "test", "wait")) / ended if ended else 0.0

    @property
    def hidden(self) -> float | None:
        pure, flight = self.times["pure"], self.times["in_flight"]
        if pure.count and pure.sum:
            return min(1.0, max(0.0, 1.0 - self.exposed_ns / pure.mean))
        if self.helped and flight.sum:
            return min(1.0, self.times["overlapped"].sum / flight.sum)
        return None

    @property
    def hidden_is_estimate(self) -> bool:
        return self.times["pure"].count == 0

    @property
    def advice(self) -> str:
        wait, gap = self.times["wait"], self.times["gap"]
        if self.engine == "host":
            return "runs on the host: with engine poll or thread this report can say more"
        if not wait.count:
            return "no instance was waited for: nothing to say"
        computes = gap.mean > 0.5 * wait.mean and gap.mean > 10_000
        if self.engine == "poll" and computes and wait.mean > 20_000:
            waited, computed = f"{wait.sum / 1e6:.1f} ms of waiting", f"{gap.sum / 1e6:.1f} ms of computing"
            return f"switch on engine thread: {waited} stand against {computed}"
        if self.helped and not computes and self.helper_ns:
            return "switch engine thread off (poll): the program computes too little between start and wait to hide it"
        if self.helped and self.hidden is not None and self.hidden < 0.3 and computes:
            return "little is hidden though there is computing: try another placement or algorithm"
        return "leave as it is"


@dataclass
class Summary:
    """A whole run."""

    ranks: list[dict[str, Any]]
    rows: list[Row]

    @property
    def missing(self) -> list[int]:
        present = {rank["rank"] for rank in self.ranks}
        return [number for number in range(self.ranks[0]["ranks"]) if number not in present]

    def helper_seconds(self, rank: dict[str, Any]) -> float:
        return float(sum(helper["cpu_seconds"] for helper in rank["helpers"]))


def summarise(folder: Path) -> Summary:
    """Rows are sorted by the time that they kept the program inside MPI, longest first."""
    ranks = read_ranks(folder)
    names = resolve(site for rank in ranks for site in rank["sites"])
    rows: dict[tuple[Any, ...], Row] = {}
    for rank in ranks:
        for site in rank["sites"]:
            place = names[site["module"], site["offset"]]
            row = Row(place, site["operation"], site["bytes"], site["engine"], site["algorithm"], site["why"])
            row = rows.setdefault((place, row.operation, row.bytes, row.engine, row.algorithm), row)
            row.ranks += 1
            row.started += site["started"]
            row.helper_ns += site["helper_ns"]
            for name, times in row.times.items():
                times.add(site[name])
    ordered = sorted(rows.values(), key=lambda row: row.exposed_ns * row.times["wait"].count, reverse=True)
    return Summary(ranks, ordered)


def as_json(summary: Summary) -> dict[str, Any]:
    """The summary as plain data; times in ns."""
    return {
        "ranks": [
            {name: value for name, value in rank.items() if name not in ("sites", "tracks")} for rank in summary.ranks
        ],
        "missing_ranks": summary.missing,
        "sites": [
            {
                **{name: getattr(row, name) for name in ("place", "operation", "bytes", "engine", "algorithm", "why")},
                "ranks": row.ranks,
                "started": row.started,
                "helper_ns": row.helper_ns,
                "exposed_mean_ns": row.exposed_ns,
                "hidden": row.hidden,
                "hidden_is_estimate": row.hidden_is_estimate,
                "advice": row.advice,
                **{name: {**vars(times), "mean": times.mean} for name, times in row.times.items()},
            }
            for row in summary.rows
        ],
    }
