# SPDX-License-Identifier: BSD-3-Clause
"""Lays out what Sphinx reads: sources.py FOLDER. For ./dev docs.

The Markdown files of the tree lie there as in the tree, with the files that they link to, so their links hold. The
reference is made from the sources: urakata.h, the option table, the commands. Navigation follows the folders of docs/.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import commands
import header
import options
import rst
import typer

from urakata import paths
from urakata.cli import build_app
from urakata.renamed import shown

TREE = Path(__file__).resolve().parents[2]
HEADER, HEADER_PAGE = "include/urakata.h", "reference/urakata.h.rst"
PROGRAMS = ("urakata-exec", "urakata-schedule")
MORE_HELP = {"urakata-exec": ("--expert",)}
LINK = re.compile(r"\[(?P<text>[^]]*)\]\((?P<target>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)")


def listed(*patterns: str) -> list[str]:
    """Files of the tree, also those that are not committed yet, without what hosting platforms read."""
    command = ["git", "-C", str(TREE), "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(name for name in {*names} if (TREE / name).is_file() and not name.startswith("."))


def copy_page(name: str, folder: Path) -> None:
    """With the files that it links to. A link to a folder leads to its README, or is text where there is none; one to
    the header leads to its reference."""
    here = Path(name).parent

    def linked(match: re.Match[str]) -> str:
        path = os.path.normpath(here / match["target"])
        if path == HEADER:
            path = HEADER_PAGE
        elif (TREE / path / "README.md").is_file():
            path = f"{path}/README.md"
        elif (TREE / path).is_dir():
            return match["text"]
        elif (TREE / path).is_file() and not path.endswith(".md"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TREE / path, folder / path)
        return f"[{match['text']}]({os.path.relpath(path, here)}{match['anchor'] or ''})"

    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(LINK.sub(linked, (TREE / name).read_text()))


def said(program: str, *words: str) -> str:
    return subprocess.run([paths.program(program), *words], check=True, capture_output=True, text=True).stdout


def write_reference(folder: Path) -> list[str]:
    pages = {HEADER_PAGE: rst.page(rst.title("urakata.h"), *header.reference((TREE / HEADER).read_text()))}
    pages["reference/options.rst"] = rst.page(*options.reference(json.loads(said("urakata-exec", "--info", "--json"))))
    command: Any = typer.main.get_command(build_app())
    context = command.make_context("urakata", [], resilient_parsing=True)
    for name, inner in shown(command):
        if f"urakata-{name}" not in PROGRAMS:
            pages[f"reference/urakata-{name}.rst"] = commands.command_page(f"urakata {name}", inner, context)
    for name in PROGRAMS:
        pages[f"reference/{name}.rst"] = commands.program_page(name, said(name, "--help", *MORE_HELP.get(name, ())))
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return list(pages)


def toctree(pages: Iterable[str], caption: str = "") -> str:
    entries = "\n".join(f"/{page.rpartition('.')[0]}" for page in pages)
    titled = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n{titled}\n{entries}\n```\n"


def navigation(pages: list[str], reference: list[str]) -> dict[str, str]:
    """What to add to which page. README.md lists the pages of docs/, those of each folder in it, the reference, and all
    others. Of a folder deeper down that has a README this alone is in the list, and it lists its folder's."""
    groups: dict[str, list[str]] = {"docs": []}
    others, added = [], {}
    for page in sorted(pages, key=lambda page: (page.count("/"), not page.endswith("/README.md"), page)):
        folder = Path(page).parent
        if folder.parts[:1] != ("docs",):
            others.append(page)
        elif f"{folder}/README.md" in pages and str(folder) != "docs":
            if page.endswith("/README.md"):
                inside = [one for one in pages if Path(one).parent == folder and one != page]
                added[page] = toctree(inside) if inside else ""
                groups.setdefault(str(folder.parent), []).append(page)
        else:
            groups.setdefault(str(folder), []).append(page)
    others.remove("README.md")
    captions = {folder: Path(folder).name.replace("-", " ").capitalize() for folder in groups} | {"docs": "Guides"}
    lists = [toctree(some, captions[folder]) for folder, some in groups.items()]
    added["README.md"] = "".join([*lists, toctree(reference, "Reference"), toctree(others, "Project")])
    return added


def main(folder: Path) -> None:
    pages = listed("*.md")
    for page in pages:
        copy_page(page, folder)
    reference = write_reference(folder)
    for page, text in navigation(pages, reference).items():
        with (folder / page).open("a") as end:
            end.write(text)


main(Path(sys.argv[1]))
