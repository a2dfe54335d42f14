# SPDX-License-Identifier: BSD-3-Clause
"""The process that makes an instance of test hosts and holds it together.

keeper           outside: waits for the first process and leaves with it
  first          PID 1 of the instance's PID namespace; mount namespace; network namespace with the bridge
    stage        one per host: makes the host's namespaces (network, name, mounts, IPC, PID) and waits
      host       PID 1 of the host: runs what it is asked to (server.py)
    gateway      with several sites, one for each: a network namespace with the bridge instead (gateway.py)
    urakata-link one for each pair of sites: carries packets between two gateways

The first process watches the owner's end of the control socket. When the owner closes it or dies, the first process
leaves, and the kernel kills all that was started in the instance and takes down its mounts, interfaces and names. When
the keeper is killed, the first process is killed with it. Nothing needs to be undone by hand but the folder of sockets.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

from urakata.hosts import gateway, links, namespaces, server, sites, wire

_READY = gateway.READY
_FAILED = b"f"


def start_process(main: Callable[[], int]) -> int:
    """Forks a child that runs main and leaves with its result; returns the child's PID."""
    child = os.fork()
    if child != 0:
        return child
    code = 1
    try:
        code = main()
    finally:
        os._exit(code)


def _wait(child: int) -> int:
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


def _write_setting(name: str, value: str) -> None:
    path = Path("/proc/sys") / name.replace(".", "/")
    try:
        path.write_text(value)
    except OSError as error:
        raise OSError(error.errno, f"setting {name} to {value}: {error.strerror}") from error


def _stage(plan: links.Plan, index: int, parent: socket.socket) -> int:
    """Makes host `index`; says so when its namespaces stand, and again when it takes commands."""
    try:
        namespaces.unshare(
            namespaces.CLONE_NEWNET | namespaces.CLONE_NEWUTS | namespaces.CLONE_NEWNS | namespaces.CLONE_NEWIPC,
            "making a host's namespaces",
        )
        parent.sendall(_READY)
        if parent.recv(1) != _READY:
            return 1
        links.run_batch("ip", links.host_commands(plan.sites, index))
        if len(plan.sites) > 1:
            links.run_batch("ip", sites.host_route(links.place(plan.sites, index)[0], plan.congestion[index]))
        for name, value in plan.settings.items():
            _write_setting(name, value)
        links.run_batch("tc", links.shape_commands("eth0", plan.rate, None))
        namespaces.set_host_name(links.host_name(index))
        namespaces.bind(f"{plan.folder}/hosts", "/etc/hosts")
        namespaces.mount_sys()
        namespaces.mount_tmpfs("/dev/shm", "1777")
        namespaces.mount_tmpfs(f"{plan.folder}/tmp", "1777")
        if plan.cpus[index]:
            os.sched_setaffinity(0, plan.cpus[index])
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(wire.socket_path(plan.folder, links.host_name(index)))
        listener.listen(64)
        # Last, since the next child becomes PID 1 of it.
        namespaces.unshare(namespaces.CLONE_NEWPID, "making a host's PID namespace")
    except OSError as error:
        parent.sendall(_FAILED + str(error.strerror or error).encode())
        return 1

    def host() -> int:
        namespaces.mount_proc()
        parent.sendall(_READY)
        parent.close()
        server.serve(listener, links.host_name(index))
        return 0

    return _wait(start_process(host))


def _expect_ready(stages: list[socket.socket]) -> None:
    for index, stage in enumerate(stages):
        answer = stage.recv(4096)
        if answer != _READY:
            raise OSError(f"{links.host_name(index)}: {answer[1:].decode() or 'it ended at once'}")


def _start_all(count: int, main: Callable[[int, socket.socket], int]) -> tuple[list[int], list[socket.socket]]:
    """Starts `count` processes, each with its number and an end of a socket pair; their PIDs and the other ends."""
    pids, ends = [], []
    for index in range(count):
        here, there = socket.socketpair()
        pids.append(start_process(lambda i=index, end=there: main(i, end)))  # type: ignore[misc]
        there.close()
        ends.append(here)
    return pids, ends


def _gateway(plan: links.Plan, site: int, pids: list[int], parent: socket.socket) -> int:
    try:
        gateway.serve(plan, site, pids, parent)
    except OSError as error:
        parent.sendall(_FAILED + str(error.strerror or error).encode())
        return 1
    return 0


