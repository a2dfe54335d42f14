"""Test hosts: several 'hosts' made of namespaces on one machine, joined by links of a set rate, that run MPI jobs.

with Hosts(count=4, rate="1gbit") as hosts:
    done = hosts.run(["urakata-exec", "--", "./app"], host_mpi="openmpi")
"""

from urakata.hosts.instance import Hosts, HostsError, available

__all__ = ["Hosts", "HostsError", "available"]
