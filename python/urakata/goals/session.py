# SPDX-License-Identifier: BSD-3-Clause
"""Measuring a session: its jobs from the definition, then round after round."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from urakata import launcher
from urakata.goals.definitions import Session, Side
from urakata.goals.errors import CannotMeasureError
from urakata.goals.jobs import Job, Place
from urakata.goals.places import open_places
from urakata.goals.readers import READERS
from urakata.goals.samples import TOGETHER, Samples
from urakata.goals.together import Read, compare_turns, run_together
from urakata.hosts import LinkSettings, Sites
from urakata.hosts.sites import parse_sites
from urakata.measure.rounds import Budget, in_order

Notice = Callable[[str], None]
"""Is told what is being done."""

HOSTS = 4
"""Test hosts of a session that does not say how many."""

RATE = "1gbit"


def _ranks(wanted: int | str) -> int:
    """`cores` means as many ranks as cores: fully subscribed."""
    if wanted != "cores":
        return int(wanted)
    cores = launcher.usable_cores()
    if cores < 2:
        raise CannotMeasureError("fully subscribed means as many ranks as cores, and here is only one core")
    return cores


def count_hosts(session: Session) -> int:
    """Test hosts for the session's jobs across hosts."""
    return int(session.parameters.get("hosts", HOSTS))


def sites_of(session: Session) -> Sites | None:
    """The sites of a session that has any, with equal links between them."""
    if "sites" not in session.parameters:
        return None
    given = session.parameters
    link = LinkSettings(
        delay_us=round(1000 * given["delay_ms"]),
        rate=round(1e6 * given["link_mbit"]),
        flow_rate=round(1e6 * given["flow_mbit"]),
        loss=given.get("loss_percent", 0.0) / 100,
    )
    return Sites(parse_sites(given["sites"]), link)


def _job(session: Session, side: Side, table: dict[str, Any]) -> Job:
    place = table["place"]
    hosts = count_hosts(session)
    sites = sites_of(session)
    if place == "sites" and sites is not None:
        ranks = sum(sites.sizes)
        label = f"sites {session.parameters['sites']}, {session.parameters['delay_ms']:g} ms"
    elif place == "hosts":
        per_host = int(table.get("per_host", 1))
        ranks = hosts * per_host
        label = f"{hosts} hosts{f' of {per_host} ranks' if per_host != 1 else ''}, {RATE}"
    else:
        ranks = _ranks(table["ranks"])
        label = f"node, {ranks} ranks"
    if side.options is not None:
        side = replace(side, options=(*side.options, *table.get("options", ())))
    link = {name: session.parameters[name] for name in ("delay_ms", "link_mbit", "flow_mbit") if sites is not None}
    return Job(side, place, ranks, session.kind, tuple(table["arguments"]), label, link)


def make_jobs(session: Session) -> list[Job]:
    """One round: for each job of the definition each side, so that what is compared runs close together."""
    return [_job(session, side, table) for table in session.parameters["jobs"] for side in session.sides]


def make_groups(session: Session, jobs: Sequence[Job]) -> list[list[Job]]:
    """What runs at the same time: the sides of one job of the definition, or each job alone."""
    size = len(session.sides) if session.together else 1
    return [list(jobs[i : i + size]) for i in range(0, len(jobs), size)]


def _with_fixed_work(job: Job, amounts: Sequence[int]) -> Job:
    return replace(job, arguments=(*job.arguments, "--work", ",".join(map(str, amounts))))


def fix_work(jobs: Sequence[Job], places: dict[str, Place], notice: Notice) -> list[Job]:
    """For the overlap program: the same computation on every side.

    The first side runs once with as much computation as its communication is long; the mean over its operations is
    what all sides then compute for a message of that size.
    """
    fixed: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for job in jobs:
        key = (job.label, job.arguments)
        if key in fixed:
            continue
        notice(f"fixing the amount of computation: {job.label}, {job.side.name}")
        matched = replace(job, arguments=(*job.arguments, "--work", "match", "--least", "1"))
        by_size: dict[int, list[int]] = {}
        for record in places[job.place].run(matched):
            if record["type"] == "result":
                by_size.setdefault(record["bytes"], []).append(record["work"])
        fixed[key] = [max(1, round(sum(amounts) / len(amounts))) for amounts in by_size.values()]
    return [_with_fixed_work(job, fixed[job.label, job.arguments]) for job in jobs]


def take(samples: Samples, job: Job, record: dict[str, Any], read: Read) -> None:
    """Adds the values of a record. Of one that lacks something, or has a zero of which a ratio is wanted, those goals
    learn that need it; the others do not."""
    try:
        for quantity, point, value in read(job, record):
            samples.add(job.side.name, quantity, point, value)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        samples.unread.append(f"{job.program}, side {job.side.name}: cannot read {record}: {why}")


def alternate(
    groups: Sequence[Sequence[Job]],
    run: Callable[[Sequence[Job]], None],
    seconds: float,
    least: int,
    notice: Notice,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Runs rounds of all `groups` of jobs; returns how many rounds there were.

    Every second round runs in reverse, so that a machine that becomes slower or faster favours no side. Another round
    begins only if one as long as the longest so far still fits `seconds`, but there are at least `least`.
    """
    budget = Budget(seconds, clock)
    done = 0
    while done < least or budget.has_room():
        with budget.round():
            for group in in_order(groups, done):
                notice(f"round {done + 1}: {group[0].label}, {' and '.join(job.side.name for job in group)}")
                run(in_order(group, done))
        done += 1
    return done


def measure(session: Session, notice: Notice) -> Samples:
    """Runs the session. CannotMeasureError or MeasurementError say why there are no samples."""
    begin = time.monotonic()
    samples = Samples(over_rounds=TOGETHER if session.together else session.over_rounds)
    read = READERS[session.kind]

    def run(group: Sequence[Job]) -> None:
        place = places[group[0].place]
        if session.together:
            for job, quantity, point, value in compare_turns(group, run_together(group, place), read):
                samples.add(job.side.name, quantity, point, value)
            return
        for job in group:
            for record in place.run(job):
                take(samples, job, record, read)

    jobs = make_jobs(session)
    wanted = {job.place for job in jobs}
    own = session.parameters.get("operations", ())
    bed = (sites_of(session), session.ebpf, session.parameters.get("congestion"), own)
    with open_places(wanted, count_hosts(session), RATE, *bed) as places:
        if session.kind == "overlap":
            jobs = fix_work(jobs, places, notice)
        seconds = session.seconds - (time.monotonic() - begin)
        alternate(make_groups(session, jobs), run, seconds, session.least_rounds, notice)
    return samples
