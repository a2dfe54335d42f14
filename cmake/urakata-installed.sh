#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The urakata command of an installation. URA_PYTHON names another Python; it needs typer, rich, jinja2 and matplotlib,
# and tomli where it is older than 3.11.
prefix=$(dirname "$(dirname "$(readlink -f "$0")")")
PYTHONPATH="$prefix/share/urakata/python${PYTHONPATH:+:$PYTHONPATH}"
URA_COMMAND=$0 # for what it tells its user to type
export URA_COMMAND PYTHONPATH
exec "${URA_PYTHON:-python3}" -m urakata "$@"
