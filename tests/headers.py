#!/usr/bin/env python3
"""Compiles each header alone: it includes what it needs.

usage: headers.py [FOLDER...]     such as engine/ir; all that are compiled natively, without any

Compiler words are those of build/release, which has to be configured and to have made its generated
sources: of a source in the header's folder, or in the nearest folder above it.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

import tidy

COMPILER = os.environ.get("CLANG", "clang++-14")
# Included where names are missing on purpose.
FRAGMENTS = ("gui/imgui_config.h",)


def words_by_folder():
    """Of each folder with sources: the compiler words of one of them."""
    found = {}
    for (_, words), sources in sorted(tidy.read_targets().items()):
        for source in sources:
            found.setdefault(pathlib.Path(source).parent, words)
    return found


def words_of(header, found):
    for folder in header.parents:
        below = sorted(f for f in found if f == folder or folder in f.parents)
        if below:
            return found[below[0]]
    return ""


def complaint(header, words):
    done = subprocess.run(f"{COMPILER} {words} -Wno-everything -fsyntax-only -x c++ {header}", shell=True,
                          cwd=tidy.BUILD, text=True, capture_output=True)
    return f"{os.path.relpath(header, tidy.ROOT)}:\n{done.stderr}" if done.returncode else ""


def main():
    folders = [tidy.ROOT / word for word in sys.argv[1:] or ("engine", "gui", "native")]
    headers = sorted(header for folder in folders for header in folder.rglob("*.h")
                     if str(header.relative_to(tidy.ROOT)) not in FRAGMENTS)
    if not headers:
        sys.exit(__doc__)
    found = words_by_folder()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(lambda h: complaint(h, words_of(h, found)), headers) if text]
    print("".join(said), end="")
    print(f"headers: {len(headers)} compiled alone, {len(said)} not complete")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
