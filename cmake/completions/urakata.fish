# Completion for fish.
_URAKATA_COMPLETE=source_fish urakata | source
