# SPDX-License-Identifier: BSD-3-Clause
"""Results: the samples of all rounds of a configuration at one message size, and the measures worked out from them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from urakata.measure.estimate import Spread, spread
from urakata.overlap_study import measures
from urakata.overlap_study.configuration import OF_MPI_ASYNC, Configuration

TIMES = ("pure", "pure_init", "compute_alone", "init", "compute", "wait", "overall")


@dataclass
class Row:
    """One configuration at one message size. Times are microseconds, each the longest rank's of a turn.

    `runs` holds one record of bench/overlap for each round, samples and all.
    """

    configuration: Configuration
    bytes: int
    runs: list[dict[str, Any]] = field(default_factory=list)

    def samples(self, name: str) -> list[float]:
        """Of all rounds together."""
        return [float(value) for run in self.runs for value in run["samples"][name]]

    def time(self, name: str) -> Spread:
        """Median and quartiles of a time of TIMES."""
        return spread(self.samples(name))

    def progress_thread_cpu(self, loop: str) -> float:
        """CPU microseconds of background threads in a turn of `loop`, mean over ranks and rounds."""
        return max(0.0, sum(float(run["helper_cpu"][loop]) for run in self.runs) / len(self.runs))

    @property
    def work(self) -> int:
        """Elements computed in a turn."""
        return int(self.runs[0]["work"])

    @property
    def wrong(self) -> bool:
        """Whether a rank received something else than it must."""
        return any(run["wrong_ranks"] for run in self.runs)

    @property
    def tcpu(self) -> float:
        """See measures.TCPU_TEXT. An MPI library's progress thread polls, which is no work of communication: not in
        here."""
        caller = sum(float(run["caller_cpu"]) for run in self.runs) / len(self.runs)
        shares = self.configuration.shares_cores and self.configuration.engine not in OF_MPI_ASYNC
        return min(caller + (self.progress_thread_cpu("tested") if shares else 0.0), self.time("pure").median)

    def by_round(self) -> dict[int, dict[str, float]]:
        """The medians of a round's times, by its number."""
        return {
            int(run["round"]): {name: statistics.median(run["samples"][name]) for name in TIMES} for run in self.runs
        }

    def hidden_by_round(self) -> dict[int, float]:
        """What was hidden in each round by itself."""
        return {
            number: measures.hidden(one["compute_alone"], one["pure"], one["overall"])
            for number, one in self.by_round().items()
        }

    def measured(self) -> dict[str, float]:
        """All measures by name."""
        tw, tc, t = (self.time(name).median for name in ("compute_alone", "pure", "overall"))
        inside = self.time("compute").median
        best = measures.limit(tw, tc, self.tcpu)
        return {
            "hidden": measures.hidden(tw, tc, t),
            "theft": measures.theft(tw, inside),
            "tcpu": self.tcpu,
            "limit": best,
            "t_over_limit": t / best if best > 0 else 0.0,
            "osu_overlap": measures.osu_overlap(tc, inside, t),
            "imb_overlap": measures.imb_overlap(tc, tw, t),
            "helper_cpu": self.progress_thread_cpu("both"),
            "helper_share": self.progress_thread_cpu("both") / t if t > 0 else 0.0,
        }

    def as_json(self) -> dict[str, Any]:
        """Configuration, medians with quartiles, measures, and each round's record."""
        return {
            "configuration": self.configuration.as_json(),
            "bytes": self.bytes,
            "work": self.work,
            "wrong": self.wrong,
            "times": {name: vars(self.time(name)) for name in TIMES},
            "measures": self.measured(),
            "runs": self.runs,
        }


class Results:
    """Rows in the order in which they first came."""

    def __init__(self) -> None:
        self._rows: dict[tuple[Configuration, int], Row] = {}

    def add(self, configuration: Configuration, record: Mapping[str, Any]) -> None:
        """Takes a result of bench/overlap."""
        key = (configuration, int(record["bytes"]))
        row = self._rows.setdefault(key, Row(*key))
        row.runs.append(dict(record))

    @property
    def rows(self) -> list[Row]:
        """All, by size within a configuration."""
        return list(self._rows.values())

    def configurations(self) -> list[Configuration]:
        """Each once."""
        return list(dict.fromkeys(row.configuration for row in self.rows))

    def of_panel(self, operation: str, kind: str) -> list[Configuration]:
        """Those of an operation and kind of computation."""
        return [one for one in self.configurations() if (one.operation, one.kind) == (operation, kind)]

    def row(self, configuration: Configuration, size: int) -> Row | None:
        """The one row, or None."""
        return self._rows.get((configuration, size))

    def of(self, configuration: Configuration) -> list[Row]:
        """Its rows by rising size."""
        return sorted((row for row in self.rows if row.configuration == configuration), key=lambda row: row.bytes)

    def base(self, configuration: Configuration) -> Configuration | None:
        """The MPI library's own with the same operation, computation and p_node and, if there are several, most
        threads."""
        alike = [
            one
            for one in self.configurations()
            if one.engine == "none"
            and (one.operation, one.kind, one.ranks_per_node)
            == (configuration.operation, configuration.kind, configuration.ranks_per_node)
        ]
        return max(alike, key=lambda one: (one.threads == configuration.threads, one.threads), default=None)

    def ratio(self, row: Row, time: str = "overall") -> float | None:
        """Its time over the MPI library's own at the same size, or None where that was not measured."""
        base = self.base(row.configuration)
        other = self.row(base, row.bytes) if base else None
        if other is None or other.time(time).median <= 0:
            return None
        return row.time(time).median / other.time(time).median

    def ratios_by_round(self, configuration: Configuration, sizes: Iterable[int]) -> list[float]:
        """Overall time over the MPI library's own in the same round, geometric mean over the sizes: of each round in
        which both have all of them."""
        base = self.base(configuration)
        if base is None:
            return []
        pairs = [(self.row(configuration, size), self.row(base, size)) for size in sizes]
        both = [(own.by_round(), of_mpi.by_round()) for own, of_mpi in pairs if own and of_mpi]
        if not both:
            return []
        numbers = set.intersection(*(own.keys() & of_mpi.keys() for own, of_mpi in both))
        return [
            measures.geometric_mean(
                own[number]["overall"] / of_mpi[number]["overall"] if of_mpi[number]["overall"] > 0 else math.nan
                for own, of_mpi in both
            )
            for number in sorted(numbers)
        ]

    def panels(self) -> list[tuple[str, str]]:
        """Each (operation, kind of computation) once."""
        return list(dict.fromkeys((one.operation, one.kind) for one in self.configurations()))


def fastest(rows: Sequence[Row]) -> tuple[Configuration, float] | None:
    """The configuration with the least geometric mean of overall times, over the sizes that all have; and that mean."""
    by_configuration: dict[Configuration, dict[int, float]] = {}
    for row in rows:
        by_configuration.setdefault(row.configuration, {})[row.bytes] = row.time("overall").median
    if not by_configuration:
        return None
    common = set.intersection(*(set(times) for times in by_configuration.values()))
    if not common:
        return None
    means = {
        one: measures.geometric_mean(times[size] for size in sorted(common)) for one, times in by_configuration.items()
    }
    best = min(means, key=lambda one: means[one])
    return best, means[best]


def from_json(rows: Iterable[Mapping[str, Any]]) -> Results:
    """Rows as Row.as_json wrote them."""
    results = Results()
    for row in rows:
        configuration = Configuration(**row["configuration"])
        for run in row["runs"]:
            results.add(configuration, run)
    return results
