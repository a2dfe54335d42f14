# SPDX-License-Identifier: BSD-3-Clause
"""Whether two runs of a program wrote the same.

Ranks write in any order, so the lines of a run are a multiset. What differs from run to run with the MPI library alone
(times, say) cannot be held against a side: lines whose numbers do are compared without their numbers, all others
as they are.
Pieces of lines that several ranks write at once may be mixed: such lines are compared by their characters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_SHOWN = 100  # characters of a line
_OF_NUMBERS = frozenset("0123456789.+-eE")


def _kind(line: str) -> str:
    """The line without its numbers; columns that these shift are evened out."""
    return " ".join(_NUMBER.sub("#", line).split())


def _characters(lines: Iterable[str], without: Iterable[str] = ()) -> Counter[str]:
    found = Counter(letter for line in lines for letter in line if not letter.isspace())
    for letter in without:
        del found[letter]
    return found


def _mixed(one: Counter[str], other: Counter[str]) -> bool:
    """Whether what differs between two runs are the same lines, pieces of which stand in another order. Lines of the
    same kinds are not mixed: their numbers differ."""
    left, right = one - other, other - one
    if Counter(map(_kind, left.elements())) == Counter(map(_kind, right.elements())):
        return False
    return _characters(left.elements()) == _characters(right.elements())


class Reference:
    """What the MPI library alone writes."""

    def __init__(self, outputs: Sequence[str], ignored: Iterable[str] = ()) -> None:
        """`outputs`: of one run each, one at least. `ignored`: regular expressions; what they match is left out.
        Raises re.error."""
        self._ignored = [re.compile(one) for one in ignored]
        self._varying: set[str] = set()  # kinds of lines
        runs = [self._kept(output) for output in outputs]
        for run in runs[1:]:
            first, other = Counter(runs[0]), Counter(run)
            if _mixed(first, other):
                continue
            self._varying |= {_kind(line) for line in (first - other) + (other - first)}
        lines = [self._lines(run) for run in runs]
        self._first, self._first_run = lines[0], runs[0]
        self._comparable = all(
            one == lines[0] or self._same_but_mixed(one, run) for one, run in zip(lines, runs, strict=True)
        )

    def _kept(self, output: str) -> list[str]:
        lines = []
        for line in output.splitlines():
            for pattern in self._ignored:
                line = pattern.sub("", line)
            if line.strip():
                lines.append(line.rstrip())
        return lines

    def _lines(self, kept: list[str]) -> Counter[str]:
        return Counter(kind if (kind := _kind(line)) in self._varying else line for line in kept)

    def _same_but_mixed(self, lines: Counter[str], kept: list[str]) -> bool:
        """Whether the lines of a run are the first run's, mixed; where numbers vary, but for all numbers."""
        if not self._varying:
            return _mixed(lines, self._first)
        left, right = lines - self._first, self._first - lines
        if Counter(map(_kind, left.elements())) == Counter(map(_kind, right.elements())):
            return False
        return _characters(kept, _OF_NUMBERS) == _characters(self._first_run, _OF_NUMBERS)

    @property
    def compared(self) -> str:
        """What of an output is compared, in words."""
        if not self._comparable:
            return (
                "not compared: it differs between runs of the MPI library alone (--ignore REGEX leaves out what does)"
            )
        if not self._first:
            return "not compared: the program writes nothing"
        if self._varying:
            kinds = "1 kind" if len(self._varying) == 1 else f"{len(self._varying)} kinds"
            return (
                f"compared, except for numbers that differ between runs of the MPI library alone (in lines of {kinds})"
            )
        return "compared"

    def difference(self, output: str) -> str:
        """A line that only the MPI library's output or only this one has; empty where there is none."""
        if not self._comparable:
            return ""
        kept = self._kept(output)
        ours = self._lines(kept)
        if self._same_but_mixed(ours, kept):
            return ""
        for found, where in (
            (ours - self._first, "only here"),
            (self._first - ours, "only with the MPI library alone"),
        ):
            if found:
                line = min(found)
                return f"{where}: {line if len(line) <= _SHOWN else line[: _SHOWN - 3] + '...'}"
        return ""
