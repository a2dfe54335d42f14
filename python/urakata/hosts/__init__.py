# SPDX-License-Identifier: BSD-3-Clause
"""Test hosts: several 'hosts' made of namespaces on one machine, joined by links of a set rate, that run MPI jobs.

with Hosts(count=4, rate="1gbit") as hosts:
    done = hosts.run(["urakata-exec", "--", "./app"], mpi_name="openmpi")

The hosts can lie on several sites, joined by long links:

with Hosts(sites=Sites([4, 4], LinkSettings(delay_us=8000, rate=400_000_000, flow_rate=25_000_000))) as hosts:
    ...
"""

from urakata.hosts.command import HostsError
from urakata.hosts.instance import Hosts, available
from urakata.hosts.sites import LinkSettings, Sites

__all__ = ["Hosts", "HostsError", "LinkSettings", "Sites", "available"]
