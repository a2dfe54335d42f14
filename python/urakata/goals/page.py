# SPDX-License-Identifier: BSD-3-Clause
"""All performance targets as one page of text: what was measured, what is wanted, what is compared."""

from __future__ import annotations

import textwrap
from typing import Any

from urakata.goals.show import SIGNS, number

_COLUMNS = 98

_INTRODUCTION = """
Written by `./dev goals --all --page FILE`, in one run: {machine}; commit {commit}.
`bench/goals.toml` says how each target is measured, and [performance targets](studies/performance-targets.md) how
to measure it again. In brackets: the range of the value over rounds drawn again from those measured.
Bold: the target is missed.
"""

_TABLE = """
## {title}

| target | measured | wanted |
| --- | --- | --- |
"""

_TITLES = {True: "Targets that bind a release", False: "Targets that are watched"}
"""By whether targets are binding."""

_BOUNDS_TITLE = "\n## Why targets are missed\n\nAs found on a virtual machine with two cores of an AMD EPYC.\n\n"


def _machine(of: dict[str, Any]) -> str:
    cores = f"{of['cores']} core{'s' if of['cores'] != 1 else ''}"
    kind = ", virtual machine" if of["virtual"] else ""
    return f"{of['cpu']}, {cores}{kind}, {of['memory_gib']:g} GiB, Linux {of['kernel']}"


def _filled(text: str, begin: str = "") -> str:
    """As lines that documents may have; further ones are indented as an item of a list."""
    rest = " " * (2 if begin else 0)
    width = {"width": _COLUMNS, "break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(text.strip(), initial_indent=begin, subsequent_indent=rest, **width) + "\n"  # type: ignore[arg-type]


def _row(name: str, entry: dict[str, Any]) -> str:
    wanted = f"{SIGNS[entry['detail']['direction']]} {entry['target']:g} {entry['unit']}"
    if entry["value"] is None:
        return f"| `{name}` | not measured | {wanted} |\n"
    value = number(entry["value"]) if entry["met"] else f"**{number(entry['value'])}**"
    return f"| `{name}` | {value} ({' to '.join(map(number, entry['spread']))}) | {wanted} |\n"


def _table(title: str, binding: bool, results: dict[str, dict[str, Any]]) -> str:
    """Of one kind, with how many of them are met; empty where there are none."""
    kind = {name: entry for name, entry in results.items() if entry["detail"]["binding"] is binding}
    if not kind:
        return ""
    met, missed, unknown = (sum(entry["met"] is which for entry in kind.values()) for which in (True, False, None))
    rows = "".join(_row(name, entry) for name, entry in kind.items())
    return (
        _TABLE.format(title=title)
        + rows
        + f"\n{met} of these {len(kind)} met, {missed} missed, {unknown} not measured.\n"
    )


def _compared(name: str, entry: dict[str, Any]) -> str:
    detail = entry["detail"]
    if entry["value"] is None:
        measured = f"Not measured: {detail['not_measured']}"
    else:
        sides = ", ".join(f"{side} {number(value)}" for side, value in detail["sides"].items())
        measured = f"Sides: {sides} {detail['sides_unit']}"
    return _filled(f"`{name}`: {detail['compares'].rstrip('.')}. {measured.rstrip('.')}.", "- ")


def _bounds(results: dict[str, dict[str, Any]]) -> str:
    short = [(name, entry["detail"].get("bound")) for name, entry in results.items() if entry["met"] is False]
    if not short:
        return ""
    lines = [_filled(f"`{name}`: {bound}", "- ") for name, bound in short if bound]
    unknown = [f"`{name}`" for name, bound in short if not bound]
    if unknown:
        lines.append(_filled(f"Not known: {', '.join(unknown)}.", "- "))
    return _BOUNDS_TITLE + "".join(lines)


def page(results: dict[str, dict[str, Any]]) -> str:
    """Markdown of the goals' entries, which are what the JSON file has; there is at least one."""
    machine = next(iter(results.values()))["detail"]["machine"]
    introduction = _INTRODUCTION.format(machine=_machine(machine), commit=machine.get("commit") or "unknown")
    tables = "".join(_table(title, binding, results) for binding, title in _TITLES.items())
    compared = "".join(_compared(name, entry) for name, entry in results.items())
    head = "# Performance targets, measured\n\n" + _filled(introduction)
    return head + tables + "\n## What is compared\n\n" + compared + _bounds(results)
