"""How the steps of `./dev test` and `./dev ci` went: a line for each, one for the time of all, beside the limit where
there is one, and last "N passed, N failed, N skipped". Under a step that failed stand the names of its failed tests,
each with the first and the last words of why: where only the end of a long output is kept, that is in it.

summary.py FOLDER SECONDS LIMIT: `steps` has a line for each step (number, name, exit code, seconds); NUMBER.xml is the
JUnit file of one with tests. A step that failed without a failed test (it did not compile, lint found something) counts
as one. SECONDS is how long all took, which is less than the sum where steps ran beside each other; LIMIT how many
minutes it may take on 2 cores, 0 for no limit. More than that is told, but is no failure: machines differ.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

MOST_NAMED = 10
MOST_CHARACTERS = 2400  # of why, for all failed tests of a step together
LEAST_CHARACTERS = 300  # for each


def why_failed(case: ElementTree.Element) -> str | None:
    """Why, on one line; nothing where the test did not fail. CTest, which gives no reason, has the test's output: of it
    what begins where GoogleTest or a sanitizer tells of a failure, else its end."""
    for kind in ("failure", "error"):
        found = case.find(kind)
        if found is not None:
            said = found.get("message") or found.text
            return " ".join((said or reason_in(case.findtext("system-out") or "")).split())
    return None


def reason_in(output: str) -> str:
    begin = re.search(r"^.*(: Failure$|Sanitizer: |: runtime error: )", output, re.MULTILINE)
    return output[begin.start() :] if begin else output[-LEAST_CHARACTERS:]


def ends(text: str, most: int) -> str:
    """A text's first and last words: what failed, and what was seen last."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"


def counted(file: Path) -> tuple[int, int, int, list[str]]:
    """Passed, failed and skipped tests, and a line for each failed one; none where the step did not come to its
    tests."""
    if not file.is_file():
        return 0, 0, 0, []
    cases = list(ElementTree.parse(file).getroot().iter("testcase"))
    failed = [
        f"{case.get('classname', '')} {case.get('name', '')}: {why}"
        for case in cases
        if (why := why_failed(case)) is not None
    ]
    skipped = sum(case.find("skipped") is not None for case in cases)
    return len(cases) - len(failed) - skipped, len(failed), skipped, failed


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
        passed, failed, skipped, failures = counted(folder / f"{number}.xml")
        if code != "0" and failed == 0:
            failed = 1
        total = [total[0] + passed, total[1] + failed, total[2] + skipped]
        state = "FAILED" if failed else "ok    "
        print(f"{state} {minutes(int(taken))}  {name}: {passed} passed, {failed} failed")
        named = failures[:MOST_NAMED]
        for failure in named:
            print(f"         {ends(failure, max(LEAST_CHARACTERS, MOST_CHARACTERS // len(named)))}")
        if len(failures) > MOST_NAMED:
            print(f"         and {len(failures) - MOST_NAMED} more")
    print(whole(seconds, limit))
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
