"""What cffi compiles: the module schedq._schedq, of shim.c and the library.

The declarations are those of the headers themselves, as the C compiler's preprocessor prints them, so they cannot differ.
"""

import os
import re
import subprocess
import tempfile

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "..", "include")


def declarations() -> str:
    """The public headers and shim.h as cffi's parser takes them: preprocessed, without inline functions."""
    compiler = os.environ.get("CC", "cc").split()
    with tempfile.TemporaryDirectory() as empty:
        for header in ("stddef.h", "stdint.h"):  # cffi knows their types
            open(os.path.join(empty, header), "w").close()
        text = subprocess.run(
            [*compiler, "-E", "-P", "-nostdinc", "-DSCHEDQ_API=", "-DSQP_CDEF", "-I", empty, "-I", INCLUDE]
            + [os.path.join(HERE, "shim.h")],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    return re.sub(r"static inline.*?\n}", "", text, flags=re.DOTALL)


def make_ffi() -> cffi.FFI:
    """The library to link is set by setup.py."""
    ffi = cffi.FFI()
    ffi.cdef(declarations())
    ffi.set_source(
        "schedq._schedq",
        '#include "shim.h"',
        sources=["shim.c"],
        include_dirs=[HERE, INCLUDE],
        extra_compile_args=["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-fvisibility=hidden"],
        # What the module links stays its own: the program may have another copy of the library.
        extra_link_args=["-pthread", "-Wl,--exclude-libs,ALL", "-Wl,--strip-all"],
    )
    return ffi
