#!/usr/bin/env python3
"""Compiles each header alone, since unity builds hide a missing include.

usage: headers.py [FOLDER...]     such as engine/ir; default: engine gui native

Takes the compile flags from build/release, which must be configured and have its generated sources: the
flags of a source in the header's folder, or in the nearest folder above it.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

import tidy

COMPILER = os.environ.get("CLANG", "clang++-14")


def flags_by_folder():
    """The compile flags of one source of each folder."""
    found = {}
    for (_, flags), sources in sorted(tidy.read_targets().items()):
        for source in sources:
            found.setdefault(pathlib.Path(source).parent, flags)
    return found


def flags_of(header, found):
    for folder in header.parents:
        below = sorted(f for f in found if f == folder or folder in f.parents)
        if below:
            return found[below[0]]
    return ""


def compile_errors(header, flags):
    done = subprocess.run(f"{COMPILER} {flags} -Wno-everything -fsyntax-only -x c++ {header}", shell=True,
                          cwd=tidy.BUILD, text=True, capture_output=True)
    return f"{os.path.relpath(header, tidy.ROOT)}:\n{done.stderr}" if done.returncode else ""


def main():
    folders = [tidy.ROOT / word for word in sys.argv[1:] or ("engine", "gui", "native")]
    headers = sorted(header for folder in folders for header in folder.rglob("*.h"))
    if not headers:
        sys.exit(__doc__)
    found = flags_by_folder()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(lambda h: compile_errors(h, flags_of(h, found)), headers) if text]
    print("".join(said), end="")
    print(f"headers: {len(headers)} compiled alone, {len(said)} not complete")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
