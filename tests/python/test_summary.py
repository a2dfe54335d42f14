"""What ./dev test and ./dev ci say at the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SUMMARY = Path(__file__).resolve().parents[1] / "summary.py"


def summary(folder: Path, steps: str) -> tuple[int, list[str]]:
    (folder / "steps").write_text(steps)
    said = subprocess.run([sys.executable, str(SUMMARY), str(folder)], capture_output=True, text=True, check=False)
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
