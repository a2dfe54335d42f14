# SPDX-License-Identifier: BSD-3-Clause
"""Long links of a running instance: cut, restored, set and asked by their control sockets."""

from __future__ import annotations

import json
import os
import re
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

from urakata.hosts import links, sites, wire

_ANSWER = 1 << 20
_LIMIT = 10.0


class LinkError(Exception):
    """A long link does not answer, or refuses a command, or there is none such; the text says why."""


def ask(folder: str, first: int, second: int, command: str) -> dict[str, Any]:
    """Gives a command of urakata-link (src/emulator/control.hpp) to the link between two sites; the answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(_LIMIT)
        try:
            connection.connect(wire.link_path(folder, first, second))
            connection.sendall(command.encode())
            answer = json.loads(connection.recv(_ANSWER))
        except (OSError, ValueError) as error:
            raise LinkError(f"the link between the sites {first} and {second} does not answer: {error}") from error
    if answer["error"]:
        raise LinkError(answer["error"])
    return dict(answer)


def running(base: str, prefix: str, owner: int | None) -> str:
    """The folder of this user's one instance with sites, or of that which the process `owner` has made; LinkError where
    there is none, or where there are several."""
    found = {}
    for folder in Path(base).glob(f"{prefix}*"):
        number = folder.name.removeprefix(prefix).split("-")[0]
        if not number.isdigit() or not Path(f"/proc/{number}").exists() or folder.stat().st_uid != os.geteuid():
            continue
        if any(folder.glob("link-*.socket")):
            found[int(number)] = str(folder)
    if owner is not None:
        if owner not in found:
            raise LinkError(f"process {owner} has no test hosts on several sites")
        return found[owner]
    if len(found) != 1:
        which = (
            f"several run, of the processes {', '.join(map(str, sorted(found)))}: say which one"
            if found
            else "none run"
        )
        raise LinkError(f"there is no one instance of test hosts on several sites: {which}")
    return next(iter(found.values()))


def all_links(folder: str) -> list[tuple[int, int]]:
    """The links of an instance, each as its two sites."""
    names = [re.fullmatch(r"link-(\d+)-(\d+)\.socket", path.name) for path in Path(folder).iterdir()]
    return sorted((int(name[1]), int(name[2])) for name in names if name)


def _place(folder: str, end: str) -> tuple[int, str]:
    """The site and the address of 'host4' or 'host4:5000'."""
    name, colon, port = end.partition(":")
    for line in Path(f"{folder}/hosts").read_text().splitlines():
        address, known = line.split()
        if known == name and address.startswith(f"{links.NETWORK}."):
            return int(address.split(".")[2]), f"{address}{colon}{port}"
    raise LinkError(f"there is no host {name!r}")


def directions(folder: str, what: str) -> list[tuple[int, int, int, str]]:
    """What a link ('0-1') or the flows between two hosts ('host0-host4', 'host0:40000-host4:5000') are for the links'
    processes: the two sites, the direction there, and the flows, both ways; the first is the way as it is written."""
    first, dash, second = what.partition("-")
    if re.fullmatch(r"\d+-\d+", what):
        ends, flows = (int(first), int(second)), ("", "")
    elif dash and second:
        places = (_place(folder, first), _place(folder, second))
        ends = (places[0][0], places[1][0])
        flows = (f" {places[0][1]} {places[1][1]}", f" {places[1][1]} {places[0][1]}")
    else:
        raise LinkError(f"{what!r} is neither a link, such as 0-1, nor two hosts, such as host0-host4")
    link = (min(ends), max(ends))
    if link not in all_links(folder):
        raise LinkError(f"there is no link between the sites {ends[0]} and {ends[1]}")
    onward = 0 if ends == link else 1
    return [(*link, onward, flows[0]), (*link, 1 - onward, flows[1])]


def command_all(folder: str, what: str, word: str, one_way: bool) -> None:
    """Cuts or restores ('cut', 'restore') a link or flows; one_way: only as it is written, from the first."""
    for first, second, direction, flows in directions(folder, what)[: 1 if one_way else 2]:
        ask(folder, first, second, f"{word} {direction}{flows}")


def change(folder: str, what: str, settings: str, one_way: bool) -> None:
    """Sets a link anew: 'delay=20ms,loss=1%', the rest stays. Of flows between hosts only flow-rate can be set."""
    for first, second, direction, flows in directions(folder, what)[: 1 if one_way else 2]:
        if flows:
            if settings.partition("=")[0] != "flow-rate":
                raise LinkError("of two hosts only flow-rate can be set, such as flow-rate=10mbit")
            rate = sites.parse_settings(settings, sites.LinkSettings()).flow_rate or 0
            ask(folder, first, second, f"flow-rate {direction}{flows} {rate}")
            continue
        now = ask(folder, first, second, "stats")["directions"][direction]["settings"]
        before = sites.LinkSettings(
            delay_us=now["delay_ns"] // 1000,
            rate=now["rate"] or None,
            flow_rate=now["flow_rate"] or None,
            loss=now["loss"],
        )
        if now["queue"] != before.queue_bytes:
            before = replace(before, queue=now["queue"])
        ask(folder, first, second, f"set {direction} {sites.parse_settings(settings, before).words()}")