def _build_gateways(plan: links.Plan, pids: list[int]) -> dict[tuple[int, int], int]:
    """Starts the gateways; the descriptors of their devices by (site, other site)."""
    devices = {}
    _, ends = _start_all(len(plan.sites), lambda site, end: _gateway(plan, site, pids, end))
    for site, end in enumerate(ends):
        answer, descriptors, _, _ = socket.recv_fds(end, 4096, sites.MAX_SITES, socket.MSG_CMSG_CLOEXEC)
        if answer != _READY:
            raise OSError(f"gateway of site {site}: {answer[1:].decode() or 'it ended at once'}")
        end.detach()  # held open: the gateway goes when this process does
        others = [other for other in range(len(plan.sites)) if other != site]
        devices.update({(site, other): device for other, device in zip(others, descriptors, strict=True)})
    return devices


def _long_link(plan: links.Plan, first: int, second: int, commands: list[str], devices: list[int], ready: int) -> int:
    """Becomes urakata-link."""
    namespaces.die_with_parent()
    words = [plan.link_program, wire.link_path(plan.folder, first, second), *map(str, [ready, *devices]), *commands]
    for descriptor in (ready, *devices):
        os.set_inheritable(descriptor, True)
    os.execv(plan.link_program, words)
    return 1


def _build_long_links(plan: links.Plan, devices: dict[tuple[int, int], int]) -> None:
    waiting = []
    for first, second, commands in plan.long_links:
        here, there = os.pipe()
        ends = [devices[first, second], devices[second, first]]
        start_process(lambda a=first, b=second, c=commands, e=ends, r=there: _long_link(plan, a, b, c, e, r))  # type: ignore[misc]
        os.close(there)
        waiting.append((first, second, here))
    for device in devices.values():
        os.close(device)
    for first, second, ready in waiting:
        if os.read(ready, 1) != _READY:
            raise OSError(f"the link between the sites {first} and {second} did not start")
        os.close(ready)


def _build(plan: links.Plan) -> None:
    namespaces.make_mounts_private()
    namespaces.mount_proc()
    pids, stages = _start_all(plan.count, lambda index, end: _stage(plan, index, end))
    _expect_ready(stages)
    if len(plan.sites) > 1:
        devices = _build_gateways(plan, pids)
    else:
        links.run_batch("ip", links.bridge_commands(range(plan.count), pids))
    for stage in stages:
        stage.sendall(_READY)
    if len(plan.sites) > 1:
        _build_long_links(plan, devices)
    else:
        for_ports = [links.shape_commands(f"link{i}", plan.rate, plan.delay_us) for i in range(plan.count)]
        links.run_batch("tc", "\n".join(filter(None, for_ports)))
    _expect_ready(stages)


def _first(plan: links.Plan, control: socket.socket) -> int:
    namespaces.die_with_parent()
    try:
        _build(plan)
    except OSError as error:
        control.sendall(json.dumps({"error": str(error.strerror or error)}).encode())
        return 1
    control.sendall(json.dumps({"error": None}).encode())
    control.recv(1)  # nothing is ever sent: this ends when the owner closes its end or dies
    return 0


def remove_folder(folder: str) -> None:
    """Removes an instance's folder with the files that an instance puts there, and nothing else."""
    with contextlib.suppress(OSError):
        for entry in os.listdir(folder):
            if entry in ("hosts", "agent") or entry.endswith(".socket"):
                os.unlink(f"{folder}/{entry}")
        os.rmdir(f"{folder}/tmp")
        os.rmdir(folder)


def main(arguments: list[str]) -> int:
    """`keeper CONTROL PLAN`: CONTROL is the number of the control socket, PLAN the plan as JSON."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    control = socket.socket(fileno=int(arguments[0]))
    control.set_inheritable(False)
    plan = links.Plan(**json.loads(arguments[1]))
    try:
        if os.geteuid() != 0:
            namespaces.become_root_of_own_user_namespace()
        namespaces.unshare(
            namespaces.CLONE_NEWNS | namespaces.CLONE_NEWNET | namespaces.CLONE_NEWPID, "making namespaces"
        )
        child = start_process(lambda: _first(plan, control))
    except OSError as error:
        control.sendall(json.dumps({"error": str(error.strerror or error)}).encode())
        return 1
    control.close()
    code = _wait(child)
    remove_folder(plan.folder)
    return code
