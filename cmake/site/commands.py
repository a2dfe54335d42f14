# SPDX-License-Identifier: BSD-3-Clause
"""The reference of commands: `urakata` as it describes itself, and the text of a program's --help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import rst
from rich.text import Text

from urakata.renamed import shown


def _plain(text: str | None) -> str:
    """Rich markup and typer's paragraph marks removed."""
    return Text.from_markup((text or "").replace("\b", "")).plain.strip("\n ")


def _prose(text: str) -> str:
    return rst.escaped(re.sub(r"^ +", "", text, flags=re.MULTILINE))


def _paragraphs(text: str) -> Iterator[str]:
    """What is indented is code, also over empty lines between."""
    parts = re.split(r"\n\n+", text)
    for is_code, some in groupby(parts, lambda part: part.startswith("  ")):
        text = "\n\n".join(some)
        yield rst.code(text, "sh") if is_code else _prose(text)


def _epilog(command: Any) -> Iterator[str]:
    text = re.sub(r"^(Examples?)\n\n?", r"\1:\n\n", (Text.from_markup(command.epilog or "").plain).strip("\n"))
    yield from _paragraphs(text)


def _parameters(command: Any, context: Any) -> Iterator[str]:
    for parameter in command.get_params(context):
        if record := parameter.get_help_record(context):
            names, said = record
            if parameter.param_type_name == "argument":
                names = re.sub(r" <.*>$", "", names)
            limits = said.removeprefix(parameter.help or "").strip()  # [default: 2; x>=1]
            text = (parameter.help or "").replace("[dim]", "(").replace("[/dim]", ")")
            yield rst.described("option", [names], rst.escaped(f"{_plain(text)} {limits}".strip()))


def command_page(name: str, command: Any, parent: Any) -> str:
    """Of a command, and of its own commands below it."""

    def part(name: str, command: Any, parent: Any, line: str) -> Iterator[str]:
        context = command.make_context(name, [], parent=parent, resilient_parsing=True)
        yield rst.title(name, line)
        yield from _paragraphs(_plain(command.help))
        yield rst.code(" ".join([name, *command.collect_usage_pieces(context)]))
        yield f".. program:: {name}"
        yield from _parameters(command, context)
        yield from _epilog(command)
        for inner, child in shown(command):
            yield from part(f"{name} {inner}", child, context, "-")

    return rst.page(*part(name, command, parent, "="))


def _kind(line: str) -> str:
    if re.match(r"  \S.*? {2,}\S", line):
        return "entry"
    return "code" if line.startswith("  ") else "prose"


def program_page(name: str, text: str) -> str:
    """Of --help: a line that is indented is a name and, after two spaces or more, what it means; or code."""

    def parts() -> Iterator[str]:
        for kind, some in groupby(text.strip().splitlines(), _kind):
            lines = list(some)
            if kind == "code":
                yield rst.code("\n".join(lines), "sh")
            elif kind == "prose":
                yield _prose("\n".join(lines).strip("\n"))
            else:
                entries = [re.split(r" {2,}", line.strip(), maxsplit=1) for line in lines]
                yield "\n\n".join(f"``{entry}``\n{rst.INDENT}{rst.escaped(meaning)}" for entry, meaning in entries)

    return rst.page(rst.title(name), f".. program:: {name}", *parts())
