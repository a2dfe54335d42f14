# SPDX-License-Identifier: BSD-3-Clause
"""The parts of the study, in the order in which they are measured and shown."""

from __future__ import annotations

from urakata.space_study.layouts import LAYOUTS
from urakata.space_study.memory import MEMORY
from urakata.space_study.messages import MESSAGES
from urakata.space_study.starting import STARTING

PARTS = {part.name: part for part in (MESSAGES, LAYOUTS, MEMORY, STARTING)}
