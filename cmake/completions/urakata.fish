# SPDX-License-Identifier: BSD-3-Clause
# Completion for fish.
_URAKATA_COMPLETE=source_fish urakata | source
