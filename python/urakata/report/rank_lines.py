# SPDX-License-Identifier: BSD-3-Clause
"""What ranks tell of themselves: progress threads, what went to other sites, devices. A line each, or one for all."""

from __future__ import annotations

from statistics import fmean, median
from typing import Any

from urakata import site_links
from urakata.report.units import bytes_text, count, of_ranks

_MOST_RANKS = 16  # of which each has a line


def _keeps_the_rule(rank: dict[str, Any], progress_thread: dict[str, Any]) -> bool:
    """Whether it is engine poll's periodic thread, for an MPI library without a hook in its waiting."""
    return str(rank["engine"]) == "poll" and str(progress_thread["placement"]).endswith(" core")


def periodic_seconds(rank: dict[str, Any]) -> float | None:
    """CPU time of the thread that only keeps MPI's progress rule; None: the rank has none."""
    used = [
        float(progress_thread["cpu_seconds"])
        for progress_thread in rank["progress_threads"]
        if _keeps_the_rule(rank, progress_thread)
    ]
    return sum(used) if used else None


def _progress_threads(rank: dict[str, Any]) -> list[dict[str, Any]]:
    """The progress threads but for the periodic one, of which the line on the engine tells."""
    return [
        progress_thread for progress_thread in rank["progress_threads"] if not _keeps_the_rule(rank, progress_thread)
    ]


def _progress_thread_seconds(rank: dict[str, Any]) -> float:
    return float(sum(progress_thread["cpu_seconds"] for progress_thread in _progress_threads(rank)))


def _progress_thread_lines(rank: dict[str, Any]) -> list[str]:
    line = f"rank {rank['rank']} on {rank['host']}: "
    progress_threads = _progress_threads(rank)
    if progress_threads:
        where = ", ".join(
            f"{progress_thread['placement']} {progress_thread['cpus']}".strip() for progress_thread in progress_threads
        )
        line += f"progress threads {_progress_thread_seconds(rank):.3f} CPU s ({where})"
    if rank.get("transport") == "wire":
        line += "; " * bool(progress_threads) + "messages between nodes by wire"
        line += ", the program's own too" * (rank.get("messages_by") == "wire")
    elif not progress_threads:
        return []
    return [line]


def _way_line(ranks: str, site: str, total: dict[str, Any], connections: str) -> str:
    """What has gone to another site; `connections`: of a pair of ranks."""
    line = f"{ranks}: {bytes_text(total['bytes'])} to site {site} (round trip {total['round_trip_ms']:.1f} ms) "
    line += f"in {total['pieces']} pieces over {connections}"
    return line + (f"; {total['lost']} were lost, and {total['again']} sent again" if total["lost"] else "")


def _site_lines(rank: dict[str, Any]) -> list[str]:
    """What a rank has sent to other sites; where they are stands once, with rank 0."""
    if not (sites := rank.get("sites")):
        return []
    lines = []
    if rank["rank"] == 0:
        lines += [sites["found"], *(site_links.described(link) for link in sites.get("links", []))]
    for way in sites["ways"]:
        if way["bytes"]:
            lines.append(_way_line(f"rank {rank['rank']}", way["site"], way, count(way["connections"], "connection")))
    return lines


def _device_lines(rank: dict[str, Any]) -> list[str]:
    if not (devices := rank.get("devices")):
        return []
    read, written = (f"{devices[what] / 2**20:.1f} MiB" for what in ("fetched", "stored"))
    line = f"rank {rank['rank']}: {devices['drivers']} is loaded; of buffers on devices {read} were read"
    return [f"{line} and {written} written"]


def _progress_threads_of_all(ranks: list[dict[str, Any]]) -> list[str]:
    by_wire = [rank["rank"] for rank in ranks if rank.get("transport") == "wire"]
    helped = [rank for rank in ranks if _progress_threads(rank)]
    lines = []
    if helped:
        seconds = {rank["rank"]: _progress_thread_seconds(rank) for rank in helped}
        least, most = min(seconds, key=lambda one: seconds[one]), max(seconds, key=lambda one: seconds[one])
        where = ", ".join(
            sorted({progress_thread["placement"] for rank in helped for progress_thread in _progress_threads(rank)})
        )
        line = f"{of_ranks(list(seconds))}: progress threads {fmean(seconds.values()):.3f} CPU s each "
        lines.append(f"{line}({seconds[least]:.3f} of rank {least} to {seconds[most]:.3f} of rank {most}; {where})")
    if by_wire:
        lines.append(f"{of_ranks(by_wire)}: messages between nodes by wire")
    return lines


def _sites_of_all(ranks: list[dict[str, Any]]) -> list[str]:
    first = _site_lines({**ranks[0], "sites": {**ranks[0]["sites"], "ways": []}}) if ranks[0].get("sites") else []
    ways: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for rank in ranks:
        for way in (rank.get("sites") or {"ways": []})["ways"]:
            if way["bytes"]:
                ways.setdefault(way["site"], []).append((rank["rank"], way))
    lines = list(first)
    for site, parts in ways.items():
        total = {word: sum(way[word] for _, way in parts) for word in ("bytes", "pieces", "lost", "again")}
        total["round_trip_ms"] = median(way["round_trip_ms"] for _, way in parts)
        most = max(way["connections"] for _, way in parts)
        ranks_text = of_ranks([rank for rank, _ in parts])
        lines.append(_way_line(ranks_text, site, total, f"up to {count(most, 'connection')}"))
    return lines


def _devices_of_all(ranks: list[dict[str, Any]]) -> list[str]:
    alike: dict[str, list[dict[str, Any]]] = {}
    for rank in ranks:
        if devices := rank.get("devices"):
            alike.setdefault(devices["drivers"], []).append(rank)
    lines = []
    for drivers, its in alike.items():
        read, written = (sum(rank["devices"][what] for rank in its) / 2**20 for what in ("fetched", "stored"))
        line = f"{of_ranks([rank['rank'] for rank in its])}: {drivers} is loaded; of buffers on devices {read:.1f} MiB"
        lines.append(f"{line} were read and {written:.1f} MiB written")
    return lines


def rank_lines(ranks: list[dict[str, Any]]) -> list[str]:
    """Of each rank in turn its progress threads, what it has sent to other sites, and its devices; of many ranks what
    they have together."""
    if len(ranks) > _MOST_RANKS:
        return [*_progress_threads_of_all(ranks), *_sites_of_all(ranks), *_devices_of_all(ranks)]
    return [
        line for rank in ranks for line in (*_progress_thread_lines(rank), *_site_lines(rank), *_device_lines(rank))
    ]
