"""How the steps of `./dev test` and `./dev ci` went: a line for each, one for the time of all, beside the limit where
there is one, and last "N passed, N failed, N skipped".

summary.py FOLDER SECONDS LIMIT: `steps` has a line for each step (number, name, exit code, seconds); NUMBER.xml is the
JUnit file of one with tests. A step that failed without a failed test (it did not compile, lint found something) counts
as one. SECONDS is how long all took, which is less than the sum where steps ran beside each other; LIMIT how many
minutes it may take on 2 cores, 0 for no limit. More than that is told, but is no failure: machines differ.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree


def counted(file: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests; none where the step did not come to its tests."""
    if not file.is_file():
        return 0, 0, 0
    cases = list(ElementTree.parse(file).getroot().iter("testcase"))
    failed = sum(any(case.find(word) is not None for word in ("failure", "error")) for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    return len(cases) - failed - skipped, failed, skipped


def minutes(seconds: int) -> str:
    return f"{seconds // 60:3}:{seconds % 60:02} min"


def whole(seconds: int, limit: int) -> str:
    """The line for the time of all."""
    if limit == 0:
        return f"       {minutes(seconds)}  in all"
    state = "OVER  " if seconds > 60 * limit else "      "
    return f"{state} {minutes(seconds)}  in all; the limit on 2 cores is {limit} min"


def main(folder: Path, seconds: int, limit: int) -> int:
    total = [0, 0, 0]
    lines = [line.split("\t") for line in (folder / "steps").read_text().splitlines()]
    for number, name, code, taken in sorted(lines, key=lambda line: int(line[0])):
        passed, failed, skipped = counted(folder / f"{number}.xml")
        if code != "0" and failed == 0:
            failed = 1
        total = [total[0] + passed, total[1] + failed, total[2] + skipped]
        state = "FAILED" if failed else "ok    "
        print(f"{state} {minutes(int(taken))}  {name}: {passed} passed, {failed} failed")
    print(whole(seconds, limit))
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
