#!/usr/bin/env python3
"""Runs clang-tidy with the checks of .clang-tidy over the tree; its warnings are errors.

usage: tidy.py --all        every source, all sources of a target as one: headers are read once
       tidy.py --changed    sources that differ from the branch main of origin, and those of such headers
       tidy.py FILE...      these sources

Compiler words are those of build/release, which has to be configured and to have
made its generated sources.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/release"
FOLDER = ROOT / "build/tidy"
TIDY = os.environ.get("CLANG_TIDY", "clang-tidy-14")
OWN = re.compile(r"^(engine|gui|native|tests|wasm)/")


def unity_sources(path):
    """The sources that a unity source includes, or the source itself."""
    if "/Unity/" not in path:
        return [path]
    return re.findall(r'#include "([^"]+)"', pathlib.Path(path).read_text())


def read_targets():
    """Of each target of ours: its sources by the compiler words that they are compiled with."""
    targets = collections.defaultdict(list)
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", entry["command"])[1]
        words = re.sub(r" -o \S+ -c \S+$", "", entry["command"])
        words = re.sub(r"^.*?(?:c\+\+|g\+\+\S*|clang\+\+\S*) ", "", words)
        sources = [s for s in unity_sources(entry["file"])
                   if OWN.match(os.path.relpath(s, ROOT))]
        # A source that is kept out of unity builds has names of its own.
        alone = "/Unity/" not in entry["file"]
        for source in sources:
            # Tests' names are one name a folder (.setup/cmake/unity.cmake).
            part = pathlib.Path(source).parent.name if target == "recut_tests" else ""
            part = pathlib.Path(source).stem if alone else part
            targets[f"{target}-{part}" if part else target, words].append(source)
    return targets


def write_unit(name, words, sources):
    """One source that includes others, and the command that compiles it."""
    unit = FOLDER / f"{name}.cpp"
    text = "".join(f'#include "{source}"\n' for source in sorted(sources))
    if not unit.exists() or unit.read_text() != text:
        unit.write_text(text)
    return {"directory": str(BUILD), "file": str(unit),
            "command": f"clang++ -Wno-everything {words} -Wno-everything -c {unit}"}


def changed_sources():
    base = subprocess.run(["git", "merge-base", "HEAD", "origin/main"], cwd=ROOT, text=True,
                          capture_output=True).stdout.strip() or "HEAD"
    listed = []
    for command in (["git", "diff", "--name-only", "--diff-filter=d", base],
                    ["git", "ls-files", "--others", "--exclude-standard"]):
        listed += subprocess.run(command, cwd=ROOT, text=True, capture_output=True).stdout.split()
    return {str(ROOT / pathlib.Path(path).with_suffix(".cpp"))
            for path in listed if path.endswith((".cpp", ".h"))}


def make_units(wanted):
    """The units to look at: of each target the sources that are wanted, or all."""
    units = []
    for (target, words), sources in sorted(read_targets().items()):
        looked_at = [s for s in sources if wanted is None or s in wanted]
        if looked_at:
            units.append(write_unit(target, words, looked_at))
    return units


def look_at(unit):
    header = f"^{ROOT}/(engine|gui|native|tests|wasm)/"
    done = subprocess.run([TIDY, "--quiet", "-p", str(FOLDER), f"--header-filter={header}",
                           "--warnings-as-errors=*", unit["file"]], text=True, capture_output=True)
    # Headers are met in several units: each finding once.
    found = re.split(r"(?m)^(?=\S+:\d+:\d+: (?:warning|error): )", done.stdout)
    return done.returncode, [f for f in found if re.match(r"\S+:\d+:\d+: ", f)], done.stderr


def main():
    words = sys.argv[1:]
    if not words:
        sys.exit(__doc__)
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = (None if words == ["--all"] else changed_sources() if words == ["--changed"]
              else {str(pathlib.Path(word).resolve()) for word in words})
    units = make_units(wanted)
    (FOLDER / "compile_commands.json").write_text(json.dumps(units))
    # The longest first, so that no processor waits for it alone.
    units.sort(key=lambda unit: -len(pathlib.Path(unit["file"]).read_text()))
    seen, failed = set(), False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for unit, (code, found, errors) in zip(units, pool.map(look_at, units)):
            failed |= code != 0
            for finding in found:
                if finding not in seen:
                    seen.add(finding)
                    print(finding, end="")
            if code != 0 and not found:
                print(f"{unit['file']}: {TIDY} failed:\n{errors}")
    print(f"clang-tidy: {len(units)} units, {len(seen)} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
