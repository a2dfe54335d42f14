# SPDX-License-Identifier: BSD-3-Clause
"""A job that did not reach MPI_Finalize: where each rank is, or was, and what to type next."""

from __future__ import annotations

from pathlib import Path

from urakata import typed
from urakata.report.ending import SPACE_DAEMON, program_of
from urakata.report.units import of_ranks, time_text
from urakata.report.whole import RankShare, Whole

_MOST_LOOKED_AT = 3


def _state(rank: RankShare, many: bool, others_run: bool) -> str:
    if rank.state == "aborted":
        return "called MPI_Abort"
    if rank.alive:
        return f"{'have' if many else 'has'} not reached MPI_Finalize"
    if rank.alive is False and others_run:
        return "ended without MPI_Finalize, while other ranks run"
    return "did not reach MPI_Finalize"


def _where(rank: RankShare, many: bool) -> str:
    """Alike for ranks that share a line."""
    if rank.state == "aborted" and rank.inside:
        return rank.inside.partition(" ")[2]  # "at app.c:12"
    they = "they" if many else "it"
    verb = f"{they} {'are' if many else 'is'}" if rank.alive else f"{they} {'were' if many else 'was'}"
    if rank.inside:
        return f"{verb} inside {rank.inside}"
    where = f"{verb} in no call of MPI"
    return f"{where}; {'their' if many else 'its'} last one was {rank.last}" if rank.last else f"{where} yet"


def _groups(whole: Whole) -> list[list[RankShare]]:
    alike: dict[tuple[str, str], list[RankShare]] = {}
    for rank in whole.ranks:
        if rank.state != "finished":
            alike.setdefault((_state(rank, False, whole.alive), _where(rank, False)), []).append(rank)
    return list(alike.values())


def _span(times: list[int]) -> str:
    return " to ".join(dict.fromkeys((time_text(min(times)), time_text(max(times)))))


def _times(ranks: list[RankShare]) -> str:
    """How long they have been there; where that is not known, when they came there."""
    if ranks[0].state == "aborted" and ranks[0].inside:
        return ""
    known = [rank.for_ns for rank in ranks if rank.for_ns is not None]
    if ranks[0].inside:
        begun = f"begun {_span([rank.inside_after_ns for rank in ranks])} after MPI_Init"
        return f", for {_span(known)} ({begun})" if known else f", {begun}"
    if ranks[0].last:
        ended = f"ended {_span([rank.last_after_ns for rank in ranks])} after MPI_Init"
        return (
            f", which {ended}, {_span(known)} {'ago' if ranks[0].alive else 'before the end'}"
            if known
            else f", which {ended}"
        )
    return ""


def early_ends(whole: Whole) -> list[str]:
    """One line for all ranks that are, or ended, in the same way at the same place before MPI_Finalize. Then one for
    those that reached it, where others did not."""
    lines = []
    for ranks in _groups(whole):
        many = len(ranks) > 1
        state, where = _state(ranks[0], many, whole.alive), _where(ranks[0], many)
        joint = " " if ranks[0].state == "aborted" and ranks[0].inside else "; "
        lines.append(f"{of_ranks([rank.rank for rank in ranks])} {state}{joint}{where}{_times(ranks)}")
    finished = [rank.rank for rank in whole.ranks if rank.state == "finished"]
    if lines and finished:
        them = "it" if len(finished) == 1 else "them"
        lines.append(f"{of_ranks(finished)} reached MPI_Finalize; the others may wait for {them}")
    return lines


def _odd(groups: list[list[RankShare]]) -> list[RankShare]:
    """Of those on this machine the one that is where fewest are, best of all in no call: the others may wait for it.
    One of each place where as few are, if these places are no more than can be looked at."""

    def order(ranks: list[RankShare]) -> tuple[int, bool]:
        return len(ranks), ranks[0].inside != ""

    least = min(map(order, groups))
    odd = [ranks[0] for ranks in groups if order(ranks) == least]
    return odd if len(odd) <= _MOST_LOOKED_AT else odd[:1]


def _look(odd: list[RankShare], groups: list[list[RankShare]]) -> str:
    if len(odd) > 1:
        names = [f"rank {rank.rank}" for rank in odd]
        return f"Look into {', '.join(names[:-1])} and {names[-1]}, which are at different places"
    why = ""
    if not odd[0].inside:
        why = ", which is in no call of MPI"
    elif len({len(ranks) for ranks in groups}) > 1:
        why = ", which is elsewhere than most"
    return f"Look into rank {odd[0].rank}" + why * (len(groups) > 1)


def _backtrace(rank: RankShare) -> str:
    """The command."""
    if rank.python:
        return f"py-spy dump --pid {rank.pid}"
    if program_of(rank.pid) == SPACE_DAEMON:
        return f"{typed.command()} debug {rank.pid} -- -batch -ex backtrace"
    return f"gdb -p {rank.pid} -batch -ex 'thread apply all backtrace'"


def next_steps(whole: Whole, folder: Path) -> tuple[str, str] | None:
    """A sentence and the commands to type, a line each; None: all ranks have reached MPI_Finalize."""
    groups = [ranks for ranks in _groups(whole) if ranks[0].alive]
    if groups:
        odd = _odd(groups)
        return f"{_look(odd, groups)}:", "\n".join(map(_backtrace, odd))
    if any(rank.state != "finished" for rank in whole.ranks):
        command = f"{typed.command()} report {folder} --trace trace.json"
        if any(folder.glob("events-*.bin")):
            return "The last calls and messages of every rank, for ui.perfetto.dev:", command
        return "To see the last calls and messages of every rank, run it again with --timeline. Then:", command
    return None
