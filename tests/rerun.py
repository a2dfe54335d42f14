# SPDX-License-Identifier: BSD-3-Clause
"""Runs each failed test of `./dev test` and `./dev ci` twice more, by itself. FOLDER/again.json tells how that went.

rerun.py FOLDER: NUMBER.xml is the JUnit file of a step, NUMBER.again the command that runs one of its tests. Its words
each end with a zero byte; the first is `ctest` or `pytest`. A test that passes both times is flaky: that is a defect of
the product or of the test, which the summary names, but the run has not failed for it. Of more than MOST failed tests
none is run again: something is broken then.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import junit

MOST = 8
TIMES = 2
SECONDS = 600  # for one run of one test


def command(words: list[str], case: junit.Case) -> list[str]:
    """The command line that runs this test alone."""
    kind, *rest = words
    return [*rest, f"^{re.escape(case.name)}$" if kind == "ctest" else f"{case.file}::{case.name}"]


def once(line: list[str]) -> tuple[bool, str]:
    """Whether the test passed, and what it said. Nothing of a test that does not end is left running."""
    with subprocess.Popen(
        line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as test:
        try:
            said, _ = test.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(test.pid, signal.SIGKILL)
            said, _ = test.communicate()
            said += f"\nnot ended after {SECONDS} s\n".encode()
    return test.returncode == 0, said.decode(errors="replace")


def main(folder: Path) -> None:
    failed = [
        (file.stem, case)
        for file in sorted(folder.glob("*.xml"))
        for case in junit.cases(file)
        if case.failure is not None and (folder / f"{file.stem}.again").is_file()
    ]
    if len(failed) > MOST:
        print(f"{len(failed)} tests failed, more than {MOST}: none is run again.")
        return
    again = []
    for step, case in failed:
        words = (folder / f"{step}.again").read_text().split("\0")[:-1]
        runs = []
        for time in range(1, TIMES + 1):
            passed, said = once(command(words, case))
            print(f"{'passed' if passed else 'FAILED'}, run {time} of {TIMES} more: {case.title()}", flush=True)
            runs.append({"passed": passed, "output": said})
            if not passed:
                break
        again.append({"step": step, "test": case.title(), "runs": runs})
    (folder / "again.json").write_text(json.dumps(again))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
