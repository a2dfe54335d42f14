# SPDX-License-Identifier: BSD-3-Clause
"""The few system calls that make namespaces, straight from the C library (Python has them only from 3.12 on)."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 1 << 18
_PR_SET_PDEATHSIG = 1
_SIGKILL = 9

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, doing: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{doing}: {os.strerror(code)}")


def unshare(flags: int, doing: str) -> None:
    """Leaves the namespaces named by flags for new ones. A new PID namespace is entered by the next child only."""
    _check(_libc.unshare(flags), doing)


def become_root_of_own_user_namespace() -> None:
    """For an ordinary user: a user namespace in which this user is root, and so may make the other namespaces."""
    user, group = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER, "making a user namespace")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def set_host_name(name: str) -> None:
    """Sets the name of this UTS namespace."""
    encoded = name.encode()
    _check(_libc.sethostname(encoded, len(encoded)), f"setting the host name {name}")


def die_with_parent() -> None:
    """Asks the kernel to kill this process when its parent ends, however that happens."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0), "asking to end with the parent")


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    arguments = [text.encode() for text in (source, target, kind)]
    _check(_libc.mount(*arguments, ctypes.c_ulong(flags), data.encode()), f"mounting {kind or source} on {target}")


def make_mounts_private() -> None:
    """What is mounted from now on in this mount namespace stays in it."""
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)


def bind(source: str, target: str) -> None:
    """Shows the file or folder `source` at `target`, in this mount namespace only."""
    _mount(source, target, "", _MS_BIND | _MS_REC)


def mount_tmpfs(target: str, mode: str) -> None:
    """An empty file system in memory."""
    _mount("tmpfs", target, "tmpfs", _MS_NOSUID | _MS_NODEV, f"mode={mode}")


def mount_proc() -> None:
    """/proc as the PID namespace of this process has it."""
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def mount_sys() -> None:
    """/sys as this network namespace has it; the control groups below it stay visible."""
    groups = os.open("/sys/fs/cgroup", os.O_PATH) if Path("/sys/fs/cgroup").is_dir() else -1
    _mount("sysfs", "/sys", "sysfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    if groups >= 0:
        bind(f"/proc/self/fd/{groups}", "/sys/fs/cgroup")
        os.close(groups)
