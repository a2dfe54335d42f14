"""What ./dev test and ./dev ci say at the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SUMMARY = Path(__file__).resolve().parents[1] / "summary.py"


def summary(folder: Path, steps: str, seconds: int = 0, limit: int = 0) -> tuple[int, list[str]]:
    (folder / "steps").write_text(steps)
    command = [sys.executable, str(SUMMARY), str(folder), str(seconds), str(limit)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    return said.returncode, said.stdout.splitlines()


def test_the_tests_of_all_steps_are_counted(tmp_path: Path) -> None:
    """In the order of their numbers: of two at a time the first may end last."""
    (tmp_path / "2.xml").write_text('<testsuite><testcase name="a"/><testcase><skipped/></testcase></testsuite>')
    code, lines = summary(tmp_path, "2\tTests\t0\t5\n1\tLint\t0\t61\n")
    assert (code, lines[-1]) == (0, "1 passed, 0 failed, 1 skipped")
    assert lines[0].split() == ["ok", "1:01", "min", "Lint:", "0", "passed,", "0", "failed"]


def test_a_failed_test_and_a_step_that_came_to_no_test_are_failures(tmp_path: Path) -> None:
    """One test and one error of a fixture; a second step that did not compile."""
    cases = "<testcase/><testcase><failure/></testcase><testcase><error/></testcase>"
    (tmp_path / "1.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    code, lines = summary(tmp_path, "1\tTests\t1\t5\n2\tclang++\t2\t5\n")
    assert (code, lines[-1]) == (1, "1 passed, 3 failed, 0 skipped")


def test_failed_tests_are_named_with_the_first_words_of_why(tmp_path: Path) -> None:
    case = '<testcase classname="host.test_a" name="test_{}[poll]"><failure message="assert 1&#10; == 2">long</failure>'
    cases = "".join(case.format(number) + "</testcase>" for number in range(12))
    (tmp_path / "1.xml").write_text(f"<testsuite>{cases}<testcase/></testsuite>")
    code, lines = summary(tmp_path, "1\tTests\t1\t5\n")
    assert (code, lines[-1]) == (1, "1 passed, 12 failed, 0 skipped")
    assert lines[1].strip() == "host.test_a test_0[poll]: assert 1 == 2"
    assert lines[11].strip() == "and 2 more"


def test_of_a_long_why_both_ends_are_told(tmp_path: Path) -> None:
    why = f"timed out: {'a long command ' * 500}: seed 17"
    case = f'<testcase classname="host.test_a" name="test_b"><failure message="{why}"/></testcase>'
    (tmp_path / "1.xml").write_text(f"<testsuite>{case}</testsuite>")
    _, lines = summary(tmp_path, "1\tTests\t1\t5\n")
    told = lines[1].strip()
    assert told.startswith("host.test_a test_b: timed out: a long command") and told.endswith(
        "a long command : seed 17"
    )
    assert len(told) < 2500


def test_the_time_of_all_stands_beside_the_limit(tmp_path: Path) -> None:
    """Beyond it there is a warning, and no failure."""
    steps = "0\tSetup and building\t0\t300\n1\tTests\t0\t900\n2\tMore\t0\t800\n"
    code, lines = summary(tmp_path, steps, 25 * 60, 25)
    assert (code, lines[-2]) == (0, "        25:00 min  in all; the limit on 2 cores is 25 min")
    code, lines = summary(tmp_path, steps, 25 * 60 + 1, 25)
    assert (code, lines[-2]) == (0, "OVER    25:01 min  in all; the limit on 2 cores is 25 min")
    assert summary(tmp_path, steps, 1500)[1][-2] == "        25:00 min  in all"
