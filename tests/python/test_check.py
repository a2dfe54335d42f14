"""What urakata check says of the machine."""

from __future__ import annotations

import ctypes.util

import pytest

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
