"""Urakata for Spack 1.0 and newer, from this source tree: docs/install.md.

Untried: written from Spack's documentation.
"""
# ruff: noqa: F403, F405  the way in which all recipes are written

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Urakata(CMakePackage):
    """Does the communication of unmodified MPI programs behind their computation: a layer between the program and its
    MPI library (Open MPI, MPICH, Intel MPI)."""

    license("BSD-3-Clause")

    version("0.1.0")

    variant("kernel", default=True, description="Engine kernel, by io_uring")
    variant("bytecode", default=False, description="urakata kernel: small collectives at network interfaces (XDP)")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("liburing", when="+kernel")
    depends_on("llvm +clang", type="build", when="+bytecode")
    depends_on("libbpf", when="+bytecode")
    depends_on("xdp-tools", when="+bytecode")

    # Of each family of MPIs the header alone is needed, which pip fetches; the MPI that runs is the user's.
    depends_on("py-pip", type="build")
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-typer@0.12:", type="run")
    depends_on("py-rich@13:", type="run")
    depends_on("py-jinja2@3.1:", type="run")
    depends_on("py-matplotlib@3.7:", type="run")
    depends_on("py-tomli@2:", type="run", when="^python@:3.10")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("URAKATA_TESTS", False),
            self.define("URAKATA_FETCH_MPI_HEADERS", True),
        ]

    def setup_run_environment(self, env):
        env.set("URA_PYTHON", self.spec["python"].command.path)
