"""The process that makes an instance of test hosts and holds it together.

keeper           outside: waits for the first process and leaves with it
  first          PID 1 of the instance's PID namespace; mount namespace; network namespace with the bridge
    stage        one per host: makes the host's namespaces (network, name, mounts, IPC, PID) and waits
      host       PID 1 of the host: runs what it is asked to (server.py)

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

from urakata.hosts import links, namespaces, server, wire

_READY = b"r"
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
        links.run_batch("ip", links.host_commands(index))
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


def _build(plan: links.Plan) -> None:
    namespaces.make_mounts_private()
    namespaces.mount_proc()
    pids, stages = [], []
    for index in range(plan.count):
        here, there = socket.socketpair()
        pids.append(start_process(lambda i=index, end=there: _stage(plan, i, end)))  # type: ignore[misc]
        there.close()
        stages.append(here)
    _expect_ready(stages)
    links.run_batch("ip", links.bridge_commands(plan.count, pids))
    for stage in stages:
        stage.sendall(_READY)
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
