# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Debian, unmodified, give in a space what they give without: LAMMPS and the HPC Challenge."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from jobs import Mpi, named, run_job
from spaces import EXEC, nothing_stays, space_job

__all__ = ["nothing_stays"]  # around every test here

# A Lennard-Jones melt, as in LAMMPS's own bench/in.lj, of 864 atoms.
MELT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 50
run 100
"""
# The lines of HPCC's input that make it small: matrices of 200 in blocks of 40.
SMALL = {6: "200", 8: "40", 34: "200", 36: "40"}


def program(name: str, package: str) -> tuple[Mpi, str]:
    """The program, and the MPI library of the distribution that it is linked with."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed here (Debian's package {package})")
    needs = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    return named("system-openmpi" if "libmpi.so.40" in needs else "system-mpich"), path


def test_lammps(tmp_path: Path) -> None:
    """The thermodynamics after 100 steps are the same digits."""
    mpi, lmp = program("lmp", "lammps")
    (tmp_path / "in.melt").write_text(MELT)
    command = [lmp, "-in", "in.melt", "-log", "none"]
    outcomes = [
        run_job(mpi, 4, command, None, 120, None, tmp_path),
        space_job(mpi, 4, command, seconds=120, directory=tmp_path),
    ]
    steps = [re.findall(r"^ +\d+ +\S+ +\S+ +0 +\S+ +\S+ *$", one.output, re.MULTILINE) for one in outcomes]
    assert [one.code for one in outcomes] == [0, 0], outcomes[1].output[-3000:]
    assert len(steps[0]) == 3 and steps[0] == steps[1]
    assert "ordinary process" not in outcomes[1].output


def hpcc_input() -> str:
    """Debian's example, made small."""
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    if not example.is_file():
        pytest.skip("HPCC's example input is not installed here")
    lines = example.read_text().splitlines()
    for number, value in SMALL.items():
        lines[number - 1] = value + "  " + lines[number - 1].partition(" ")[2].lstrip("0123456789 ")
    return "\n".join(lines) + "\n"


def test_hpcc(tmp_path: Path) -> None:
    """Every part of the HPC Challenge finds its own result right."""
    mpi, hpcc = program("hpcc", "hpcc")
    (tmp_path / "hpccinf.txt").write_text(hpcc_input())
    outcome = space_job(mpi, 4, [hpcc], seconds=240, directory=tmp_path)
    assert outcome.code == 0, outcome.output[-3000:]
    assert "ordinary process" not in outcome.output
    found = (tmp_path / "hpccoutf.txt").read_text()
    assert "Success=1" in found and "End of HPC Challenge tests" in found
    assert "FAILED" not in found and "..... PASSED" in found
    assert not re.search(r"Found [1-9]\d* errors|Node\(s\) with error [1-9]", found)


def test_a_program_of_the_system_that_is_not_position_independent_runs_outside(tmp_path: Path) -> None:
    """Debian's python3: it says so in one line, and runs. Another line says that it has not come to MPI."""
    python = Path("/usr/bin/python3")
    if not python.is_file() or python.resolve().read_bytes()[16] != 2:  # ET_EXEC
        pytest.skip("/usr/bin/python3 is position-independent here, or missing")
    outcome = subprocess.run(
        [EXEC, "--space", "--", str(python), "-c", "print(6 * 7)"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
    )
    assert (outcome.returncode, outcome.stdout) == (0, "42\n")
    first, second = outcome.stderr.splitlines()
    assert "not position-independent" in first and "without loading an MPI library" in second
