# SPDX-License-Identifier: BSD-3-Clause
"""What the machine is: without it a number means nothing."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from urakata.launcher import Mpi, usable_cores


@dataclass(frozen=True)
class Machine:
    """The machine that the command runs on. `cores` counts those that the process may use, not hardware threads."""

    name: str
    cpu: str
    cores: int
    hardware_threads: int
    cache: str
    memory_gib: float
    kernel: str
    c_library: str
    governor: str
    virtual: bool
    load: float
    mpi: str

    def as_json(self) -> dict[str, Any]:
        """Its fields; `mpi` as "host", which documents of earlier releases have."""
        return {"host" if name == "mpi" else name: value for name, value in asdict(self).items()}

    def warnings(self) -> list[str]:
        """What makes numbers taken here less certain."""
        found = []
        if self.load > 0.5:
            found.append(f"load average was {self.load:.1f} before the start: other programs disturb the measurement")
        if self.virtual:
            found.append("virtual machine: its cores may be taken away for moments")
        if self.governor == "powersave":
            found.append("the frequency governor is powersave: times of short turns vary with the clock")
        return found


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _cpu_info(field: str) -> str:
    found = re.search(rf"^{field}\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return found[1].strip() if found else ""


def describe_machine(*mpis: Mpi) -> Machine:
    """Asks the kernel. `mpis`: those that will be used."""
    memory = re.search(r"MemTotal:\s*(\d+)", _read("/proc/meminfo"))
    return Machine(
        name=platform.node(),
        cpu=_cpu_info("model name") or platform.machine(),
        cores=usable_cores(),
        hardware_threads=len(os.sched_getaffinity(0)),
        cache=_read("/sys/devices/system/cpu/cpu0/cache/index3/size"),
        memory_gib=round(int(memory[1]) / 2**20, 1) if memory else 0.0,
        kernel=platform.release(),
        c_library=" ".join(platform.libc_ver()),
        governor=_read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtual=" hypervisor " in f" {_cpu_info('flags')} ",
        load=round(os.getloadavg()[0], 2),
        mpi=", ".join(f"{mpi.family} {mpi.version}" for mpi in mpis),
    )
