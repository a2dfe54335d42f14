# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's settings for ./dev docs. The folder of sources is laid out by sources.py."""

import re
from pathlib import Path

_package = Path(__file__).parents[2] / "python" / "urakata" / "__init__.py"

project = "Urakata"
author = project_copyright = "the Urakata authors"
release = version = re.findall(r'__version__ = "(.+)"', _package.read_text())[0]

extensions = ["myst_parser"]
root_doc = "README"
myst_heading_anchors = 4  # as links in the pages name them: page.md#the-heading

highlight_language = "none"  # of a block that names no language
smartquotes = False  # or the two hyphens of an option become a dash
html_theme = "furo"
html_title = f"Urakata {version}"
html_show_sphinx = html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
