# SPDX-License-Identifier: BSD-3-Clause
"""The study behind `urakata bench sites`: collectives across long links, by the MPI library, by Urakata and by plain
sockets.

The paper's figures (see docs/studies/sites.md): time against size, for each number of lanes and for the number that
Urakata chooses, with what its model predicted beside it.
"""
