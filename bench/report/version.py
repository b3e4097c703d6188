"""The version that tools of a script language answer to --version: that of the library beside them."""

import pathlib
import re

BASE = pathlib.Path(__file__).resolve().parents[2] / "include" / "schedq" / "base.h"


def text():
    """MAJOR.MINOR.PATCH"""
    return ".".join(re.findall(r"^#define SCHEDQ_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", BASE.read_text(), re.MULTILINE))


def add_to(parser):
    """Gives an argument parser the option --version."""
    parser.add_argument("--version", action="version", version=f"{parser.prog} {text()}")
