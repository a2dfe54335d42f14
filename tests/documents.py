# SPDX-License-Identifier: BSD-3-Clause
"""Checks the documents of the tree: `documents.py [FILE...]`, all Markdown files without a FILE. `./dev lint` runs it.

| rule | limit | exempt |
| --- | --- | --- |
| line | 100 columns; a row of a table 200 | code blocks; a line that is nothing but one link, image or URL |
| sentence | 40 words, 30 in README.md; inline code is one word | headings, code blocks, CHANGELOG.md |
| paragraph | 120 words; a list item or a table's cell is a paragraph | headings, code blocks, CHANGELOG.md |
| length | README.md 120 lines, docs/design/architecture.md 300, a file in docs/design/decisions/ 60 | |
| link | a relative link leads to a file of the tree, its anchor to a heading there | |
| path | inline code that begins with a folder of sources names something of the tree | CHANGELOG.md |
| command | what follows `urakata`, `urakata-exec` or `./dev` exists, in code blocks and in inline code | CHANGELOG.md |

A command is read by its own parser and not run. In a code block with `$` prompts, only lines with one are commands.
Needs PYTHONPATH=python. The exit code is 1 if something was found.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

COLUMNS, ROW_COLUMNS, SENTENCE, README_SENTENCE, PARAGRAPH = 100, 200, 40, 30, 120
LENGTHS = {"README.md": 120, "docs/design/architecture.md": 300, "docs/design/decisions/*.md": 60}
CHANGES = "CHANGELOG.md"

LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
FENCE = re.compile(r"\s*(```+|~~~+)")
INLINE_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
PATH = re.compile(r"`((?:src|exec|include|bench|tests|python|cmake|docs|examples)/[^`A-Z ]+)`")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", re.DOTALL)
ONLY_A_LINK = re.compile(r"(?:[-*+]\s+)?(?:!?\[[^\]]*\]\([^)]*\)|<?https?://\S+>?|\[[^\]]+\]:\s*\S+)[.,;:]?")
ABBREVIATIONS = {"e.g.", "i.e.", "vs.", "cf.", "etc."}
LAUNCHERS = {"mpirun", "mpiexec", "srun", "sudo", "env", "nohup", "salloc"}


@dataclass(frozen=True, order=True)
class Fault:
    """What is wrong in a line (counted from 1) of a file, and what to do."""

    file: str
    line: int
    rule: str
    advice: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.advice}"


@dataclass
class Block:
    """Neighbouring lines of one kind: text, row (of a table), heading or code. Text has the marks of lists removed."""

    kind: str
    line: int
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def blocks_of(text: str) -> list[Block]:
    """The document as blocks; each list item is one of its own."""
    blocks: list[Block] = []
    fence, in_list = "", False
    fresh = True  # the last line ends a block

    def add(kind: str, line: int, content: str) -> None:
        if fresh or blocks[-1].kind != kind:
            blocks.append(Block(kind, line))
        blocks[-1].lines.append(content)

    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence:
            if mark and line.strip() == fence:
                fence, fresh = "", True
            else:
                blocks[-1].lines.append(line)
        elif mark:
            fence = mark[1]
            blocks.append(Block("code", number + 1))
        elif not line.strip():
            fresh = True
        elif line.startswith("    ") and not in_list and (fresh or blocks[-1].kind == "code"):
            if blocks and blocks[-1].kind == "code" and blocks[-1].line + len(blocks[-1].lines) == number - 1:
                blocks[-1].lines.append("")  # a blank line inside
                fresh = False
            add("code", number, line[4:])
            fresh = False
        elif line.startswith("#"):
            blocks.append(Block("heading", number, [line.lstrip("#").strip()]))
            fresh, in_list = True, False
        elif line.startswith("|"):
            fresh = True
            add("row", number, line)
        elif LIST_ITEM.match(line):
            fresh = True
            add("text", number, LIST_ITEM.sub("", line, count=1))
            fresh, in_list = False, True
        else:
            in_list = in_list and (not fresh or line.startswith(" "))
            add("text", number, line.lstrip("> "))
            fresh = False
    return blocks


def plain(text: str) -> str:
    """Text with the same line breaks, inline code as one word, and of links what is shown."""

    def with_breaks(shown: str, whole: str) -> str:
        return shown + "\n" * (whole.count("\n") - shown.count("\n"))

    text = INLINE_CODE.sub(lambda code: with_breaks("code", code[0]), text)
    return LINK.sub(lambda link: with_breaks(link[1], link[0]), text)


def sentences_of(text: str, line: int) -> Iterator[tuple[int, int, str]]:
    """(line, words, the first words) of each sentence of a paragraph that begins in this line."""
    begin, words = line, list[str]()
    for number, content in enumerate(plain(text).split("\n"), line):
        for word in content.split():
            if not words:
                begin = number
            if re.search(r"\w", word):
                words.append(word)
            if words and re.search(r"[.!?][\"')*\]]*$", word) and word.strip("(*") not in ABBREVIATIONS:
                yield begin, len(words), " ".join(words[:5])
                words = []
    if words:
        yield begin, len(words), " ".join(words[:5])


def prose_faults(file: str, blocks: list[Block]) -> Iterator[Fault]:
    most = README_SENTENCE if file == "README.md" else SENTENCE
    for block in blocks:
        if block.kind == "row":
            paragraphs = re.split(r"(?<!\\)\|", block.text.strip().strip("|"))
        elif block.kind == "text":
            paragraphs = [block.text]
        else:
            continue
        for paragraph in paragraphs:
            sentences = list(sentences_of(paragraph, block.line))
            for line, count, begin in sentences:
                if count > most:
                    yield Fault(file, line, "sentence", f"{count} words ({begin} ...); split it, {most} at most")
            total = sum(count for _, count, _ in sentences)
            if total > PARAGRAPH:
                yield Fault(file, block.line, "paragraph", f"{total} words; split it, {PARAGRAPH} at most")


def line_faults(file: str, text: str, blocks: list[Block]) -> Iterator[Fault]:
    code = {block.line + i for block in blocks if block.kind == "code" for i in range(len(block.lines))}
    for number, line in enumerate(text.splitlines(), 1):
        most = ROW_COLUMNS if line.startswith("|") else COLUMNS
        if len(line) > most and number not in code and not ONLY_A_LINK.fullmatch(line.strip()):
            advice = "shorten the row, or tell it below the table" if most == ROW_COLUMNS else "break the line"
            yield Fault(file, number, "line", f"{len(line)} columns; {advice}, {most} at most")


def length_faults(file: str, text: str) -> Iterator[Fault]:
    for pattern, most in LENGTHS.items():
        count = len(text.splitlines())
        if Path(file).match(pattern) and Path(file).parent == Path(pattern).parent and count > most:
            yield Fault(file, most + 1, "length", f"{count} lines; move or drop something, {most} at most")


def anchor_of(heading: str) -> str:
    """As GitHub makes it."""
    shown = LINK.sub(lambda link: link[1], heading).lower()
    return re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")


def anchors_of(text: str) -> set[str]:
    anchors: set[str] = set()
    for block in blocks_of(text):
        if block.kind == "heading":
            name = base = anchor_of(block.text)
            count = 0
            while name in anchors:
                count += 1
                name = f"{base}-{count}"
            anchors.add(name)
    return anchors | set(re.findall(r"<a\s+(?:id|name)=\"([^\"]+)\"", text))


def link_faults(root: Path, file: str, blocks: list[Block]) -> Iterator[Fault]:
    for block in blocks:
        if block.kind == "code":
            continue
        text = INLINE_CODE.sub(lambda code: "\n" * code[0].count("\n"), block.text)
        for link in LINK.finditer(text):
            place, _, anchor = link[2].partition("#")
            line = block.line + text[: link.start()].count("\n")
            if re.match(r"[a-z]+:", link[2]):
                continue
            target = (root / file).parent / place if place else root / file
            if not target.exists():
                yield Fault(file, line, "link", f"there is no {link[2]}; name a file of the tree, relative to this one")
            elif anchor and target.suffix == ".md" and anchor not in anchors_of(target.read_text()):
                near = difflib.get_close_matches(anchor, anchors_of(target.read_text()), 1)
                yield Fault(
                    file, line, "link", f"{link[2]}: no such heading" + (f"; is it #{near[0]}?" if near else "")
                )


def path_faults(root: Path, file: str, blocks: list[Block]) -> Iterator[Fault]:
    for block in blocks:
        for path in PATH.finditer(block.text) if block.kind != "code" else ():
            if not (root / path[1]).exists():
                line = block.line + block.text[: path.start()].count("\n")
                yield Fault(file, line, "path", f"there is no {path[1]}; name what stands in its place")


class Commands:
    """What may follow `urakata`, `urakata-exec` and `./dev`. A fault is what is wrong, as text."""

    def __init__(self, root: Path) -> None:
        import typer

        from urakata.cli import build_app
        from urakata.goals import command

        self.app: Any = typer.main.get_command(build_app())
        self.goals: Any = typer.main.get_command(command.build_app())
        rows = (root / "src/base/options/option_table.cpp").read_text()
        self.options = {name.lower().replace("_", "-") for name in re.findall(r'Option\{\s*"([A-Z_]+)"', rows)}
        words = (root / "exec/command_line.cpp").read_text()
        self.switches = set(re.findall(r'argument == "(--?[a-zA-Z-]+)"', words)) - {"--"}
        dev = (root / "dev").read_text()
        last = dev[dev.index('case "${1:-help}" in') :]
        self.dev = {n for names in re.findall(r"^  ([a-z |-]+)\)", last, re.MULTILINE) for n in names.split(" | ")}
        self.parts = set(re.search(r'full_parts="([^"]*)"', dev)[1].split())  # type: ignore[index]

    def faults(self, words: list[str], whole: bool) -> Iterator[str]:
        """Of a command line that begins with one of the three; `whole`: it may not lack an argument."""
        program, rest = words[0].rsplit("/", 1)[-1], words[1:]
        if program == "urakata-exec":
            yield from self._exec(rest)
        elif program == "dev":
            yield from self._dev(rest, whole)
        else:
            yield from self._parsed(self.app, "urakata", rest, whole)

    def _setting(self, setting: str) -> Iterator[str]:
        name = setting.partition("=")[0].lower().replace("_", "-")
        if name not in self.options | {"name"}:
            yield f"--set {setting}: no such option{_nearest(name, self.options)}"

    def _parsed(self, command: Any, name: str, words: list[str], whole: bool) -> Iterator[str]:
        context = None
        while getattr(command, "commands", None) and words and not words[0].startswith("-"):
            context = command.make_context(name, [], parent=context, resilient_parsing=True)
            word, *words = words
            if word not in command.commands:
                if word.isupper():  # COMMAND
                    return
                yield f"{name} has no command {word}{_nearest(word, command.commands)}"
                return
            command, name = command.commands[word], f"{name} {word}"
            if command.hidden:
                yield f"{name} is an earlier name of another command"
        own = words[: words.index("--")] if "--" in words else words
        for before, after in pairwise(own):
            if before == "--set":
                yield from self._setting(after)
        if getattr(command, "commands", None) and not words:
            return
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                command.make_context(name, list(words), parent=context)
        except Exception as error:  # click's own classes are typer's in newer ones
            kind = type(error).__name__
            text = str(getattr(error, "message", "")) or str(error)
            lacks = kind in ("MissingParameter", "NoArgsIsHelpError")
            of_the_reader = "does not exist" in text or any(re.fullmatch("[A-Z_]+", word) for word in own)
            if kind == "Exit" or (lacks and not whole) or (kind == "BadParameter" and of_the_reader):
                return  # --help; a file, or a placeholder such as PID
            yield f"{name}: {text or 'an argument is missing'}"

    def _exec(self, words: list[str]) -> Iterator[str]:
        words = list(words)
        while words and words[0] != "--" and words[0].startswith("-"):
            option, equals, value = words.pop(0).partition("=")
            if option in self.switches:
                continue
            if option[2:] not in self.options | {"set"}:
                yield f"urakata-exec has no option {option}{_nearest(option[2:], self.options)}"
                return
            if not equals and words and words[0] != "--":
                value = words.pop(0)
            if option == "--set":
                yield from self._setting(value)

    def _dev(self, words: list[str], whole: bool) -> Iterator[str]:
        if not words:
            return
        name, *rest = words
        allowed: dict[str, set[str]] = {
            "test": {"--full", *self.parts},
            "lint": {"--full"},
            "wheel": {"x86_64", "aarch64", "PROCESSOR"},
        }
        if name not in self.dev:
            if name != "COMMAND":
                yield f"./dev has no command {name}{_nearest(name, self.dev)}"
        elif name == "goals":
            yield from self._parsed(self.goals, "./dev goals", rest, whole)
        else:
            for word in rest:
                if word not in allowed.get(name, set()):
                    yield f"./dev {name} does not take {word}"


def _nearest(word: str, names: Any) -> str:
    near = difflib.get_close_matches(word, names, 1)
    return f"; is it {near[0]}?" if near else ""


def words_of(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:  # a quotation mark of prose
        return line.split()


def command_lines(line: str) -> Iterator[list[str]]:
    """The parts of a shell line that begin with one of the three commands, or with a launcher and one of them."""
    spaced = re.sub(r"(?<=\s)(&&|\|\||\||;)(?=\s)|;(?=\s)", r" ; ", line)
    parts: list[list[str]] = [[]]
    for word in words_of(spaced):
        if word in (";", "|", "&&", "||"):
            parts.append([])
        elif word not in ("...", "&", "\\") and not re.match(r"\[|2?>", word):
            parts[-1].append(word)
    for part in parts:
        while part and re.fullmatch(r"[A-Z_]+=.*", part[0]):
            part = part[1:]
        yield from _behind(part)


def _is_ours(word: str) -> bool:
    return word == "./dev" or word.rsplit("/", 1)[-1] in ("urakata", "urakata-exec")


def _behind(words: list[str]) -> Iterator[list[str]]:
    if words and words[0].rsplit("/", 1)[-1] in LAUNCHERS:
        words = words[next((i for i, word in enumerate(words) if _is_ours(word)), len(words)) :]
    if words and _is_ours(words[0]):
        yield words
        if "--" in words:  # a rank's command, as in `urakata hosts run -- urakata-exec -- ./app`
            yield from _behind(words[words.index("--") + 1 :])


def commands_in(blocks: list[Block]) -> Iterator[tuple[int, bool, list[str]]]:
    """(line, whether it is in a code block, words) of each."""
    for block in blocks:
        if block.kind == "code":
            prompts = any(line.lstrip().startswith("$ ") for line in block.lines)
            held, begin = "", block.line
            for number, line in enumerate(block.lines, block.line):
                if not held:
                    begin = number
                    if prompts and not line.lstrip().startswith("$ "):
                        continue
                held += line.strip().removeprefix("$ ")
                if held.endswith("\\"):
                    held = held[:-1] + " "
                    continue
                for words in command_lines(held):
                    yield begin, True, words
                held = ""
        elif block.kind != "heading":
            for code in INLINE_CODE.finditer(block.text):
                at = block.line + block.text[: code.start()].count("\n")
                for words in command_lines(code[2].replace("\n", " ").replace("\\|", "|")):
                    yield at, False, words


@cache
def commands(root: Path) -> Commands:
    return Commands(root)


def faults_of(root: Path, file: str) -> list[Fault]:
    """All of a document, whose path is relative to the tree's."""
    text = (root / file).read_text()
    blocks = blocks_of(text)
    faults = [*line_faults(file, text, blocks), *link_faults(root, file, blocks), *length_faults(file, text)]
    if file != CHANGES:
        faults += [*prose_faults(file, blocks), *path_faults(root, file, blocks)]
        for line, whole, words in commands_in(blocks):
            faults += [Fault(file, line, "command", fault) for fault in commands(root).faults(words, whole)]
    return sorted(faults)


def documents(root: Path) -> list[str]:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(name for name in names if (root / name).exists())


def main() -> None:
    root = Path(__file__).resolve().parents[1]
    files = [str(Path(file).resolve().relative_to(root)) for file in sys.argv[1:]] or documents(root)
    faults = [fault for file in files for fault in faults_of(root, file)]
    for fault in faults:
        print(fault)
    if faults:
        print(f"{len(faults)} faults in {len({fault.file for fault in faults})} of {len(files)} documents")
        sys.exit(1)


if __name__ == "__main__":
    main()
