"""The program's own messages in the report, by call site, and whether the ranks share an address space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass
class MessageRow:
    """One call site over all ranks. What was not seen of all messages is not known: see MessageSite."""

    place: str
    operation: str
    carrier: str  # "space", "wire", "host", "itself", or for any source several, as "space or wire"
    ranks: int = 0
    messages: int = 0
    sized: int = 0
    sized_bytes: int = 0
    waited: int = 0
    waited_ns: int = 0

    @property
    def bytes(self) -> int | None:
        return self.sized_bytes if self.sized == self.messages else None

    @property
    def wait_ns(self) -> int | None:
        """Total over all ranks."""
        return self.waited_ns if self.waited == self.messages else None


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
    return sorted(rows.values(), key=lambda row: (row.waited_ns, row.messages), reverse=True)


def messages_json(rows: list[MessageRow]) -> list[dict[str, Any]]:
    """Plain data; null is not known."""
    words = ("place", "operation", "carrier", "ranks", "messages", "bytes", "wait_ns")
    return [{word: getattr(row, word) for word in words} for row in rows]


def space_lines(ranks: list[dict[str, Any]]) -> list[str]:
    """One line for all ranks of which the same is true."""
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
    lines = []
    for text, numbers in alike.items():
        of = "" if len(numbers) == len(ranks) else f" (rank {', '.join(map(str, numbers))})"
        lines.append(f"space{of}: {text}")
    return lines
