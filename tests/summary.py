"""How the steps of `./dev test` and `./dev ci` went: a line for each, and last "N passed, N failed, N skipped".

summary.py FOLDER: `steps` has a line for each step (number, name, exit code, seconds); NUMBER.xml is the JUnit file of
one with tests. A step that failed without a failed test (it did not compile, lint found something) counts as one.
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


def main(folder: Path) -> int:
    total = [0, 0, 0]
    lines = [line.split("\t") for line in (folder / "steps").read_text().splitlines()]
    for number, name, code, seconds in sorted(lines, key=lambda line: int(line[0])):
        passed, failed, skipped = counted(folder / f"{number}.xml")
        if code != "0" and failed == 0:
            failed = 1
        total = [total[0] + passed, total[1] + failed, total[2] + skipped]
        state = "FAILED" if failed else "ok    "
        print(f"{state} {int(seconds) // 60:3}:{int(seconds) % 60:02} min  {name}: {passed} passed, {failed} failed")
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
