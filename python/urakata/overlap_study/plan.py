# SPDX-License-Identifier: BSD-3-Clause
"""From the axes that a user asks for to the configurations that this machine can run, in an order that is fair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from urakata.measure.session import Refused
from urakata.overlap_study.configuration import (
    DEFAULT_ALGORITHM,
    OF_MPI_ASYNC,
    OF_URAKATA,
    WITH_SPARE_CORE,
    Configuration,
)

# How each family's own progress thread is switched on; Open MPI has none.
ASYNC_VARIABLES = {
    "mpich": {"MPIR_CVAR_ASYNC_PROGRESS": "1"},
    "impi": {"I_MPI_ASYNC_PROGRESS": "1"},
}


@dataclass(frozen=True)
class Axes:
    """What is asked for. No `threads`: what the cores of a rank allow, as in the study."""

    operations: Sequence[str]
    kinds: Sequence[str]
    ranks_per_node: Sequence[int]
    engines: Sequence[str]
    threads: Sequence[int] = ()
    algorithms: Sequence[str] = (DEFAULT_ALGORITHM,)


@dataclass
class Plan:
    """`warnings` are about configurations that run although their numbers are worth less."""

    configurations: list[Configuration] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def default_ranks_per_node(cores: int) -> list[int]:
    """The study's 1, 2, 4 and 8, as far as there are cores."""
    return [ranks for ranks in (1, 2, 4, 8) if ranks <= cores] or [1]


def quick_ranks_per_node(cores: int) -> int:
    """One division that shows most: the most ranks that still have a core to spare, else as many ranks as cores."""
    divisions = default_ranks_per_node(cores)
    return max((ranks for ranks in divisions if ranks > 1 and cores // ranks > 1), default=divisions[-1])


def threads_for(engine: str, ranks_per_node: int, cores: int) -> int:
    """t_calc = n_cpu / p_node, less one where a core is spared; below 1 where that cannot be."""
    return max(cores // ranks_per_node, 1) - (1 if engine in WITH_SPARE_CORE else 0)


def impossible(engine: str, ranks_per_node: int, threads: int, cores: int, family: str, nodes: int) -> str | None:
    """Why a configuration cannot be run on `nodes` nodes of `cores` cores; None where it can."""
    own = cores // ranks_per_node
    if ranks_per_node * nodes == 1:
        return "one rank in all has nobody to talk to"
    if engine in OF_MPI_ASYNC and family not in ASYNC_VARIABLES:
        return f"{family} has no progress thread of its own"
    if engine in WITH_SPARE_CORE and own < threads + 1:
        left = "not one whole core each" if own == 0 else f"{own} each, all of which compute"
        return f"no spare core: {ranks_per_node} ranks on {cores} cores have {left}"
    return None


def make_plan(axes: Axes, cores: int, family: str, nodes: int = 1) -> Plan:
    """Configurations in the order of the axes. `cores` of a node; `family` of the MPI library."""
    plan = Plan()
    for operation in axes.operations:
        for kind in axes.kinds:
            for ranks in axes.ranks_per_node:
                for engine in axes.engines:
                    _add(plan, axes, Configuration(operation, kind, ranks, 0, engine), cores, family, nodes)
    crowded = {(c.ranks_per_node, c.threads) for c in plan.configurations if c.ranks_per_node * c.threads > cores}
    for ranks, threads in sorted(crowded):
        plan.warnings.append(
            f"oversubscribed: {ranks} ranks x {threads} threads on {cores} cores; the scheduler is measured too"
        )
    return plan


def _add(plan: Plan, axes: Axes, base: Configuration, cores: int, family: str, nodes: int) -> None:
    algorithms = axes.algorithms if base.engine in OF_URAKATA else (DEFAULT_ALGORITHM,)
    for threads in axes.threads or (threads_for(base.engine, base.ranks_per_node, cores),):
        if reason := impossible(base.engine, base.ranks_per_node, max(threads, 1), cores, family, nodes):
            plan.refused.append(Refused(f"{base.operation}, {base.ranks_per_node} ranks a node, {base.engine}", reason))
            continue
        for algorithm in algorithms:
            plan.configurations.append(
                Configuration(base.operation, base.kind, base.ranks_per_node, threads, base.engine, algorithm)
            )
