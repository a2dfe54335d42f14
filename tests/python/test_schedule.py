# SPDX-License-Identifier: BSD-3-Clause
"""urakata schedule: shows, proves and draws, of algorithms and of files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from urakata import paths

try:
    paths.program("urakata-schedule")
except paths.NotFoundError as reason:
    pytest.skip(str(reason), allow_module_level=True)

PACKAGES = str(Path(paths.__file__).parents[1])
# Three ranks hand 100 bytes on; buffer 1 is the buffer.
CHAIN = """\
schedule bcast/chain ranks 3 rank 0 buffers 2 {
  node 0 send 100 to rank 1 from buffer 1 at 0 stride 100
}

schedule bcast/chain ranks 3 rank 1 buffers 2 {
  node 0 recv 100 from rank 0 to buffer 1 at 0 stride 100
  node 1 send 100 to rank 2 from buffer 1 at 0 stride 100 after 0
}

schedule bcast/chain ranks 3 rank 2 buffers 2 {
  node 0 recv 100 from rank 1 to buffer 1 at 0 stride 100
}
"""
BUILT = ["--operation", "bcast", "--algorithm", "chain", "--ranks", "3", "--bytes", "100"]


def schedule(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "urakata", "schedule", *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": PACKAGES, "URA_PREFIX": str(paths.prefix())},
    )


def test_show_prints_the_schedule_of_each_rank() -> None:
    assert schedule("show", *BUILT).stdout == CHAIN
    assert schedule("show", *BUILT, "--rank", "2").stdout == CHAIN[CHAIN.rindex("schedule") :]
    assert schedule("show", "-", text=CHAIN).stdout == CHAIN


def test_check_proves_an_algorithm_and_a_file(tmp_path: Path) -> None:
    """Two messages of 100 bytes, one after the other; without --operation nobody knows which bytes are right."""
    proved = schedule("check", *BUILT)
    assert proved.returncode == 0
    assert proved.stdout.startswith("bcast/chain: proved for 3 ranks: 2 messages, 200 bytes, 4 iterations, 2 steps")
    (tmp_path / "chain").write_text(CHAIN)
    for asked, values in ((BUILT, True), ([str(tmp_path / "chain")], False)):
        checked = schedule("check", *asked, "--json")
        found = json.loads(checked.stdout)
        assert checked.returncode == 0 and found == {
            "proved": True, "name": "bcast/chain", "ranks": 3, "messages": 2, "bytes": 200, "iterations": 4,
            "depth": 2, "values_checked": values,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "right", "operation"),
    [
        ("to rank 2", "to rank 0", None),  # nobody receives it
        (" after 0", "", None),  # sends what it may not have received yet
        ("ranks 3", "ranks 3", "gather"),  # right, but no gather
    ],
)
def test_a_check_that_fails_is_1_with_the_reason(wrong: str, right: str, operation: str | None) -> None:
    asked = ["--operation", operation, "--bytes", "100"] if operation else []
    failed = schedule("check", "-", *asked, "--json", text=CHAIN.replace(wrong, right))
    assert failed.returncode == 1, failed.stdout + failed.stderr
    found = json.loads(failed.stdout)
    assert found["proved"] is False and found["why"] and found["why"] in failed.stderr


def test_draw_makes_a_picture_with_every_rank(tmp_path: Path) -> None:
    assert schedule("draw", *BUILT, "-o", str(tmp_path / "chain.svg")).returncode == 0
    root = ElementTree.parse(tmp_path / "chain.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    words = {text for element in root.iter() for text in (element.text or "").split()}
    assert {"0", "1", "2"} <= words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["prove"], "expected show, check or draw, found 'prove'"),
        (["show"], "a file or --operation is needed"),
        (["show", "--operation", "bcost"], "there are barrier, bcast"),
        (["show", "--operation", "bcast", "--algorithm", "ring"], "it has binomial"),
        (["show", "--operation", "bcast", "--root", "4"], "there are 4 ranks"),
        (["draw", "--operation", "bcast", "--json"], "--json is for check"),
        (["show", "no/such/file"], "cannot read no/such/file"),
        (["check", "-"], "standard input"),
    ],
)
def test_what_cannot_be_used_is_2(words: list[str], said: str) -> None:
    done = schedule(*words, text="schedule")
    assert done.returncode == 2 and said in done.stderr


@pytest.mark.parametrize("words", [[], ["--help"], ["show", "--help"]])
def test_help_has_examples_and_exit_codes(words: list[str]) -> None:
    done = schedule(*words)
    assert done.returncode == 0 and "Examples:" in done.stdout and "Exit code:" in done.stdout
