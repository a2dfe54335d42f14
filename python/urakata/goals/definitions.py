# SPDX-License-Identifier: BSD-3-Clause
"""Goals, sessions and sides as bench/goals.toml defines them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from urakata.goals.errors import MeasurementError
from urakata.goals.samples import OVER_ROUNDS
from urakata.paths import NotFoundError, source_tree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DIRECTIONS = ("at most", "at least")


@dataclass(frozen=True)
class Side:
    """One of the things compared: an MPI library, with Urakata where `options` (of urakata-exec) is not None."""

    name: str
    mpi: str
    options: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    flows: Mapping[str, Any] = field(default_factory=dict)
    """What is done to single connections across the long link meanwhile: see flows.Watch."""


@dataclass(frozen=True)
class Session:
    """What is run in turn, for how long, and what stands for all rounds. `parameters` are those of its kind."""

    name: str
    kind: str
    seconds: float
    least_rounds: int
    over_rounds: str
    together: bool
    ebpf: bool
    sides: tuple[Side, ...]
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Goal:
    """A performance target: `figure` of `session`, in `unit`, at most or at least `target`."""

    name: str
    compares: str
    unit: str
    target: float
    direction: str
    session: str
    figure: str
    parameters: Mapping[str, Any]
    binding: bool = False
    """Whether a release must keep it. One that is only watched shows earlier, or closer, where something went wrong."""
    bound: str = ""
    """What was found to keep the number short of the target, one sentence or two; empty: nothing is known."""

    def as_json(self) -> dict[str, Any]:
        """What the target is, without how it is measured."""
        return {key: getattr(self, key) for key in ("name", "compares", "unit", "target", "direction", "binding")}

    def met_by(self, value: float) -> bool:
        """Whether `value` meets the target."""
        return value <= self.target if self.direction == "at most" else value >= self.target


@dataclass(frozen=True)
class Definitions:
    """All of goals.toml."""

    goals: Mapping[str, Goal]
    sessions: Mapping[str, Session]


def _side(name: str, table: dict[str, Any]) -> Side:
    options = table.get("options")
    given = None if options is None else tuple(options)
    return Side(name, table["host"], given, table.get("environment", {}), table.get("flows", {}))


def _session(name: str, table: dict[str, Any]) -> Session:
    rest = dict(table)
    sides = tuple(_side(side, value) for side, value in rest.pop("sides").items())
    return Session(
        name=name,
        kind=rest.pop("kind"),
        seconds=rest.pop("seconds"),
        least_rounds=rest.pop("least_rounds"),
        over_rounds=rest.pop("over_rounds", "median"),
        together=rest.pop("together", False),
        ebpf=rest.pop("ebpf", False),
        sides=sides,
        parameters=rest,
    )


def _goal(name: str, table: dict[str, Any]) -> Goal:
    rest = dict(table)
    fixed = {key: rest.pop(key) for key in ("compares", "unit", "target", "direction", "session", "figure")}
    binding, bound = rest.pop("binding", False), rest.pop("bound", "")
    return Goal(name=name, binding=binding, bound=bound, parameters=rest, **fixed)


def parse(text: str, origin: str = "goals.toml") -> Definitions:
    """Reads the definitions; MeasurementError names what is missing or not known."""
    try:
        tables = tomllib.loads(text)
        sessions = {name: _session(name, table) for name, table in tables["sessions"].items()}
        goals = {name: _goal(name, table) for name, table in tables["goals"].items()}
    except tomllib.TOMLDecodeError as error:
        raise MeasurementError(f"{origin}: {error}") from error
    except KeyError as error:
        raise MeasurementError(f"{origin}: the key {error} is missing") from error
    for session in sessions.values():
        if session.over_rounds not in OVER_ROUNDS:
            raise MeasurementError(f"{origin}: {session.name}: over_rounds is one of {', '.join(OVER_ROUNDS)}")
    for goal in goals.values():
        if goal.direction not in DIRECTIONS:
            raise MeasurementError(f"{origin}: {goal.name}: direction is one of {', '.join(DIRECTIONS)}")
        if goal.session not in sessions:
            raise MeasurementError(f"{origin}: {goal.name}: there is no session {goal.session}")
    return Definitions(goals, sessions)


def load(path: Path | None = None) -> Definitions:
    """The definitions of the source tree, or of the file `path`."""
    if path is None:
        tree = source_tree()
        if tree is None:
            raise NotFoundError("goals are measured in the source tree: ./dev goals")
        path = tree / "bench" / "goals.toml"
    return parse(path.read_text(encoding="utf-8"), str(path))
