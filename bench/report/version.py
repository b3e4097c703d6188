"""The version that tools of a script language answer to --version: that of the library beside them, or, where they are installed, that in
the file VERSION."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve()
BASE = HERE.parents[2] / "include" / "schedq" / "base.h"
INSTALLED = HERE.with_name("VERSION")


def text():
    """MAJOR.MINOR.PATCH"""
    if INSTALLED.exists():
        return INSTALLED.read_text().strip()
    return ".".join(re.findall(r"^#define SCHEDQ_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", BASE.read_text(), re.MULTILINE))


def add_to(parser):
    """Gives an argument parser the option --version."""
    parser.add_argument("--version", action="version", version=f"{parser.prog} {text()}")
