# SPDX-License-Identifier: BSD-3-Clause
"""The gateway of a site: the bridge to which its hosts are joined, and a TUN device for each link to another site."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
from pathlib import Path

from urakata.hosts import links, namespaces, sites

READY = b"r"

_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI, _IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
_DEVICE = "/dev/net/tun"


def tun_usable() -> str:
    """Why there can be no TUN device here; empty where there can."""
    if not os.path.exists(_DEVICE):
        return f"there is no {_DEVICE}, by which long links are made: load the kernel's module tun"
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        return f"{_DEVICE}, by which long links are made, may not be opened by this user"
    return ""


def _open_device(name: str) -> int:
    """A TUN device in this network namespace; it goes with its descriptor."""
    device = os.open(_DEVICE, os.O_RDWR | os.O_CLOEXEC)
    request = struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI | _IFF_VNET_HDR)
    fcntl.ioctl(device, _TUNSETIFF, request)
    return device


def serve(plan: links.Plan, site: int, pids: list[int], parent: socket.socket) -> None:
    """Makes the gateway of a site whose hosts have these PIDs, sends the descriptors of its devices, by number of the
    other site, and holds the namespace until the parent goes."""
    namespaces.unshare(namespaces.CLONE_NEWNET, "making a gateway's network")
    members = links.members(plan.sites, site)
    links.run_batch("ip", links.bridge_commands(members, [pids[i] for i in members]))
    links.run_batch("tc", "\n".join(filter(None, (links.shape_commands(f"link{i}", plan.rate, None) for i in members))))
    with contextlib.suppress(FileNotFoundError):  # a kernel without IPv6
        Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    devices = [_open_device(sites.device(other)) for other in range(len(plan.sites)) if other != site]
    links.run_batch("ip", sites.gateway_commands(plan.sites, site))
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    socket.send_fds(parent, [READY], devices)
    for device in devices:
        os.close(device)
    parent.recv(1)
