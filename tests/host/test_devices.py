"""Buffers in memory that is not the processor's. The driver and its device are false (false_driver.c): a stray access
of the processor's crashes, a copy outside its stream or context goes wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from jobs import PROGRAMS, compiled, named, run_job
from spaces import nothing_stays, space_job

__all__ = ["nothing_stays"]  # around every test here

HOSTS = ("openmpi", "mpich")
LIBRARIES = {"CUDA": "libcuda.so.1", "HIP": "libamdhip64.so.6", "LEVEL_ZERO": "libze_loader.so.1"}


def driver(folder: Path, face: str) -> str:
    target = folder / LIBRARIES[face]
    if not target.exists():
        flags = ["-shared", "-fPIC", "-O1", "-g", "-fvisibility=hidden", "-pthread", f"-DFACE={face}"]
        subprocess.run(["cc", *flags, str(PROGRAMS / "false_driver.c"), "-o", str(target)], check=True)
    return str(target)


@pytest.mark.parametrize("when", ("early", "late"))
@pytest.mark.parametrize("face", LIBRARIES)
@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", HOSTS)
def test_collectives_on_device_buffers(folder: Path, name: str, engine: str, face: str, when: str) -> None:
    host = named(name)
    program = str(compiled(host, "device_collectives", folder))
    for seed in ("1", "2"):
        done = run_job(host, 3, [program, driver(folder, face), when, seed, "plain"], engine=engine)
        assert done.code == 0 and "right" in done.output, done.output[-4000:]


@pytest.mark.parametrize("what", ("persistent", "threads", "mute", "broken"))
@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", HOSTS)
def test_other_forms_on_device_buffers(folder: Path, name: str, engine: str, what: str) -> None:
    host = named(name)
    program = str(compiled(host, "device_collectives", folder))
    done = run_job(host, 2, [program, driver(folder, "CUDA"), "early", "3", what], engine=engine)
    assert done.code == 0 and "right" in done.output, done.output[-4000:]
    if what == "mute":
        assert "CUDA cannot tell what kind of memory a buffer is" in done.output


@pytest.mark.parametrize("what", (("messages",), ("collectives", "plain"), ("collectives", "threads")))
@pytest.mark.parametrize("face", LIBRARIES)
@pytest.mark.parametrize("name", HOSTS)
def test_device_buffers_in_a_space(folder: Path, name: str, face: str, what: tuple[str, ...]) -> None:
    host = named(name)
    program = str(compiled(host, f"device_{what[0]}", folder))
    for seed in ("4", "5"):
        done = space_job(host, 3, [program, driver(folder, face), "late", seed, *what[1:]])
        assert done.code == 0 and "right" in done.output, done.output[-4000:]
