# SPDX-License-Identifier: BSD-3-Clause
"""`cmake --install`: the command runs from there, and the documents' links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from urakata import paths


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        build = paths.prefix()
    except paths.NotFoundError as reason:
        pytest.skip(str(reason))
    cmake = shutil.which("cmake") or pytest.skip("no cmake")
    if not (build / "cmake_install.cmake").is_file():
        pytest.skip(f"{build} is no build folder")
    folder = tmp_path_factory.mktemp("prefix")
    done = subprocess.run([cmake, "--install", str(build), "--prefix", str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_links_between_documents_hold(prefix: Path) -> None:
    folder = prefix / "share" / "doc" / "urakata"
    links = [
        (document, link)
        for document in folder.rglob("*.md")
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text())
    ]
    assert len(links) > 20
    assert [f"{document.name}: {link}" for document, link in links if not (document.parent / link).exists()] == []


def test_the_command_finds_its_programs(prefix: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("URA", "PYTHON"))}
    asked = subprocess.run(
        [str(prefix / "bin" / "urakata"), "check", "--options", "--json", "--engine", "poll"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment | {"URA_PYTHON": sys.executable},
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    assert next(one["value"] for one in json.loads(asked.stdout) if one["name"] == "ENGINE") == "poll"


@pytest.mark.parametrize(
    ("words", "wanted"),
    (("urakata re", {"report"}), ("urakata run --eng", {"--engine"}), ("urakata bench k", {"kernel"})),
)
def test_bash_completes_commands_and_options(prefix: Path, words: str, wanted: set[str]) -> None:
    bash = shutil.which("bash") or pytest.skip("no bash")
    script = (
        f"PATH={prefix}/bin:$PATH; . {prefix}/share/bash-completion/completions/urakata\n"
        f"COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
        '"$(complete -p urakata | sed "s/.*-F \\([^ ]*\\).*/\\1/")" urakata; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("URA", "PYTHON"))}
    asked = subprocess.run(
        [bash, "-c", script],
        capture_output=True,
        text=True,
        env=environment | {"URA_PYTHON": sys.executable},
        check=False,
    )
    assert set(asked.stdout.split()) == wanted, asked.stdout + asked.stderr


def test_every_command_has_a_page(prefix: Path) -> None:
    """With what stands below the options of its parts; the first line says what it is."""
    pages = {path.stem: path.read_text() for path in (prefix / "share" / "man" / "man1").glob("*.1")}
    if not pages:
        pytest.skip("the build found no Python for man pages")
    for name in ("", "-bench", "-check", "-exec", "-hosts", "-report", "-run", "-schedule"):
        assert f"urakata{name}" in pages
    assert "\nurakata\\-schedule \\- Shows, proves and draws" in pages["urakata-schedule"]
    assert "urakata hosts check \\-\\-json\n" in pages["urakata-hosts"] and "(default: 1gbit)" in pages["urakata-hosts"]
    assert "\nExit code: 0 all was measured; 1" in pages["urakata-bench"]
    assert "\n.SH FOR EXPERTS\n" in pages["urakata-exec"]


def test_what_only_measurements_ask_is_not_installed(prefix: Path) -> None:
    assert list(prefix.rglob("urakata.h")) and not list(prefix.rglob("measuring.h"))
