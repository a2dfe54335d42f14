# SPDX-License-Identifier: BSD-3-Clause
"""Buffers in memory that is not the processor's. The driver and its device are false (false_driver.c): a stray access
of the processor's crashes, a copy outside its stream or context goes wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from false_drivers import LIBRARIES, driver
from jobs import FULL, compiled, named, run_job, source_of
from spaces import nothing_stays, space_job

__all__ = ["nothing_stays"]  # around every test here

MPIS = ("openmpi", "mpich")


def numbers(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("topology")]


@pytest.mark.parametrize("when", ("early", "late"))
@pytest.mark.parametrize("face", LIBRARIES)
@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", MPIS)
def test_collectives_on_device_buffers(folder: Path, name: str, engine: str, face: str, when: str) -> None:
    mpi = named(name)
    program = str(compiled(mpi, "device_collectives", folder))
    for seed in ("1", "2", "3", "4") if FULL else ("1" if when == "early" else "2",):
        done = run_job(mpi, 3, [program, driver(folder, face), when, seed, "plain"], engine=engine)
        assert done.code == 0 and "right" in done.output, done.output[-4000:]


@pytest.mark.parametrize("what", ("persistent", "threads", "mute", "broken"))
@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", MPIS)
def test_other_forms_on_device_buffers(folder: Path, name: str, engine: str, what: str) -> None:
    mpi = named(name)
    program = str(compiled(mpi, "device_collectives", folder))
    done = run_job(mpi, 2, [program, driver(folder, "CUDA"), "early", "3", what], engine=engine)
    assert done.code == 0 and "right" in done.output, done.output[-4000:]
    if what == "mute":
        assert "CUDA cannot tell what kind of memory a buffer is" in done.output


@pytest.mark.parametrize("what", (("messages",), ("collectives", "plain"), ("collectives", "threads")))
@pytest.mark.parametrize("face", LIBRARIES)
@pytest.mark.parametrize("name", MPIS)
def test_device_buffers_in_a_space(folder: Path, name: str, face: str, what: tuple[str, ...]) -> None:
    mpi = named(name)
    program = str(compiled(mpi, f"device_{what[0]}", folder))
    for seed in ("4", "5", "6") if FULL else ("4",):
        done = space_job(mpi, 3, [program, driver(folder, face), "late", seed, *what[1:]])
        assert done.code == 0 and "right" in done.output, done.output[-4000:]


@pytest.mark.parametrize("face", LIBRARIES)
@pytest.mark.parametrize("name", MPIS)
def test_neighbours_of_a_device_that_breaks(folder: Path, name: str, face: str) -> None:
    """By messages of a space: who cannot read a buffer has an error, its neighbours too, and all go on from there."""
    mpi = named(name)
    program = [str(compiled(mpi, "device_neighbours", folder)), driver(folder, face), "late", "7"]
    done = space_job(mpi, 5, program)
    assert done.code == 0 and "right" in done.output, done.output[-4000:]


@pytest.mark.parametrize("more", ((), ("DESERTED",)))
@pytest.mark.parametrize("face", LIBRARIES)
def test_a_driver_that_is_only_loaded_keeps_no_exchange_plan_away(
    folder: Path, tmp_path: Path, face: str, more: tuple[str, ...]
) -> None:
    """As by hwloc and UCX, which load what is installed. Without a device it is left alone."""
    mpi = named("openmpi")
    program = [str(compiled(mpi, "random_neighbours", folder)), "20", "3"]
    nodes = ("dri/renderD128", "accel/accel0", "kfd", "dxg", "nvidiactl", "nvmap", "nvgpu")
    if more and any((Path("/dev") / node).exists() for node in nodes):
        pytest.skip("there is a device here")
    of_library = run_job(mpi, 3, program)
    variables = {"LD_PRELOAD": driver(folder, face, *more), "URAKATA_REPORT": str(tmp_path)}
    done = space_job(mpi, 3, program, environment=variables)
    assert done.code == 0, done.output[-4000:]
    assert numbers(done.output) == numbers(of_library.output)
    said = "".join(file.read_text() for file in tmp_path.glob("*.json"))
    assert '"channels"' in said
    assert ("is in use in a space" in done.output) == (not more), done.output[-4000:]


@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", MPIS)
def test_a_real_device(folder: Path, name: str, engine: str) -> None:
    """The same program with the driver that is installed, where there is one with a device."""
    source, library, probe = source_of("real_cuda.c"), folder / "real_cuda.so", folder / "real_cuda"
    flags = ["-O1", "-g", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-shared", str(source), "-o", str(library), "-ldl"], check=True)
    subprocess.run(["cc", *flags, "-DPROGRAM", str(source), "-o", str(probe), "-ldl"], check=True)
    asked = subprocess.run([str(probe)], capture_output=True, text=True, timeout=60)
    if asked.returncode == 77:
        pytest.skip(asked.stdout.strip())
    assert asked.returncode == 0, asked.stderr
    mpi = named(name)
    program = str(compiled(mpi, "device_collectives", folder))
    for when, seed in (("early", "1"), ("late", "2")):
        done = run_job(mpi, 3, [program, str(library), when, seed, "plain"], engine=engine, seconds=120)
        assert done.code == 0 and "right" in done.output, done.output[-4000:]
