# SPDX-License-Identifier: BSD-3-Clause
"""What ./dev test and ./dev ci say at the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SUMMARY = Path(__file__).resolve().parents[1] / "summary.py"
RERUN = SUMMARY.with_name("rerun.py")


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


def test_what_was_skipped_is_told_by_reason(tmp_path: Path) -> None:
    """pytest's reason, GoogleTest's in the output that CTest keeps, and the long ones in one line."""
    reasons = ["no gdb", "takes minutes: URAKATA_TEST_FULL=1", "no gdb", "300 processes: URAKATA_TEST_FULL=1"]
    cases = "".join(f'<testcase name="a"><skipped message="{reason}"/></testcase>' for reason in reasons)
    printed = "<system-out>a_test.cpp:7: Skipped&#10;no C compiler&#10;&#10;</system-out>"
    cases += f'<testcase name="b"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>{printed}</testcase>'
    (tmp_path / "1.xml").write_text(f"<testsuite>{cases}</testsuite>")
    _, lines = summary(tmp_path, "1\tTests\t0\t5\n")
    assert lines[-4:] == [
        "skipped    2: long ones, which ./dev test --full runs",
        "skipped    2: no gdb",
        "skipped    1: no C compiler",
        "0 passed, 0 failed, 5 skipped",
    ]


def run_twice_more(folder: Path, *tests: str) -> tuple[int, str]:
    """Runs pytest on this source, then failed tests again; the exit code and words of the summary."""
    file = folder / "test_drawn.py"
    file.write_text("import pathlib, pytest\nruns = pathlib.Path(__file__).with_name('runs')\n" + "\n".join(tests))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "junit_family=xunit1"]
    first = subprocess.run([*command, "--junitxml=1.xml", file.name], cwd=folder, capture_output=True, check=False)
    (folder / "1.again").write_text("".join(f"{word}\0" for word in ["pytest", *command]))
    subprocess.run([sys.executable, str(RERUN), "."], cwd=folder, capture_output=True, check=True)
    code, lines = summary(folder, f"1\tTests\t{first.returncode}\t5\n")
    return code, "\n".join(lines)


ONCE = """
@pytest.mark.parametrize("case", ["a[0]"])
def test_once(case):
    with runs.open("a") as file: print("run", file=file)
    count = runs.read_text().count("run")
    print(f"this is run {count}")
    assert count != 1, "the first run fails"
"""


def test_a_test_that_fails_once_is_flaky_and_named_with_both_outputs(tmp_path: Path) -> None:
    code, said = run_twice_more(tmp_path, ONCE, "def test_right(): pass")
    assert (code, said.splitlines()[-1]) == (0, "2 passed, 0 failed, 0 skipped"), said
    assert "flaky: test_drawn test_once[a[0]]" in said
    assert "the first run fails" in said and "1 passed" in said
    assert (tmp_path / "runs").read_text().count("run") == 3


def test_a_test_that_fails_again_has_failed(tmp_path: Path) -> None:
    """In the first, third and any later run, beside a test that is flaky."""
    often = ONCE.replace("test_once", "test_often").replace("count != 1", "count == 2").replace("runs", "often")
    code, said = run_twice_more(tmp_path, "often = runs.with_name('often')", ONCE, often)
    assert (code, said.splitlines()[-1]) == (1, "1 passed, 1 failed, 0 skipped"), said
    assert (tmp_path / "often").read_text().count("run") == 3


def test_of_many_failed_tests_none_is_run_again(tmp_path: Path) -> None:
    code, said = run_twice_more(tmp_path, ONCE.replace('["a[0]"]', "range(9)").replace("count != 1", "False"))
    assert (code, said.splitlines()[-1]) == (1, "0 passed, 9 failed, 0 skipped"), said
    assert (tmp_path / "runs").read_text().count("run") == 9


def test_a_failed_test_of_ctest_is_run_again_by_its_whole_name(tmp_path: Path) -> None:
    """p2p.Pairs.One, and not p2p.Pairs.OneMore."""
    (tmp_path / "1.xml").write_text(
        '<testsuite><testcase name="p.One/2" classname="p.One/2"><failure/></testcase></testsuite>'
    )
    (tmp_path / "1.again").write_text("ctest\0echo\0-R\0")
    subprocess.run([sys.executable, str(RERUN), str(tmp_path)], check=True)
    code, lines = summary(tmp_path, "1\tTests\t8\t5\n")
    assert (code, lines[-1]) == (0, "1 passed, 0 failed, 0 skipped")
    assert "-R ^p\\.One/2$" in lines
