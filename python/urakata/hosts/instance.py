# SPDX-License-Identifier: BSD-3-Clause
"""Hosts: an instance of test hosts, from its start to its end, and the commands and jobs that run in it."""

from __future__ import annotations

import functools
import itertools
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from urakata import launcher, paths
from urakata.hosts import gateway, keeper, launch, links, long_links, wire
from urakata.hosts.command import GRACE, Command, HostsError
from urakata.hosts.sites import Sites

_PREFIX = "urakata-hosts-"
_START_LIMIT = 60.0

_UNKNOWN_LINKS = {"URAKATA_LINK_RATES": os.environ.get("URAKATA_LINK_RATES") or "measure"}

_PACKAGES = str(Path(__file__).resolve().parents[2])


def _program(module: str) -> list[str]:
    """Runs main() of a module of this package in a fresh interpreter that reads no site packages, for a fast start."""
    code = (
        f"import sys; sys.path.insert(0, {_PACKAGES!r}); from urakata.hosts.{module} import main; "
        "sys.exit(main(sys.argv[1:]))"
    )
    return [sys.executable, "-S", "-E", "-c", code]


class Hosts:
    """`count` hosts, each with a network, host name, /etc/hosts, process numbers, IPC, /dev/shm and $TMPDIR of its own;
    all other files are the machine's. Names: host0, host1, ...

    rate: of each link in each direction, such as "1gbit"; None: as fast as the machine.
    delay: one way between any two hosts, such as "8ms"; needs netem in the kernel (see available()). Not with sites.
    sites: hosts lie on several sites, joined by long links; `count` is then theirs. Hosts are numbered site by site.
    congestion: TCP's congestion control of all hosts towards other sites, such as "bbr", or one for each host; None:
    the machine's.
    settings: more of /proc/sys/net on every host, such as {"net.ipv4.tcp_slow_start_after_idle": "0"}.
    split_cpus: CPUs are dealt out to the hosts; where there are fewer CPUs than hosts, each host gets one and shares it
    with others, so that no host has more of the machine than another. False: all hosts may use all CPUs.

    A context manager; all that was started in the hosts ends with it, also when this process is killed. Instances
    exist side by side without seeing each other. Methods may be called from several threads between enter and exit.
    """

    def __init__(
        self,
        count: int = 4,
        rate: str | None = "1gbit",
        delay: str | None = None,
        split_cpus: bool = True,
        *,
        sites: Sites | None = None,
        congestion: str | Sequence[str] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        count = count if sites is None else sum(sites.sizes)
        if not 1 <= count <= links.MAX_HOSTS:
            raise ValueError(f"the number of hosts is {count}: it must be 1 to {links.MAX_HOSTS}")
        if sites is not None and delay is not None:
            raise ValueError("the delay is the sites' links' own: it is set in their settings")
        self.count = count
        self.rate = links.parse_rate(rate) if rate is not None else None
        """Bits a second of each link in each direction."""
        self.sites = sites or Sites([count])
        self._delay_us = links.parse_delay(delay) if delay is not None else None
        self._settings = _check_settings(settings or {})
        self._congestion = _for_each_host(count, congestion)
        if congestion is not None and not self.sites.pairs():
            raise ValueError("a congestion control can be chosen for long links only, so with two sites or more")
        self.names = [links.host_name(i) for i in range(count)]
        self.addresses = [links.address(self.sites.sizes, i) for i in range(count)]
        self.cpus = _share_out(count, split_cpus)
        """For each host the CPUs that its processes may use."""
        self._folder = ""
        self._link_program = ""
        self._keeper: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._lock = threading.Lock()
        self._jobs = 0
        self._numbers = itertools.count()  # of jobs

    def __enter__(self) -> Hosts:
        sweep()
        if not all(shutil.which(tool, path=links.SYSTEM_PATH) for tool in ("ip", "tc")):
            raise HostsError("the programs ip and tc are needed: install iproute2")
        if self.sites.pairs():
            if reason := gateway.tun_usable():
                raise HostsError(reason)
            self._link_program = str(paths.program("urakata-link"))
        self._folder = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_base_folder())
        try:
            self._fill_folder()
            self._start_keeper()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _fill_folder(self) -> None:
        folder = Path(self._folder)
        (folder / "tmp").mkdir()
        (folder / "hosts").write_text(links.hosts_file(self.sites.sizes))
        agent = folder / "agent"
        agent.write_text(f'#!/bin/sh\nexec {shlex.join([*_program("agent"), self._folder])} "$@"\n')
        agent.chmod(0o700)

    def _start_keeper(self) -> None:
        plan = links.Plan(
            self.sites.sizes,
            self.rate,
            self._delay_us,
            self._folder,
            self.cpus,
            settings=self._settings,
            congestion=self._congestion,
            long_links=[(*pair, self.sites.commands(*pair)) for pair in self.sites.pairs()],
            link_program=self._link_program,
        )
        self._control, far_end = socket.socketpair()
        with far_end:
            self._keeper = subprocess.Popen(
                [*_program("keeper"), str(far_end.fileno()), json.dumps(plan.__dict__)],
                stdin=subprocess.DEVNULL,
                pass_fds=[far_end.fileno()],
                start_new_session=True,  # the terminal's Ctrl-C is for the owner
            )
        self._control.settimeout(_START_LIMIT)
        try:
            answer = self._control.recv(1 << 16)
        except TimeoutError as error:
            raise HostsError(f"the hosts did not stand after {_START_LIMIT:.0f} s") from error
        reason = json.loads(answer)["error"] if answer else "the process that makes them ended at once"
        if reason:
            raise HostsError(reason)

    def _stop(self) -> None:
        if self._control:
            self._control.close()
            self._control = None
        if self._keeper:
            try:
                self._keeper.wait(timeout=_START_LIMIT)
            except subprocess.TimeoutExpired:
                self._keeper.kill()
                self._keeper.wait()
            self._keeper = None
        if self._folder:
            keeper.remove_folder(self._folder)
            self._folder = ""

    def start(
        self,
        host: int,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        capture: bool = True,
        stdin: int | None = None,
    ) -> Command:
        """Starts a command on one host, in the current folder, with `env` as its environment (the caller's if None).
        capture: keep its output for finish(); else it goes to the caller's. stdin: a descriptor; empty if None."""
        if not self._control:
            raise HostsError("the hosts stand only inside the with statement")
        request = wire.Request(list(command), dict(os.environ if env is None else env), os.getcwd())
        outputs = (os.memfd_create("stdout"), os.memfd_create("stderr")) if capture else None
        out, err = outputs or (1, 2)
        empty = os.open(os.devnull, os.O_RDONLY)
        try:
            source = empty if stdin is None else stdin
            connection = wire.ask(self._folder, self.names[host], request, (source, out, err))
        except OSError as error:
            raise HostsError(f"{self.names[host]} does not answer: {error.strerror}") from error
        finally:
            os.close(empty)
        return Command(command, connection, outputs, self)

    def execute(
        self, host: int, command: Sequence[str], *, env: Mapping[str, str] | None = None, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command on one host to its end, with its output captured."""
        return self.start(host, command, env=env).finish(timeout)

    def run(
        self,
        command: Sequence[str],
        *,
        ranks_per_host: int = 1,
        mpi_name: str | launcher.Mpi = "openmpi",
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        capture: bool = True,
        stdin: int | None = None,
        look: Callable[[], None] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs an MPI job over all hosts; the launcher is on the first. mpi_name is a name of launcher.NAMES or the
        path of a launcher. `env` is added to the caller's environment and reaches every rank. What links between sites
        carry is measured and not kept, unless option LINK_RATES says otherwise: names of hosts are the same in all
        instances, and links are not. The result is the launcher's. After `timeout` seconds the job is ended and
        subprocess.TimeoutExpired raised. HostsError where a daemon of the launcher's has failed and it does not tell.
        `look` is called again and again meanwhile; what it raises ends the job."""
        mpi = launcher.find_mpi(mpi_name) if isinstance(mpi_name, str) else mpi_name
        ranks = ranks_per_host * self.count
        job = launch.Job(
            command=command,
            hosts=self.names,
            ranks_per_host=ranks_per_host,
            agent=f"{self._folder}/agent",
            environment={**_UNKNOWN_LINKS, **(env or {})},
            failures=f"{self._folder}/failures-{next(self._numbers)}",
            crowded=ranks > len(set().union(*self.cpus)),
        )
        with self._lock:
            self._jobs += 1
        whole = False
        try:
            words = launch.command_line(mpi, job)
            started = self.start(0, words, env=launch.launcher_environment(mpi, job), capture=capture, stdin=stdin)
            done = started.finish(timeout, look)
            if done.returncode == 0 and (failed := _failures(job.failures)):
                raise HostsError(f"{mpi.launcher} lost {failed}, and ended with 0 all the same: ranks may be missing")
            whole = True
            return done
        finally:
            with self._lock:
                self._jobs -= 1
                if not whole and self._jobs == 0:
                    self._clear()

    def _clear(self) -> None:
        """Kills what a job that was cut off has left on the hosts."""
        for host in range(self.count):
            try:
                self.execute(host, ["/bin/sh", "-c", "kill -KILL -1"], timeout=GRACE)
            except (HostsError, subprocess.TimeoutExpired):
                return

    def counters(self) -> list[tuple[int, int]]:
        """For each host the bytes that its link has received and sent so far, headers included."""
        names = [f"/sys/class/net/eth0/statistics/{direction}_bytes" for direction in ("rx", "tx")]
        texts = [self.execute(host, ["cat", *names], timeout=10).stdout.split() for host in range(self.count)]
        return [(int(received), int(sent)) for received, sent in texts]

    def control(self, first: int, second: int, command: str) -> dict[str, Any]:
        """Gives a command to the long link between two sites, the first of which has the lower number: see
        long_links.ask()."""
        return long_links.ask(self._folder, first, second, command)

    def start_module(self, host: int, module: str, arguments: Sequence[str]) -> Command:
        """Starts main() of a module of this package on a host."""
        return self.start(host, [*_program(module), *arguments])


def _check_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """What to write below /proc/sys on every host."""
    for name in settings:
        if not name.startswith("net.") or ".." in name or "/" in name:
            raise ValueError(f"the setting {name!r} is not one of a host's network, such as net.ipv4.tcp_rmem")
    return dict(settings)


def _for_each_host(count: int, congestion: str | Sequence[str] | None) -> list[str | None]:
    """For each host its congestion control, None: the machine's."""
    each: list[str | None] = (
        [congestion] * count if congestion is None or isinstance(congestion, str) else [*congestion]
    )
    if len(each) != count:
        raise ValueError(f"{len(each)} congestion controls are named for {count} hosts")
    known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    for name in filter(None, each):
        if name not in known:
            raise ValueError(f"this kernel has no congestion control {name!r}: there are {', '.join(known)}")
    return each


def _share_out(count: int, split: bool) -> list[list[int]]:
    usable = sorted(os.sched_getaffinity(0))
    if not split:
        return [usable] * count
    if len(usable) < count:
        return [[usable[i % len(usable)]] for i in range(count)]
    each = len(usable) // count
    return [usable[i * each : (i + 1) * each] for i in range(count)]


def _base_folder() -> str:
    """Where the folders of instances are; a Unix socket's path must stay short."""
    folder = tempfile.gettempdir()
    return folder if len(folder) < 60 else "/tmp"


def _failures(file: str) -> str:
    """In words, which of a launcher's daemons have failed, the first by name; empty: none has."""
    try:
        lines = Path(file).read_text(encoding="ascii").splitlines()
    except OSError:
        return ""
    if not lines:  # a daemon is about to write
        return ""
    host, status = lines[0].split()
    how = f"exit code {status}" if int(status) > 0 else f"signal {-int(status)}"
    return f"its daemon on {host} ({how})" + (f" and {len(lines) - 1} more" if len(lines) > 1 else "")


def running(owner: int | None) -> str:
    """The folder of the one instance with sites that runs, or of that which a process has made: see long_links."""
    return long_links.running(_base_folder(), _PREFIX, owner)


def sweep() -> None:
    """Removes folders whose owner was killed together with its keeper; nothing else of an instance can be left."""
    for folder in Path(_base_folder()).glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            keeper.remove_folder(str(folder))


@functools.cache
def available(delay: bool = False, sites: bool = False) -> tuple[bool, str]:
    """Whether test hosts can be made here, found by making two; if not, why. delay: with delayed links. sites: on two
    sites, joined by a long link."""
    try:
        started = time.monotonic()
        with Hosts(count=2, delay="1ms" if delay else None, sites=Sites([1, 1]) if sites else None) as hosts:
            name = hosts.execute(1, ["uname", "-n"], timeout=_START_LIMIT).stdout.strip()
        seconds = time.monotonic() - started
    except (HostsError, paths.NotFoundError) as error:
        return False, str(error)
    if name != links.host_name(1):
        return False, f"a host is called {name!r} instead of {links.host_name(1)!r}"
    return True, f"two hosts made and ended in {seconds:.2f} s"
