# SPDX-License-Identifier: BSD-3-Clause
"""The reference of a C header: its comments as text, and each declaration with the comment that stands above it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import rst

_TOKEN = re.compile(
    r"^/\*(?! SPDX-)(?P<comment>.*?)\*/$"
    r"|^URAKATA_API (?P<function>[^;]*);$"
    r"|^static inline (?P<inline>[^{]*) \{$"
    r"|^typedef struct \w+ (?P<opaque>\w+);$"
    r"|^typedef struct (?P<struct>\w+) \{$(?P<members>.*?)^\} \w+;$",
    re.MULTILINE | re.DOTALL,
)
_MEMBER = re.compile(r"^  (?P<declared>[^;]+);(?:\s*/\*(?P<comment>.*?)\*/)?$", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"--- (.*) ---")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(comment: str) -> Iterator[str]:
    """The comment's paragraphs: headings, code (which is indented) and prose."""
    plain = re.sub(r"^ \*(?: |$)", "", comment.removeprefix(" "), flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", plain.strip()):
        if section := _SECTION.fullmatch(paragraph):
            yield rst.title(section[1], "-")
        elif all(line.startswith("    ") for line in paragraph.splitlines()):
            yield rst.code(paragraph, "c")
        else:
            yield rst.escaped(paragraph.strip())


def _members(text: str) -> str:
    return "\n\n".join(
        rst.described("c:member", [_one_line(one["declared"])], rst.escaped(_one_line(one["comment"] or "")))
        for one in _MEMBER.finditer(text)
    )


def reference(header: str) -> Iterator[str]:
    """Functions that follow one another without a line between share the comment above them."""
    above: list[str] = []
    functions: list[str] = []
    tokens = list(_TOKEN.finditer(header))
    for number, token in enumerate(tokens):
        end = token.end() + 1
        followed = number + 1 < len(tokens) and tokens[number + 1].start() == end
        if token["comment"]:
            above = list(_text(token["comment"]))
            if not followed or _SECTION.search(token["comment"]):
                yield from above
                above = []
            continue
        if declared := token["function"] or token["inline"]:
            functions.append(_one_line(declared))
            if followed and tokens[number + 1]["function"]:
                continue
            yield rst.described("c:function", functions, "\n\n".join(above))
            functions = []
        elif token["opaque"]:
            yield rst.described("c:struct", [token["opaque"]], "\n\n".join(above))
        else:
            yield rst.described("c:struct", [token["struct"]], "\n\n".join([*above, _members(token["members"])]))
        above = []
