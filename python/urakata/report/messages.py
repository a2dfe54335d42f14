# SPDX-License-Identifier: BSD-3-Clause
"""The program's own messages in the report, by call site, and whether the ranks share an address space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from urakata.report.units import of_ranks

_APART = 0.1  # the least and the most that was hidden; as for collectives (hidden.py)


@dataclass
class MessageRow:
    """One call site over all ranks. What was not seen of all messages is not known: see MessageSite."""

    place: str
    operation: str
    carrier: str  # "space", "wire", "native", "itself", or for any source several, as "space or wire"
    ranks: int = 0
    messages: int = 0
    sized: int = 0
    sized_bytes: int = 0
    waited: int = 0
    waited_ns: int = 0
    done_at_once: int = 0
    timed: int = 0
    life_ns: int = 0
    gap_ns: int = 0
    overlapped_ns: int = 0
    helped: bool = True  # on all ranks a progress thread moved what goes by wire

    @property
    def bytes(self) -> int | None:
        return self.sized_bytes if self.sized == self.messages else None

    @property
    def wait_ns(self) -> int | None:
        """Total over all ranks."""
        return self.waited_ns if self.waited == self.messages else None

    @property
    def hidden(self) -> float | None:
        """The share of the transfers that was done while the program was at something else: docs/read-the-report.md."""
        if self.timed == 0 or self.life_ns == 0 or self.done_at_once + self.timed != self.messages:
            return None
        apart = (self.gap_ns - self.overlapped_ns) / self.life_ns
        return self.overlapped_ns / self.life_ns if self.helped or apart <= _APART else None

    @property
    def hidden_word(self) -> str:
        """Why there is no number: "none", nothing that could be hidden; "-", not wire's; "unknown"."""
        if self.carrier != "wire":
            return "-" if "wire" not in self.carrier else "unknown"
        name = self.operation.removesuffix("_c").lower()
        blocking = not name.startswith("i") and not name.endswith("_init")
        return "none" if blocking or self.done_at_once == self.messages else "unknown"


def merge_messages(ranks: list[dict[str, Any]], names: Mapping[tuple[str, int], str]) -> list[MessageRow]:
    """Sorted by the time that the program waited there, longest first, then by the number of messages."""
    rows: dict[tuple[str, str, str], MessageRow] = {}
    for rank in ranks:
        for site in rank.get("messages", []):
            if not site["messages"]:
                continue
            key = (names[site["module"], site["offset"]], site["operation"], site["carrier"])
            row = rows.setdefault(key, MessageRow(*key))
            row.ranks += 1
            row.messages += site["messages"]
            row.sized += site["sized"]
            row.sized_bytes += site["bytes"]
            row.waited += site["waited"]
            row.waited_ns += site["waited_ns"]
            for word in ("done_at_once", "timed", "life_ns", "gap_ns", "overlapped_ns"):
                setattr(row, word, getattr(row, word) + site.get(word, 0))
            row.helped = row.helped and rank.get("messages_progress_thread", False)
    return sorted(rows.values(), key=lambda row: (row.waited_ns, row.messages), reverse=True)


def messages_json(rows: list[MessageRow]) -> list[dict[str, Any]]:
    """Plain data; null is not known."""
    words = ("place", "operation", "carrier", "ranks", "messages", "bytes", "wait_ns", "hidden")
    return [{word: getattr(row, word) for word in words} for row in rows]


def _for_all(alike: dict[str, list[int]], what: str, ranks: int) -> list[str]:
    """One line for all ranks of which the same is true."""
    lines = []
    for text, numbers in alike.items():
        of = "" if len(numbers) == ranks else f" ({of_ranks(numbers)})"
        lines.append(f"{what}{of}: {text}")
    return lines


def space_lines(ranks: list[dict[str, Any]]) -> list[str]:
    alike: dict[str, list[int]] = {}
    for rank in ranks:
        if (space := rank.get("space")) is None:
            continue
        if space["ranks"]:
            text = f"{space['ranks']} of {rank['ranks']} ranks share one address space"
        elif space["asked"]:
            text = f"asked for, not in use: {space['why']}"
        else:
            text = "not asked for (--space)"
        alike.setdefault(text, []).append(rank["rank"])
    return _for_all(alike, "space", len(ranks))


def carrier_lines(ranks: list[dict[str, Any]]) -> list[str]:
    """By what the program's own messages between nodes went, where there was a choice."""
    if not any(rank.get("transport") == "wire" for rank in ranks):
        return []
    alike: dict[str, list[int]] = {}
    for rank in ranks:
        if why := rank.get("messages_why"):
            alike.setdefault(why, []).append(rank["rank"])
    return _for_all(alike, "the program's own messages between nodes", len(ranks))
