"""The protocol of a fixed pair, by the model checker spin: every interleaving of some messages of all kinds."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).with_name("pair.pml")

pytestmark = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("cc") is None,
    reason="needs the model checker spin (Debian's package spin) and a C compiler",
)


def check(folder: Path, sends: int, receives: int, empty_inbox: int = 1, older_first: int = 1) -> tuple[int, str]:
    """The errors that spin finds, and what it says."""
    settings = folder / "pair.pml"
    settings.write_text(
        f"#define SENDS {sends}\n"
        f"#define RECEIVES {receives}\n"
        f"#define EMPTY_INBOX {empty_inbox}\n"
        f"#define OLDER_FIRST {older_first}\n" + MODEL.read_text()
    )
    subprocess.run(["spin", "-a", settings.name], cwd=folder, check=True, capture_output=True, text=True)
    subprocess.run(["cc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"], cwd=folder, check=True)
    said = subprocess.run(
        ["./pan", "-m100000"], cwd=folder, check=True, capture_output=True, text=True, timeout=200
    ).stdout
    print(said)
    assert "max search depth too small" not in said
    errors = re.search(r"errors: (\d+)", said)
    assert errors is not None
    return int(errors[1]), said


@pytest.mark.parametrize(("sends", "receives"), [(4, 4), (5, 3)])
def test_messages_match_in_order(tmp_path: Path, sends: int, receives: int) -> None:
    errors, _ = check(tmp_path, sends, receives)
    assert errors == 0


@pytest.mark.parametrize("without", ["empty_inbox", "older_first"])
def test_puts_out_of_their_place_are_caught(tmp_path: Path, without: str) -> None:
    errors, said = check(tmp_path, 5, 4, **{without: 0})
    assert errors == 1
    assert "assertion violated" in said
