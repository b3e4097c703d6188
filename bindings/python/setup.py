"""Builds the module: the library from this source tree by CMake, then shim.c with it by cffi (build_ffi.py).

The library gets libc's malloc: the copy of jemalloc needs more thread-local storage than a module may ask for (RESTRICTIONS in
schedq/schedq.h). It is linked statically, so the wheel needs nothing but cffi.
"""

import os
import re
import subprocess
from typing import Any

from setuptools import setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def version() -> str:
    with open(os.path.join(ROOT, "include", "schedq", "base.h")) as header:
        return ".".join(re.findall(r"SCHEDQ_VERSION_[A-Z]+ (\d+)", header.read()))


def build_library() -> str:
    """Builds the static library under build/python of the source tree, and returns its path."""
    build = os.path.join(ROOT, "build", "python", "library")
    options = ["--preset", "library", "-B", build, "-DSCHEDQ_ALLOCATOR=system"]
    subprocess.run(["cmake", *options], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--target", "schedq"], cwd=ROOT, check=True)
    return os.path.join(build, "lib", "libschedq.a")


class BuildWithLibrary(build_ext):
    def pre_run(self, extension: Any, ffi: Any) -> None:
        """What cffi calls before it makes the module's source."""
        extension.extra_objects = [build_library()]
        self.force = True  # a newer library alone does not tell setuptools that the module is old


os.makedirs(os.path.join(ROOT, "build", "python"), exist_ok=True)  # setup.cfg
setup(version=version(), cmdclass={"build_ext": BuildWithLibrary}, cffi_modules=["build_ffi.py:make_ffi"])
