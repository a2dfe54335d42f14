# SPDX-License-Identifier: BSD-3-Clause
"""Measuring goals by name: one session for all goals that share it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from urakata.goals import session as sessions
from urakata.goals.definitions import Definitions, Goal, Session
from urakata.goals.errors import CannotMeasureError, MeasurementError
from urakata.goals.figures import FIGURES
from urakata.goals.outcome import Outcome
from urakata.goals.samples import Samples
from urakata.paths import NotFoundError

Measure = Callable[[Session, sessions.Notice], Samples]


def forget_options() -> list[str]:
    """Removes URAKATA_* from this process's environment, so that only the sides' own options count; says which."""
    names = sorted(name for name in os.environ if name.startswith("URAKATA_"))
    for name in names:
        del os.environ[name]
    return names


def measure_goals(
    definitions: Definitions, goals: Iterable[Goal], notice: sessions.Notice, measure: Measure = sessions.measure
) -> list[Outcome]:
    """The outcome of each goal, in the order given. One that goes wrong keeps no other from being measured."""
    measured: dict[str, Samples | CannotMeasureError | MeasurementError] = {}
    outcomes = []
    for goal in goals:
        if goal.session not in measured:
            try:
                measured[goal.session] = measure(definitions.sessions[goal.session], notice)
            except (CannotMeasureError, MeasurementError) as error:
                measured[goal.session] = error
            except NotFoundError as error:
                measured[goal.session] = CannotMeasureError(str(error))
        outcomes.append(_outcome(goal, measured[goal.session]))
    return outcomes


def _outcome(goal: Goal, result: Samples | CannotMeasureError | MeasurementError) -> Outcome:
    try:
        if isinstance(result, Samples):
            return Outcome(goal, FIGURES[goal.figure](goal, result))
        raise result
    except CannotMeasureError as error:
        return Outcome(goal, None, str(error))
    except MeasurementError as error:
        return Outcome(goal, None, str(error), failed=True)
    except (ArithmeticError, LookupError, ValueError) as error:  # a defect of ours must not cost the other goals
        return Outcome(goal, None, f"cannot work out {goal.figure}: {error!r}", failed=True)
