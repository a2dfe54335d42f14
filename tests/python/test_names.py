# SPDX-License-Identifier: BSD-3-Clause
"""Constants of one file do not hide those of a header.

Several files are compiled as one (CMAKE_UNITY_BUILD). A function or type that two of them have is an error of the
compiler, but a constant in one's anonymous namespace is taken by another in place of a header's, without a word.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from urakata import paths

CONSTANT = re.compile(r"^(?:inline |extern |static )*const(?:expr|init)? .*?\b(k[A-Z]\w*)\b", re.MULTILINE)
ENUMERATION = re.compile(r"^enum [^{;]*\{(.*?)\}", re.MULTILINE | re.DOTALL)
ENUMERATOR = re.compile(r"\b(k[A-Z]\w*)\b\s*(?:=[^,]*)?(?:,|$)")
ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)


def constants(text: str) -> set[str]:
    found = set(CONSTANT.findall(text))
    for body in ENUMERATION.findall(text):
        found.update(ENUMERATOR.findall(re.sub(r"//.*", "", body)))
    return found


def hidden(layer: Path, base: Path) -> list[str]:
    """FILE: NAME for each constant of a file that a header that it may include has as well."""
    headers = [*layer.rglob("*.hpp"), *base.rglob("*.hpp")]
    outer = set().union(*(constants(header.read_text()) for header in headers))
    return [
        f"{file.parent.name}/{file.name}: {name}"
        for file in sorted(layer.rglob("*.cpp"))
        for body in ANONYMOUS.findall(file.read_text())
        for name in sorted(constants(body) & outer)
    ]


def test_constants_are_found(tmp_path: Path) -> None:
    header = "enum Row : std::size_t {\n  kNap,  // kNone\n  kLast = 7\n};\nextern const std::array<int, 2> kTable;\n"
    (tmp_path / "a.hpp").write_text(header)
    body = "constexpr int kNap = 1;\nconstexpr std::array kTable = {1};\nconstexpr int kOther = 2;\n"
    (tmp_path / "b.cpp").write_text(f"namespace urakata {{\nnamespace {{\n{body}}}\n}}\nconstexpr int kLast = 1;\n")
    assert hidden(tmp_path, tmp_path) == [f"{tmp_path.name}/b.cpp: kNap", f"{tmp_path.name}/b.cpp: kTable"]


def test_no_constant_of_a_file_hides_a_headers() -> None:
    tree = paths.source_tree()
    if tree is None:
        pytest.skip("this is no source tree")
    layers = [folder for folder in (tree / "src").iterdir() if folder.is_dir()]
    assert len(layers) > 10
    assert [line for layer in sorted(layers) for line in hidden(layer, tree / "src" / "base")] == []
