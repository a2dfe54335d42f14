# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash, loaded when it is first asked for (bash-completion), or by: source FILE
eval "$(_URAKATA_COMPLETE=source_bash urakata)"
