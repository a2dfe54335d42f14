# SPDX-License-Identifier: BSD-3-Clause
"""A session: all configurations in turn, round by round, so that no side has the quiet minute."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from urakata.measure.jobs import Record
from urakata.measure.rounds import Progress, Turn, in_turns
from urakata.measure.running import JobError
from urakata.measure.session import Refused, Session
from urakata.overlap_study.configuration import Configuration
from urakata.overlap_study.job import Amounts, Place, run_job
from urakata.overlap_study.plan import Plan, threads_for
from urakata.overlap_study.results import Results


@dataclass
class OverlapSession(Session[Results]):
    """`setups`: what the program said of itself for each configuration. `skips`: sizes that it left out. `matched`: by
    what must compute alike, the elements for each size."""

    setups: dict[str, Record] = field(default_factory=dict)
    skips: list[Refused] = field(default_factory=list)
    matched: dict[str, dict[int, int]] = field(default_factory=dict)

    def warnings(self) -> list[str]:
        """What the jobs showed that makes numbers less certain, or wrong."""
        found = []
        if any(not setup["optimised"] for setup in self.setups.values()):
            found.append("the measuring program was built without optimisation")
        for row in self.results.rows:
            if row.wrong:
                one = row.configuration
                found.append(f"WRONG RESULT: {one.operation}, {one.place}, {row.bytes} B: do not trust its times")
        return found


def steps(plan: Plan, amounts: Amounts, repeats: int) -> int:
    """How many message sizes will be reported to Progress."""

    calibrated = sum(_sizes_of(one, amounts) for one in _calibrations(plan.configurations))
    measured = repeats * sum(_sizes_of(one, amounts) for one in plan.configurations)
    return measured + (calibrated if amounts.work == "match" else 0)


def _sizes_of(configuration: Configuration, amounts: Amounts) -> int:
    return 1 if configuration.operation == "ibarrier" else len(amounts.sizes)


def _calibrations(configurations: Sequence[Configuration]) -> list[Configuration]:
    """One for each set of configurations that must have the same amounts."""
    seen = {(one.operation, one.kind, one.ranks_per_node): one for one in configurations}
    return [Configuration(*key, threads=0, engine="none") for key in seen]


def _key(configuration: Configuration) -> str:
    return f"{configuration.operation}/{configuration.kind}/{configuration.ranks_per_node}"


def run_session(plan: Plan, place: Place, amounts: Amounts, repeats: int, progress: Progress) -> OverlapSession:
    """Measures every configuration `repeats` times.

    With amounts.work "match" a first run of the MPI library's own finds, for each size, how much computation takes
    amounts.scale times as long as communication; all sides then compute just as much.
    """
    session = OverlapSession(Results())
    if amounts.work == "match":
        _calibrate(session, plan, place, amounts, progress)
    turns = []
    for one in plan.configurations:
        run = partial(_measure, session, one, place, _told(session, one, amounts), itertools.count())
        turns.append(Turn(f"{one.operation}, {one.place}", run, _sizes_of(one, amounts)))
    session.failed += in_turns(turns, repeats, progress)
    return session


def _told(session: OverlapSession, configuration: Configuration, amounts: Amounts) -> Amounts | None:
    """The amounts of one configuration; None where they were to be found first, and could not be."""
    if amounts.work != "match":
        return amounts
    found = session.matched.get(_key(configuration))
    return replace(amounts, sizes=list(found), work=list(found.values())) if found else None


def _measure(
    session: OverlapSession, configuration: Configuration, place: Place, amounts: Amounts | None, rounds: Iterator[int]
) -> None:
    if amounts is None:
        return
    number = next(rounds)
    outcome = run_job(configuration, place, amounts)
    session.setups[configuration.place] = outcome.setup
    for record in outcome.results:
        session.results.add(configuration, {"round": number, **record})
    if number == 0:
        for record in outcome.skips:
            what = f"{configuration.operation}, {configuration.place}, {record['bytes']} B"
            session.skips.append(Refused(what, record["reason"]))


def _calibrate(session: OverlapSession, plan: Plan, place: Place, amounts: Amounts, progress: Progress) -> None:
    for base in _calibrations(plan.configurations):
        threads = threads_for("none", base.ranks_per_node, place.cores)
        configuration = replace(base, threads=threads)
        label = f"how much to compute: {base.operation}, {base.ranks_per_node} ranks a node"
        progress(label, 0)
        try:
            outcome = run_job(configuration, place, replace(amounts, turns=min(amounts.turns, 20)))
        except JobError as error:
            session.failed.append(Refused(label, str(error)))
            continue
        finally:
            progress(label, _sizes_of(configuration, amounts))
        session.matched[_key(base)] = {record["bytes"]: record["work"] for record in outcome.results}
