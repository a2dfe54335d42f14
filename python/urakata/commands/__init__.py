# SPDX-License-Identifier: BSD-3-Clause
"""One module a command. Each defines `register(app: typer.Typer) -> None`; urakata.cli finds them by itself."""
