"""The parts of the study, in the order in which they are measured and shown."""

from __future__ import annotations

from urakata.space_study.memory import MEMORY
from urakata.space_study.messages import MESSAGES

PARTS = {part.name: part for part in (MESSAGES, MEMORY)}
