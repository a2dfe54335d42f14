# SPDX-License-Identifier: BSD-3-Clause
"""How the steps of `./dev test` and `./dev ci` went: a line for each step, with its failed tests below it; the time of
all, beside the limit where there is one; what was skipped, by reason; the flaky tests; last "N passed, N failed, ...".

summary.py FOLDER SECONDS LIMIT: `steps` has a line for each step (number, name, exit code, seconds). NUMBER.xml is the
JUnit file of a step with tests. again.json tells how failed tests went when they were run again (rerun.py). A step that
failed without a failed test (it did not compile, lint found something) counts as one. SECONDS is how long all took,
which is less than the sum where steps ran beside each other. LIMIT is how many minutes that may be on 2 cores, 0 for no
limit. More than that is told, but is no failure: machines differ.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import junit

MOST_NAMED = 10
MOST_CHARACTERS = 2400  # of why, for all failed tests of a step together
MOST_REASONS = 20
LONG = "URAKATA_TEST_FULL=1"  # in the reason of a test that only --full runs


@dataclass(frozen=True)
class Flaky:
    """A test that failed once, and passed when it was run again by itself."""

    test: str
    failed: str  # its output
    passed: str


def ends(text: str, most: int) -> str:
    """A text's first and last words: what failed, and what was seen last."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"


def runs_again(folder: Path) -> dict[tuple[str, str], str]:
    """By step and test: the last output of a test that passed each time it was run again."""
    file = folder / "again.json"
    tried = json.loads(file.read_text()) if file.is_file() else []
    passed = [one for one in tried if all(run["passed"] for run in one["runs"])]
    return {(one["step"], one["test"]): one["runs"][-1]["output"] for one in passed}


def minutes(seconds: int) -> str:
    return f"{seconds // 60:3}:{seconds % 60:02} min"


def whole(seconds: int, limit: int) -> str:
    """The line for the time of all."""
    if limit == 0:
        return f"       {minutes(seconds)}  in all"
    state = "OVER  " if seconds > 60 * limit else "      "
    return f"{state} {minutes(seconds)}  in all; the limit on 2 cores is {limit} min"


def skipped_by_reason(reasons: Counter[str]) -> list[str]:
    """The long tests in one line, then a line for each other reason."""
    long = sum(count for reason, count in reasons.items() if LONG in reason)
    others = [(reason, count) for reason, count in reasons.most_common() if LONG not in reason]
    lines = [f"skipped {long:4}: long ones, which ./dev test --full runs"] if long else []
    lines += [f"skipped {count:4}: {ends(reason or 'no reason given', 150)}" for reason, count in others[:MOST_REASONS]]
    rest = sum(count for _, count in others[MOST_REASONS:])
    return lines + ([f"skipped {rest:4}: for {len(others) - MOST_REASONS} other reasons"] if rest else [])


def main(folder: Path, seconds: int, limit: int) -> int:
    passed, failed, reasons, flaky = 0, 0, Counter[str](), list[Flaky]()
    again = runs_again(folder)
    lines = [line.split("\t") for line in (folder / "steps").read_text().splitlines()]
    for number, name, code, taken in sorted(lines, key=lambda line: int(line[0])):
        cases = junit.cases(folder / f"{number}.xml")
        broken = [case for case in cases if case.failure is not None]
        mended = [case for case in broken if (number, case.title()) in again]
        failures = [case for case in broken if case not in mended]
        skipped = [case for case in cases if case.skipped is not None]
        here = len(cases) - len(failures) - len(skipped)
        bad = len(failures) or int(code != "0" and not mended)
        passed, failed = passed + here, failed + bad
        reasons.update(case.skipped or "" for case in skipped)
        flaky += [Flaky(case.title(), case.output, again[number, case.title()]) for case in mended]
        print(f"{'FAILED' if bad else 'ok    '} {minutes(int(taken))}  {name}: {here} passed, {bad} failed")
        named = failures[:MOST_NAMED]
        for case in named:
            most = max(junit.LEAST_CHARACTERS, MOST_CHARACTERS // len(named))
            print(f"         {ends(f'{case.title()}: {case.failure}', most)}")
        if len(failures) > MOST_NAMED:
            print(f"         and {len(failures) - MOST_NAMED} more")
    print(whole(seconds, limit))
    for line in skipped_by_reason(reasons):
        print(line)
    for one in flaky:
        print(f"flaky: {one.test}")
        print(f"it failed:\n{ends(one.failed, MOST_CHARACTERS)}\nand passed, run again by itself:")
        print(ends(one.passed, MOST_CHARACTERS))
    print(f"{passed} passed, {failed} failed, {sum(reasons.values())} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
