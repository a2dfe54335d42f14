# SPDX-License-Identifier: BSD-3-Clause
"""Writes the man pages from what the commands say of themselves, so that they cannot disagree.

man_pages.py FOLDER VERSION [PROGRAM ...]: urakata(1) and one page for each of its commands from the command line's own
description; for each PROGRAM (urakata-exec, urakata-schedule) a page with the text of PROGRAM --help.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from urakata.cli import build_app
from urakata.renamed import shown

EXPERTS = "For experts:"
"""A line of --help below which are the options that it shows with --expert only."""

SEE_ALSO = "The documentation is in docs/ of the source tree, the words used in docs/design/architecture.md."


def plain(text: str | None) -> str:
    """Rich markup and typer's paragraph marks removed."""
    return Text.from_markup((text or "").replace("\b", "")).plain.strip()


def roff(text: str) -> str:
    """Text as roff takes it literally."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in escaped.splitlines())


def first_sentence(text: str) -> str:
    return re.split(r"(?<=\w)[.:](?:\s|$)", text, maxsplit=1)[0].replace("\n", " ")


def head(name: str, version: str, sentence: str) -> list[str]:
    title = f'.TH {name.upper()} 1 "" "Urakata {version}" "Urakata"'
    return [title, ".SH NAME", f"{roff(name)} \\- {roff(sentence)}"]


def option_lines(parameters: list[Any], context: Any) -> list[str]:
    lines = []
    for parameter in parameters:
        record = parameter.get_help_record(context)
        if not record:
            continue
        text = plain(parameter.help)
        if parameter.show_default and parameter.default not in (None, False):
            text += f" (default: {parameter.default})"
        lines += [".TP", f".B {roff(plain_usage(record[0]))}", roff(text) or "\\&"]
    return lines


def epilog_lines(heading: str, command: Any) -> list[str]:
    """Examples line by line as they were written, less indented than text so that 80 columns hold them; then the exit
    codes, as text."""
    text = re.sub(r"^Examples?\n", "", plain(command.epilog))
    body = re.sub(r"\n\n(?=  )", "\n", text.strip("\n"))
    if not body:
        return []
    lines = [heading]
    for examples, part in groupby(body.splitlines(), lambda line: line.startswith("  ")):
        shown = roff("\n".join(line[2:] if examples else line for line in part))
        lines += [".nf", ".in 3n", shown, ".in", ".fi"] if examples else [re.sub("\n+", "\n.PP\n", shown).strip("\n")]
    return lines


def plain_usage(usage: str) -> str:
    """A metavar such as [DIR] is no markup."""
    return re.sub(r"\s+", " ", usage).strip()


def below(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All commands of a group and of its groups, by what is typed after the group's name."""
    for word, child in shown(command):
        yield f"{name}{word}", child
        yield from below(child, f"{name}{word} ")


def command_page(name: str, command: Any, context: Any, version: str) -> str:
    text = plain(command.help)
    lines = head(name, version, first_sentence(text))
    lines += [
        ".SH SYNOPSIS",
        f".B {roff(name.replace('-', ' ', 1))}",
        roff(" ".join(command.collect_usage_pieces(context))),
    ]
    lines += [".SH DESCRIPTION", roff(text)]
    lines += [".SH OPTIONS", *option_lines(command.get_params(context), context)]
    for sub, child in below(command):
        lines += [f".SH {roff(sub.upper())}", roff(plain(child.help))]
        lines += option_lines(child.get_params(context), context)
        lines += epilog_lines(".SS Examples", child)
    lines += epilog_lines(".SH EXAMPLES", command)
    lines += [".SH SEE ALSO", "urakata(1), urakata\\-exec(1). " + roff(SEE_ALSO)]
    return "\n".join(lines) + "\n"


def top_page(app: Any, context: Any, version: str) -> str:
    lines = head("urakata", version, first_sentence(plain(app.help)))
    lines += [".SH SYNOPSIS", ".B urakata", "COMMAND [OPTIONS] ...", ".SH DESCRIPTION", roff(plain(app.help))]
    lines += [".SH COMMANDS"]
    for name, command in shown(app):
        lines += [".TP", f".BR urakata\\-{roff(name)} (1)", roff(first_sentence(plain(command.help)))]
    lines += [".SH OPTIONS", *option_lines(app.get_params(context), context)]
    lines += epilog_lines(".SH EXAMPLES", app)
    lines += [".SH SEE ALSO", "urakata\\-exec(1). " + roff(SEE_ALSO)]
    return "\n".join(lines) + "\n"


def help_lines(text: str) -> list[str]:
    """The text of --help as paragraphs that a terminal of any width fills: what is indented is a name and, after two
    spaces or more, what it means; or an example."""
    lines: list[str] = []
    filling = ".PP"
    for line in text.splitlines():
        if line == EXPERTS:
            lines.append(f".SH {EXPERTS.rstrip(':').upper()}")
            filling = ""
            continue
        entry = re.fullmatch(r"  (\S+(?: \S+)*) {2,}(\S.*)", line)
        if entry:
            lines += [".TP", f".B {roff(entry[1])}", roff(entry[2])]
        elif line.startswith("  "):
            lines += ['.IP "" 4', roff(line.strip())]
        elif line.strip():
            lines += [filling] if filling else []
            lines.append(roff(line))
        filling = "" if line.strip() and not line.startswith("  ") else ".PP"
    return lines


def help_of(program: Path, *words: str) -> str:
    return subprocess.run([str(program), "--help", *words], capture_output=True, text=True, check=True).stdout


def program_page(program: Path, version: str) -> str:
    text = help_of(program)
    if "--expert" in text:
        text = help_of(program, "--expert")
    usage, _, described = text.strip().partition("\n")
    sentence = first_sentence(described.strip().splitlines()[0])
    lines = head(program.name, version, sentence)
    lines += [".SH SYNOPSIS", f".B {roff(re.sub('^usage: *', '', usage, flags=re.IGNORECASE))}"]
    lines += [".SH DESCRIPTION", *help_lines(described.strip())]
    lines += [".SH SEE ALSO", "urakata(1), urakata\\-run(1). " + roff(SEE_ALSO)]
    return "\n".join(lines) + "\n"


def main() -> None:
    folder, version, programs = Path(sys.argv[1]), sys.argv[2], [Path(program) for program in sys.argv[3:]]
    folder.mkdir(parents=True, exist_ok=True)
    app: Any = typer.main.get_command(build_app())
    context = app.make_context("urakata", [], resilient_parsing=True)
    (folder / "urakata.1").write_text(top_page(app, context, version))
    written_by_programs = {program.name for program in programs}
    for name, command in shown(app):
        if f"urakata-{name}" in written_by_programs:
            continue
        inner = command.make_context(f"urakata {name}", [], parent=context, resilient_parsing=True)
        (folder / f"urakata-{name}.1").write_text(command_page(f"urakata-{name}", command, inner, version))
    for program in programs:
        (folder / f"{program.name}.1").write_text(program_page(program, version))


if __name__ == "__main__":
    main()
