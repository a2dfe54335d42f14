# SPDX-License-Identifier: BSD-3-Clause
"""./dev says what each of its commands does, and installs the hook that refuses subjects of commits."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from urakata import paths


@pytest.fixture
def tree() -> Path:
    return paths.source_tree() or pytest.skip("this is no source tree")


def done(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def test_every_command_has_help_with_an_example(tree: Path) -> None:
    """By its --help, which does nothing else. All that the last lines of ./dev know are in ./dev help."""
    shown = re.findall(r"^  ([a-z]+)", done("./dev", "help", folder=tree).stdout, re.MULTILINE)
    known = re.findall(
        r"^  ([a-z]+)(?: \| [^)]*)?\) .*;;$", (tree / "dev").read_text().rpartition("case ")[2], re.MULTILINE
    )
    assert len(shown) > 10 and sorted(shown) == sorted(known)
    for command in shown:
        said = done("./dev", command, "--help", folder=tree)
        assert said.returncode == 0 and said.stdout.startswith(f"  {command} "), said
        assert f"./dev {command}" in said.stdout.partition("Examples:")[2], said


@pytest.fixture
def clone(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With nothing but ./dev and the hook."""
    if not shutil.which("git"):
        pytest.skip("no git")
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "tester")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "tester@example.org")
    shutil.copy(tree / "dev", tmp_path)
    shutil.copytree(tree / ".githooks", tmp_path / ".githooks")
    assert done("git", "init", "-q", folder=tmp_path).returncode == 0
    return tmp_path


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("report: name the rank", ""),
        ("docs, check: say why", ""),
        ("fixup! report: " + "x" * 72, ""),
        ("shim: " + "ä" * 66, ""),
        ("shim: " + "x" * 67, "has 73 characters"),
        ("Name the rank", "no area"),
        ("report:", "no area"),
    ],
)
def test_the_hook_refuses_subjects(clone: Path, subject: str, reason: str) -> None:
    assert done("./dev", "hooks", folder=clone).returncode == 0
    made = done("git", "commit", "-q", "--allow-empty", "-m", subject, folder=clone)
    assert (made.returncode == 0) == (reason == "") and reason in made.stderr, made


def test_a_hook_of_the_users_own_stays(clone: Path) -> None:
    own = clone / ".git" / "hooks" / "commit-msg"
    own.parent.mkdir(exist_ok=True)
    own.write_text("#!/bin/sh\n")
    refused = done("./dev", "hooks", folder=clone)
    assert refused.returncode == 1 and "is there already" in refused.stderr and own.read_text() == "#!/bin/sh\n"
