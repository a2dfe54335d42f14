# SPDX-License-Identifier: BSD-3-Clause
"""Why a goal was not measured."""

from __future__ import annotations


class CannotMeasureError(Exception):
    """This machine lacks what the goal needs (a core, namespaces, an MPI); the text is the reason."""


class MeasurementError(Exception):
    """A job that should have measured failed; the text says which and how."""
