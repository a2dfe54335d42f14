# SPDX-License-Identifier: BSD-3-Clause
"""Steering of test hosts' packets, on hosts that are folders: CPU 0 is the mask 1, and all is as it was afterwards."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from urakata.hosts import Hosts, HostsError, steering


class Folders:
    """Two hosts; the second has two queues, and CPU 2 in the second one's mask."""

    count = 2
    names = ("host0", "host1")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for host, masks in enumerate((["0"], ["0", "4"])):
            for number, mask in enumerate(masks):
                queue = self.queues(host) / f"rx-{number}"
                queue.mkdir(parents=True)
                (queue / "rps_cpus").write_text(f"{mask}\n")
                (queue / "rps_flow_cnt").write_text("0\n")

    def queues(self, host: int) -> Path:
        return self.folder / str(host) / "eth0" / "queues"

    def execute(self, host: int, command: list[str], timeout: float) -> subprocess.CompletedProcess[str]:
        here = [word.replace("/sys/class/net", str(self.folder / str(host))) for word in command]
        return subprocess.run(here, capture_output=True, text=True, check=False, timeout=timeout)

    def now(self, name: str) -> list[str]:
        """Of all queues of all hosts."""
        return [file.read_text().strip() for host in (0, 1) for file in sorted(self.queues(host).glob(f"rx-*/{name}"))]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def as_hosts(folders: Folders) -> Hosts:
    return cast(Hosts, cast(Any, folders))


def test_rps_hands_each_hosts_packets_to_its_cores(folders: Folders) -> None:
    with steering.steered(as_hosts(folders), "rps", [[0], [0, 33]]):
        assert folders.now("rps_cpus") == ["1", "2,00000001", "2,00000001"]
        assert folders.now("rps_flow_cnt") == ["0", "0", "0"]
    assert folders.now("rps_cpus") == ["0", "0", "4"]


@pytest.mark.parametrize(("before", "within"), [("0\n", "32768"), ("1024\n", "1024\n")])
def test_rfs_is_for_hosts_and_machine(folders: Folders, tmp_path: Path, before: str, within: str) -> None:
    """What the machine remembers already is left as it is."""
    machine = tmp_path / "entries"
    machine.write_text(before)
    with steering.steered(as_hosts(folders), "rfs", [[], []], machine):
        assert folders.now("rps_flow_cnt") == ["4096", "4096", "4096"]
        assert folders.now("rps_cpus") == ["0", "0", "4"]
        assert machine.read_text() == within
    assert folders.now("rps_flow_cnt") == ["0", "0", "0"]
    assert machine.read_text().strip() == before.strip()


def test_none_touches_nothing(folders: Folders) -> None:
    with steering.steered(as_hosts(folders), "none", []):
        assert folders.now("rps_cpus") == ["0", "0", "4"]


def test_all_is_as_it_was_also_after_a_failure(folders: Folders) -> None:
    with pytest.raises(KeyError), steering.steered(as_hosts(folders), "rps", [[1], [1]]):
        raise KeyError
    assert folders.now("rps_cpus") == ["0", "0", "4"]


def test_what_the_kernel_refuses_is_said(folders: Folders) -> None:
    """Host 1's first file cannot be written, not even by root; host 0 is as it was all the same."""
    file = folders.queues(1) / "rx-0" / "rps_cpus"
    file.unlink()
    file.symlink_to("/proc/sys/kernel/ostype")
    with (
        pytest.raises(HostsError, match=r"host1: packets cannot be steered: .*rps_cpus"),
        steering.steered(as_hosts(folders), "rps", [[1], [1]]),
    ):
        pytest.fail("it was not refused")
    assert folders.now("rps_cpus") == ["0", "Linux", "4"]


def test_a_kernel_without_its_files_is_told(folders: Folders) -> None:
    (folders.queues(0) / "rx-0" / "rps_flow_cnt").unlink()
    with (
        pytest.raises(HostsError, match=r"host0: .*rps_flow_cnt"),
        steering.steered(as_hosts(folders), "rfs", [[], []]),
    ):
        pytest.fail("it was not refused")


def test_obstacles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there, gone = tmp_path / "there", tmp_path / "gone"
    there.touch()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert [steering.obstacle(way, there, there) for way in ("none", "rps", "rfs")] == ["", "", ""]
    assert steering.obstacle("rps", gone, there) == ""
    assert "for the whole machine" in steering.obstacle("rfs", gone, there)
    assert "no RPS" in steering.obstacle("rps", there, gone)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert steering.obstacle("none", there, there) == ""
    assert "only root" in steering.obstacle("rps", there, there)
