# SPDX-License-Identifier: BSD-3-Clause
"""Which cores take a network's interrupts, on machines of files: eth0's are taken by the cores 0 and 2."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from urakata import paths
from urakata.commands import check
from urakata.interrupts.balance import advice, look, packets, sentences, table
from urakata.interrupts.interface import Interface, Roots, read_interface, remembered_flows

# Core 1 is offline. A name may hold another's: eth01 is not eth0.
INTERRUPTS = """\
           CPU0       CPU2
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 37:          0          0  PCI-MSIX-0000:00:03.0   0-edge      virtio2-config
 38:          0      12068  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0
 39:        100          7  PCI-MSIX-0000:00:03.0   2-edge      virtio2-output.0
 50:          3          0  GICv3  63 Level     eth7
 51:          4          0  GICv3  64 Level     eth70
NMI:          0          0  Non-maskable interrupts
ERR:          0
"""


def put(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    """eth0: virtio, below a PCI device with three interrupts. eth7: on a chip whose /sys does not tell them. veth:
    virtual. old: of a kernel without RPS."""
    made = Roots(tmp_path / "proc", tmp_path / "sys")
    put(made.proc / "interrupts", INTERRUPTS)
    put(made.proc / "irq" / "38" / "smp_affinity_list", "0-2")
    put(made.proc / "sys" / "net" / "core" / "rps_sock_flow_entries", "0")
    net = made.sys / "class" / "net"
    for name, device, driver in (("eth0", "pci/0000:00:03.0/virtio2", "virtio_net"), ("eth7", "soc/f00.net", "dwmac")):
        folder = made.sys / "devices" / device
        folder.mkdir(parents=True)
        (made.sys / "drivers" / driver).mkdir(parents=True)
        (folder / "driver").symlink_to(made.sys / "drivers" / driver)
        (net / name).mkdir(parents=True)
        (net / name / "device").symlink_to(folder)
    for number in (37, 38, 39):
        put(made.sys / "devices" / "pci" / "0000:00:03.0" / "msi_irqs" / str(number), "msix")
    for name, queues in (("eth0", 11), ("eth7", 1), ("veth", 1)):
        for number in range(queues):
            put(net / name / "queues" / f"rx-{number}" / "rps_cpus", "0")
            put(net / name / "queues" / f"rx-{number}" / "rps_flow_cnt", "0")
        put(net / name / "queues" / "tx-0" / "xps_cpus", "0")
    (net / "old" / "queues" / "rx-0").mkdir(parents=True)
    return made


def found(name: str, roots: Roots) -> Interface:
    interface = read_interface(name, roots)
    assert interface is not None
    return interface


def test_interrupts_of_a_device(roots: Roots) -> None:
    eth0 = found("eth0", roots)
    assert eth0.driver == "virtio_net"
    assert [(one.number, one.name, one.allowed, one.counts) for one in eth0.interrupts] == [
        (37, "virtio2-config", "", {}),
        (38, "virtio2-input.0", "0-2", {2: 12068}),
        (39, "virtio2-output.0", "", {0: 100, 2: 7}),
    ]
    assert eth0.interrupted == [0, 2]
    assert [queue.name for queue in eth0.queues] == [f"rx-{number}" for number in range(11)]
    assert packets(eth0, False) == "eth0: packets are handled where its interrupts go, cores 0,2"


def test_interrupts_are_known_by_the_interfaces_name_where_nothing_else_tells(roots: Roots) -> None:
    assert [one.number for one in found("eth7", roots).interrupts] == [50]


def test_a_virtual_interface_has_none(roots: Roots) -> None:
    veth = found("veth", roots)
    assert veth.driver == "" and veth.interrupts == []
    said = packets(veth, False)
    assert "on the core of who sends them" in said and "it is virtual and takes no interrupts" in said


def test_an_interface_that_is_not_there(roots: Roots) -> None:
    assert read_interface("none", roots) is None
    assert look(["none"], roots).interfaces == []
    assert sentences(look([], roots)) == ["no interface of this node leads to another one"]


def test_steering(roots: Roots) -> None:
    queue = roots.sys / "class" / "net" / "veth" / "queues" / "rx-0"
    put(queue / "rps_cpus", "00000000,0000000c")
    put(queue / "rps_flow_cnt", "4096")
    put(roots.proc / "sys" / "net" / "core" / "rps_sock_flow_entries", "32768")
    balance = look(["veth", "eth0"], roots)
    veth, eth0 = balance.interfaces
    assert veth.steered == [2, 3] and eth0.steered == []
    assert balance.follows_readers(veth) and not balance.follows_readers(eth0)
    assert packets(veth, True).endswith(
        "; RPS hands them to cores 2-3; RFS hands those of known connections to the core that reads them"
    )


def test_where_nothing_is_remembered_nothing_follows_readers(roots: Roots) -> None:
    """A queue's own table alone does nothing; a network namespace does not show the machine's."""
    put(roots.sys / "class" / "net" / "veth" / "queues" / "rx-0" / "rps_flow_cnt", "4096")
    balance = look(["veth"], roots)
    assert not balance.follows_readers(balance.interfaces[0])
    (roots.proc / "sys" / "net" / "core" / "rps_sock_flow_entries").unlink()
    assert remembered_flows(roots) is None


def test_what_an_administrator_can_do(roots: Roots) -> None:
    file = "/sys/class/net/eth0/queues/rx-0/rps_cpus"
    assert f"echo MASK > {file} " in advice([found("old", roots), found("eth0", roots)])
    assert advice([found("old", roots)]) == "this kernel cannot hand packets to other cores (it has no RPS)"


def test_as_text_and_as_json(roots: Roots, capsys: pytest.CaptureFixture[str]) -> None:
    balance = look(["eth0", "veth", "old"], roots)
    Console(width=200).print(table(balance))
    rows = [line.split("  ") for line in capsys.readouterr().out.splitlines()[1:]]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert cells == [
        ["eth0", "virtio_net", "11", "virtio2-input.0 on core 2, virtio2-output.0 on cores 0,2", "off", "off"],
        ["veth", "-", "1", "none: virtual", "off", "off"],
        ["old", "-", "1", "none: virtual", "not in this kernel", "off"],
    ]
    document = json.loads(json.dumps(balance.as_json()))
    assert document["rps_sock_flow_entries"] == 0
    assert document["interfaces"][0]["interrupts"][1] == {
        "number": 38,
        "name": "virtio2-input.0",
        "allowed": "0-2",
        "counts": {"2": 12068},
    }
    assert document["interfaces"][1]["packets"] == packets(balance.interfaces[1], False)
    assert "interprocessor interrupt" in document["meaning"] and "rps_cpus" in document["advice"]


def test_many_interrupts_are_not_named_one_by_one(roots: Roots, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "".join(f" {number}: 1 1 PCI-MSIX eth0-TxRx-{number}\n" for number in range(60, 65))
    put(roots.proc / "interrupts", INTERRUPTS + lines)
    for number in range(60, 65):
        put(roots.sys / "devices" / "pci" / "0000:00:03.0" / "msi_irqs" / str(number), "msix")
    Console(width=200).print(table(look(["eth0"], roots)))
    assert "7 on cores 0,2" in capsys.readouterr().out


def test_check_asks_a_probe_for_this_nodes_interfaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "program", lambda name: Path("/bin") / name)
    monkeypatch.setattr(check, "look", list)
    said = ["a warning", json.dumps({"interfaces": ["eth3"]})]

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert command == ["/bin/urakata-probe"]
        return subprocess.CompletedProcess(command, 1, "\n".join(said), "")

    monkeypatch.setattr(subprocess, "run", run)
    assert check._interrupts() == ["eth3"]
    said.pop()
    assert check._interrupts() == []
