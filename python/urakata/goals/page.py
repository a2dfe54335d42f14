"""All promises as one page of text: what is compared, what was measured, what is wanted."""

from __future__ import annotations

from typing import Any

from urakata.goals.show import SIGNS, number

_HEAD = """# The promises, measured

Written by `./dev goals --all --page docs/promises.md`, in one run: {machine}; commit {commit}.
What a row is and how it is measured stands in `bench/goals.toml`, how to measure it again in
[measure-the-promises.md](measure-the-promises.md). In brackets: between what the value would lie if the rounds
were drawn again.
Bold: short of what is wanted.

| goal | what is compared | value | sides | wanted |
| --- | --- | --- | --- | --- |
"""

_BOUNDS = """
## What bounds those that are short
As found on a virtual machine with two cores of an AMD EPYC.

"""


def _machine(of: dict[str, Any]) -> str:
    cores = f"{of['cores']} core{'s' if of['cores'] != 1 else ''}"
    kind = ", virtual machine" if of["virtual"] else ""
    return f"{of['cpu']}, {cores}{kind}, {of['memory_gib']:g} GiB, Linux {of['kernel']}"


def _row(name: str, entry: dict[str, Any]) -> str:
    detail, unit = entry["detail"], entry["unit"]
    wanted = f"{SIGNS[detail['direction']]} {entry['target']:g} {unit}"
    if entry["value"] is None:
        return f"| `{name}` | {detail['compares']} | not measured: {detail['not_measured']} | | {wanted} |"
    value = number(entry["value"]) if entry["met"] else f"**{number(entry['value'])}**"
    spread = " to ".join(map(number, entry["spread"]))
    sides = ", ".join(f"{side} {number(v)}" for side, v in detail["sides"].items()) + f" {detail['sides_unit']}"
    return f"| `{name}` | {detail['compares']} | {value} ({spread}) | {sides} | {wanted} |"


def _bounds(results: dict[str, dict[str, Any]]) -> str:
    short = [(name, entry["detail"].get("bound")) for name, entry in results.items() if entry["met"] is False]
    if not short:
        return ""
    lines = [f"- `{name}`: {bound}\n" for name, bound in short if bound]
    unknown = [f"`{name}`" for name, bound in short if not bound]
    if unknown:
        lines.append(f"- Not known: {', '.join(unknown)}.\n")
    return _BOUNDS + "".join(lines)


def page(results: dict[str, dict[str, Any]]) -> str:
    """Markdown of the goals' entries, which are what the JSON file has; there is at least one."""
    machine = next(iter(results.values()))["detail"]["machine"]
    head = _HEAD.format(machine=_machine(machine), commit=machine.get("commit") or "unknown")
    rows = "".join(f"{_row(name, entry)}\n" for name, entry in results.items())
    return head + rows + _bounds(results)
