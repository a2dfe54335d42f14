# SPDX-License-Identifier: BSD-3-Clause
"""The sides of a comparison: ways to run one program, cheapest first."""

from __future__ import annotations

from dataclasses import dataclass

from urakata import caller_path, launcher
from urakata.compare.clock import with_clock
from urakata.measure.jobs import with_urakata


@dataclass(frozen=True)
class Side:
    """`options` are urakata-exec's, None to leave Urakata out; `words` are those of `urakata run` that say the same."""

    name: str
    title: str
    options: tuple[str, ...] | None
    words: tuple[str, ...] = ()

    @property
    def space(self) -> bool:
        return "SPACE=1" in (self.options or ())

    def ranks_command(self, program: list[str], more: list[str]) -> list[str]:
        """What the launcher starts for each rank; `more`: options of the user's for every side with Urakata."""
        if self.options is None:
            return caller_path.without_urakata(program)
        return with_urakata([*self.options, *more], caller_path.resolved(program))

    def command(
        self,
        mpi: launcher.Mpi,
        ranks: int,
        program: list[str],
        more: list[str],
        own: list[str],
        clock: bool = False,
    ) -> list[str]:
        """The launcher's command line; `own`: arguments of the user's for it; `clock`: whether the ranks have it."""
        of_rank = self.ranks_command(program, more)
        return mpi.command(ranks, with_clock(of_rank) if clock else of_rank, own)


ALONE = Side("host", "MPI library alone", None)
SPACE = Side("space", "space", ("--set", "SPACE=1"), ("--space",))

# Cheapest first: no thread, a thread beside the computation, a core for it; each without and with a space.
ENGINES = {
    "poll": ("poll", ("--engine", "poll")),
    "shared": ("thread, shared", ("--engine", "thread", "--placement", "shared")),
    "spare": ("thread, spare", ("--engine", "thread", "--placement", "spare")),
}


def sides_of(engines: list[str], spaces: list[bool]) -> list[Side]:
    """The MPI library, then each engine without a space and with one, as `spaces` says."""
    found = [ALONE]
    for space in spaces:
        for name, (title, options) in ENGINES.items():
            if name not in engines:
                continue
            if space:
                options_in = (*options, "--set", "SPACE=1")
                found.append(Side(f"{name}+space", f"{title}, space", options_in, (*options, "--space")))
            else:
                found.append(Side(name, title, options, options))
    return found


def idle_sides_of(spaces: list[bool]) -> list[Side]:
    """What can make a difference where no engine can: a space. Without one, that Urakata costs nothing."""
    return [ALONE, SPACE] if True in spaces else sides_of(["poll"], [False])
