# SPDX-License-Identifier: BSD-3-Clause
"""What urakata check says of the machine."""

from __future__ import annotations

import ctypes.util
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from urakata import launcher, paths, site_links
from urakata.cli import build_app
from urakata.commands import check
from urakata.interrupts.balance import Balance
from urakata.interrupts.interface import Interface, Queue


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
        {"name": "native", "usable": True, "why": "h"},
        {"name": "poll", "usable": True, "why": "p"},
        {"name": "thread", "usable": thread, "why": why},
    ]
    return {"mpi_library": {"abi": "openmpi"}, "engines": engines, "placement": {"auto": {"spare": spare}}}


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
    assert host == check.Finding("native", True, "h")
    assert not poll.usable and "liburakata-openmpi.so is not built" in poll.why
    assert thread.why == poll.why
    (tmp_path / "liburakata-openmpi.so").touch()
    assert check._engines(ranks) == [host, check.Finding("poll", True, "p"), check.Finding("thread", usable, why)]
    ranks[0]["mpi_library"]["error"] = "gone"
    assert [finding.why for finding in check._engines(ranks)] == 3 * ["the MPI library cannot be asked: gone"]


def test_an_interface_that_does_not_exist_is_named() -> None:
    """As the rank on whose node it is missing says it; where it is there, the rule for messages is shown."""
    ranks = [{"rank": 0, "messages": "by wire"}, {"rank": 1, "messages": "by wire", "no_interface": ""}]
    assert check._messages(ranks) == check.Finding("messages between nodes", True, "by wire")
    ranks[1]["no_interface"] = "there is no network interface eth9: choose eth0"
    found = check._messages(ranks)
    assert not found.usable
    assert found.why.startswith("WIRE_INTERFACE: there is no network interface eth9: choose eth0 (rank 1). ")


@pytest.mark.parametrize("as_json", (False, True))
def test_the_networks_interrupts_are_shown(monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    """And what engine kernel lacks, as the rank says it."""
    lacking = "small reductions are engine thread's, by eBPF code nowhere; not at eth9: Operation not permitted"
    seat = {"spare": False, "cpus": "0", "reason": "shared", "refusal": ""}
    rank = {
        "mpi_library": {"error": "gone"},
        "engines": [{"name": "kernel", "usable": True, "why": lacking}],
        "placement": {"auto": seat, "spare": seat},
        **{"rank": 0, "cpus": "0", "cores": 1, "threads": 1, "node_cores": 1, "oversubscribed": False, "messages": "m"},
    }
    nothing = check.Finding("nothing", True, "")
    for name, answer in (
        ("_ask", [rank]),
        ("_engines", [check.Finding(**rank["engines"][0])]),
        *((one, nothing) for one in ("_space", "_devices", "_test_hosts")),
        ("_interrupts", Balance([Interface("eth9", "", [], [Queue("rx-0", [3], 0)])], 0)),
        ("_sites", {"found": "", "links": []}),
    ):
        monkeypatch.setattr(check, name, lambda *_, answer=answer: answer)
    monkeypatch.setattr(launcher, "find_mpi", lambda _: launcher.Mpi(Path("mpirun"), "openmpi", "5"))
    said = CliRunner().invoke(build_app(), ["check", *(["--json"] if as_json else [])], env={"COLUMNS": "300"})
    assert said.exit_code == 0, said.output
    moved = "it is virtual and takes no interrupts; RPS hands them to core 3"
    if as_json:
        document = json.loads(said.output)
        assert document["interrupts"]["interfaces"][0]["packets"].endswith(moved)
        assert document["engines"][0]["why"] == lacking
    else:
        assert moved in said.output and lacking in said.output
        assert "echo MASK > /sys/class/net/eth9/queues/rx-0/rps_cpus" in said.output


LINK: dict[str, Any] = {
    "one": "0", "other": "1", "delay_ms": 8.0, "stream_mbit": 24.0, "pair_mbit": 97.0, "link_mbit": 386.0,
    "inside_mbit": 0, "loss_percent": 0, "source": "measured",
}  # fmt: skip


def _linked(monkeypatch: pytest.MonkeyPatch, found: site_links.Found) -> None:
    host = launcher.Mpi(Path("/mpirun"), "openmpi", "5")
    monkeypatch.setattr(launcher, "find_mpi", lambda _name: host)
    monkeypatch.setattr(launcher, "libraries", lambda _host: [])
    monkeypatch.setattr(site_links, "ask", lambda _run, _libraries, _folder: found)


@pytest.mark.parametrize("words", [["check", "--links"], ["tune", "sites"]])
def test_links_are_measured_and_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """By either name of the command; the earlier one says the new one."""
    table = '\n[[link]]\none = ["a"]\nother = ["b"]\n'
    _linked(monkeypatch, site_links.Found({"found": "2 sites", "links": [LINK]}, table))
    file = tmp_path / "links.toml"
    app: Any = typer.main.get_command(build_app())
    app([*words, "-n", "2", "--file", str(file), "--json"], standalone_mode=False)
    said = capfd.readouterr()
    assert json.loads(said.out) == {"file": str(file), "sites": "2 sites", "links": [LINK]}
    assert file.read_text() == site_links.HEADER + table
    renamed = "urakata: `urakata tune sites` is now `urakata check --links`\n"
    assert said.err == ("" if words[0] == "check" else renamed)


def test_links_need_sites_and_ranks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _linked(monkeypatch, site_links.Found(None, ""))
    asked = ["check", "--links", "--file", str(tmp_path / "links.toml")]
    done = CliRunner().invoke(build_app(), [*asked, "-n", "3"])
    assert (done.exit_code, done.stdout) == (1, "all 3 ranks are at one site: there is no link to measure\n")
    assert CliRunner().invoke(build_app(), asked).exit_code == 2
    assert CliRunner().invoke(build_app(), ["check", "--file", "links.toml"]).exit_code == 2


@pytest.fixture
def options_of_exec(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A urakata-exec that has one option; its value is the arguments that it got."""
    program = tmp_path / "urakata-exec"
    program.write_text('#!/bin/sh\nprintf \'[{"value": "%s"}]\' "$*"\n')
    program.chmod(0o755)
    monkeypatch.setattr(paths, "program", lambda _name: program)


@pytest.mark.usefixtures("options_of_exec")
@pytest.mark.parametrize("words", [["check", "--options"], ["info"]])
def test_options_are_those_of_urakata_exec(capfd: pytest.CaptureFixture[str], words: list[str]) -> None:
    """By either name of the command; the earlier one says the new one."""
    app: Any = typer.main.get_command(build_app())
    app([*words, "--engine", "poll", "--json", "--set=NAP_US=50"], standalone_mode=False)
    said = capfd.readouterr()
    assert json.loads(said.out) == [{"value": "--info --json --engine poll --set=NAP_US=50"}]
    renamed = "urakata: `urakata info` is now `urakata check --options`\n"
    assert said.err == ("" if words[0] == "check" else renamed)


@pytest.mark.usefixtures("options_of_exec")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--engine", "poll"], "No such option"),
        (["poll"], "unexpected extra argument"),
        (["--options", "--mpi", "mpich"], "starts"),
        (["--options", "--links"], "starts"),
    ],
)
def test_check_takes_options_of_urakata_exec_only_to_show_them(words: list[str], told: str) -> None:
    done = CliRunner().invoke(build_app(), ["check", *words])
    assert done.exit_code == 2 and told in done.output
