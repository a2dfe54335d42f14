# SPDX-License-Identifier: BSD-3-Clause
"""The package of ./dev deb in a fresh root of this machine's own Debian: it installs, runs, leaves nothing after a kill
or when it is removed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from debian_root import DebianRoot, debian_root
from jobs import FULL, source_of

from urakata import paths

pytestmark = pytest.mark.skipif(not FULL, reason="makes a root of Debian: URAKATA_TEST_FULL=1")


def _suite() -> str:
    words = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    if words.get("ID") != "debian":
        pytest.skip("this is no Debian")
    return words["VERSION_CODENAME"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebianRoot]:
    """With the package, and with what its libraries are for: Open MPI and a compiler of the distribution."""
    tree = paths.source_tree()
    if tree is None:
        pytest.skip("this is no source tree")
    made = subprocess.run([tree / "dev", "deb"], capture_output=True, text=True, timeout=1800)
    assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
    package = Path(made.stdout.split()[-1])
    for made_root in debian_root(
        tmp_path_factory.mktemp("debian"), ["gcc", "libc6-dev", "libopenmpi-dev", "environment-modules"], _suite()
    ):
        (made_root.work / package.name).write_bytes(package.read_bytes())
        _run(made_root, "apt-get", "install", "-qq", "--no-install-recommends", f"./{package.name}", seconds=900)
        yield made_root


def _run(root: DebianRoot, *command: str, seconds: float = 300, code: int = 0) -> str:
    # Nothing of this tree, whose Python packages the root would otherwise see.
    outcome = root.run([*command], seconds, {"PYTHONPATH": "", "DEBIAN_FRONTEND": "noninteractive"})
    assert outcome.code == code, f"{command}: {outcome.code}\n{outcome.output[-4000:]}"
    return outcome.output


def _compiled(root: DebianRoot, name: str) -> str:
    (root.work / f"{name}.c").write_bytes(source_of(f"{name}.c").read_bytes())
    _run(root, "mpicc", "-std=c11", "-D_DEFAULT_SOURCE", "-g", "-O1", f"{name}.c", "-o", name)
    return f"./{name}"


def test_it_runs_reports_and_compares(root: DebianRoot) -> None:
    program = _compiled(root, "late_rank")
    said = _run(root, "urakata", "run", "-n", "2", "--report", "report", "--", program)
    assert "Iallreduce" in said
    assert "whole program: " in said
    spaced = _run(root, "urakata", "run", "-n", "2", "--space", "--set", "VERBOSE=3", "--", program)
    assert "2 of 2 ranks share this rank's space" in spaced
    compared = _run(root, "urakata", "compare", "-n", "2", "--seconds", "15", "--", program)
    assert "MPI library alone" in compared
    assert "Open MPI" in _run(root, "urakata", "check")
    assert _run(root, "mpirun", "--oversubscribe", "-n", "2", "urakata-exec", "--", program)


def test_the_module_leads_to_it(root: DebianRoot) -> None:
    """As of an installation in a folder of its own; for one in /usr nothing is to be set."""
    script = (
        "mkdir -p /opt/it/share && cp -r /usr/share/modulefiles /opt/it/share/\n"
        ". /usr/share/modules/init/bash && module use /opt/it/share/modulefiles && module load urakata && env"
    )
    said = _run(root, "bash", "-c", script).splitlines()
    assert any(line.startswith("PATH=/opt/it/bin:") for line in said), said
    assert any(line.startswith("CPATH=/opt/it/include") for line in said), said


def test_a_kill_leaves_nothing(root: DebianRoot) -> None:
    """The command's process numbers are the root's own, so all that lives at the end is to be seen there."""
    program = _compiled(root, "allreduce_until_error")
    ours = "ls -l /proc/*/exe 2>/dev/null | grep 'urakata\\|endless'"
    script = (
        f"urakata run -n 2 --space -- {program} . & job=$!\n"
        "for i in $(seq 600); do [ -e works.0 ] && [ -e works.1 ] && break; sleep 0.1; done\n"
        f"kill -9 $job; for i in $(seq 200); do {ours} >/dev/null || break; sleep 0.1; done\n"
        f"! {ours}"
    )
    _run(root, "sh", "-c", script)


def test_nothing_stays_after_removing_it(root: DebianRoot) -> None:
    _run(root, "apt-get", "purge", "-qq", "urakata")
    left = [str(path) for path in (root.folder / "usr").rglob("*urakata*")]
    assert left == []
