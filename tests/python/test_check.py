"""What urakata check says of the machine."""

from __future__ import annotations

import ctypes.util
from pathlib import Path
from typing import Any

import pytest

from urakata import paths
from urakata.commands import check


@pytest.mark.parametrize(
    ("there", "usable", "said"),
    [
        ({}, False, "CUDA not found, HIP not found, Level Zero not found: all buffers are taken as the processor's"),
        ({"cuda": "libcuda.so.1"}, True, "CUDA libcuda.so.1, HIP not found, Level Zero not found: where a program"),
        ({"amdhip64": "libamdhip64.so.6", "ze_loader": "libze_loader.so.1"}, True, "HIP libamdhip64.so.6, Level Zero"),
    ],
)
def test_drivers_of_devices(monkeypatch: pytest.MonkeyPatch, there: dict[str, str], usable: bool, said: str) -> None:
    monkeypatch.setattr(ctypes.util, "find_library", there.get)
    finding = check._devices()
    assert finding.usable == usable
    assert said in finding.why


def _rank(thread: bool, spare: bool, why: str) -> dict[str, Any]:
    engines = [
        {"name": "host", "usable": True, "why": "h"},
        {"name": "poll", "usable": True, "why": "p"},
        {"name": "thread", "usable": thread, "why": why},
    ]
    return {"host": {"abi": "openmpi"}, "engines": engines, "placement": {"auto": {"spare": spare}}}


@pytest.mark.parametrize(
    ("ranks", "usable", "why"),
    [
        ([_rank(True, True, "spare"), _rank(True, True, "spare")], True, "spare"),
        ([_rank(True, True, "spare"), _rank(True, False, "shared")], True, "shared"),
        ([_rank(True, False, "shared"), _rank(False, True, "one thread only")], False, "one thread only"),
    ],
)
def test_an_engine_is_what_it_is_at_the_rank_that_can_do_least(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ranks: list[dict[str, Any]], usable: bool, why: str
) -> None:
    monkeypatch.setattr(paths, "preload_libraries", lambda: tmp_path)
    host, poll, thread = check._engines(ranks)
    assert host == check.Finding("host", True, "h")
    assert not poll.usable and "liburakata-openmpi.so is not built" in poll.why
    assert thread.why == poll.why
    (tmp_path / "liburakata-openmpi.so").touch()
    assert check._engines(ranks) == [host, check.Finding("poll", True, "p"), check.Finding("thread", usable, why)]
    ranks[0]["host"]["error"] = "gone"
    assert [finding.why for finding in check._engines(ranks)] == 3 * ["the host cannot be asked: gone"]
