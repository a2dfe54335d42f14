# SPDX-License-Identifier: BSD-3-Clause
"""Another Debian in a folder, for programs that the machine's own distribution does not have, or not as new: its
packages, its Open MPI, its C library, and Urakata of this build under them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from jobs import AS_ROOT, Outcome

from urakata import paths

SUITE = "trixie"  # Debian 13
MIRROR = "http://deb.debian.org/debian"
# In mounts and process numbers of its own, so that nothing is left when it ends, the root gets the source tree and the
# build at their places. A mount point of its own, since test hosts are made from it and a chroot has none at /.
ENTER = """\
root=$1; shift
mount --make-rprivate / && mount --bind "$root" "$root"
for name in proc dev sys; do mkdir -p "$root/$name"; done
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount --rbind /sys "$root/sys"
while [ "$1" != -- ]; do mkdir -p "$root$1" && mount --rbind "$1" "$root$1"; shift; done; shift
cd "$root" && pivot_root . mnt && umount -l /mnt && cd /work-of-tests && exec "$@"
"""


class DebianRoot:
    """Where commands run as in that Debian. Files in `work` are seen there, where commands start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work-of-tests"
        self.work.mkdir(exist_ok=True)

    def run(self, command: list[str], seconds: float, environment: Mapping[str, str] | None = None) -> Outcome:
        """Ends with all that the command has started."""
        tree = paths.source_tree()
        seen = sorted({str(folder) for folder in (tree, paths.prefix().resolve()) if folder is not None})
        enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", ENTER, "enter", str(self.folder)]
        variables = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": f"{tree}/python",
            "PYTHONDONTWRITEBYTECODE": "1",
            **AS_ROOT,
            **(environment or {}),
        }
        process = subprocess.Popen(
            [*enter, *seen, "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=variables,
        )
        try:
            output, _ = process.communicate(timeout=seconds)
            return Outcome(process.returncode, output)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            return Outcome(None, output)


def mirror() -> str:
    """Where this machine's own apt has Debian from."""
    words = ["apt-get", "indextargets", "--format", "$(SITE)", "Origin: Debian", "Created-By: Packages"]
    found = subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()
    return next((site for site in found if not site.rstrip("/").endswith("-security")), MIRROR)


def _fetch(command: list[str], seconds: float) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode != 0:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        pytest.skip(f"Debian's packages cannot be fetched here: {' '.join(last)}")


def debian_root(
    parent: Path, packages: list[str], suite: str = SUITE, processor: str | None = None
) -> Iterator[DebianRoot]:
    """Made in a new folder with these packages, which takes two minutes, and removed at the end. `processor`, as Debian
    calls it: another than this machine's, which can run its programs. One of Debian 13
    that is there and has them is used if TEST_DEBIAN_ROOT names it, and stays."""
    if suite == SUITE and processor is None and (kept := os.environ.get("TEST_DEBIAN_ROOT")):
        yield DebianRoot(Path(kept))
        return
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip("a root of another Debian is made by root with debootstrap")
    folder = parent / suite
    try:
        other = [f"--arch={processor}"] if processor else []
        _fetch(["debootstrap", "--variant=minbase", *other, suite, str(folder), mirror()], 900)
        root = DebianRoot(folder)
        (folder / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")  # no daemon is started
        (folder / "usr/sbin/policy-rc.d").chmod(0o755)
        install = ["apt-get", "install", "-qq", "--no-install-recommends", "-o", "Dpkg::Options::=--force-unsafe-io"]
        done = root.run([*install, *packages], 900, {"DEBIAN_FRONTEND": "noninteractive"}) if packages else None
        if done is not None and done.code != 0:
            pytest.skip(f"Debian's packages cannot be installed here: {done.output[-300:]}")
        yield root
    finally:
        shutil.rmtree(folder, ignore_errors=True)
