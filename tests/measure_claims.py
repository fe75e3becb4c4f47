#!/usr/bin/env python3
"""Runs the commands of claims, and writes the lines that they print into tests/claims.json and its document.

usage: measure_claims.py [--files FOLDER] NUMBER|TEXT…

NUMBER counts the claims of tests/claims.json from 1. TEXT selects the claims whose sentence has it. `GRAPHS` in a
command stands for FOLDER, and `FILE…` for the graphs in it: by default ../shared/graphs where it is present,
otherwise samples/joint. The lines of the output that match `keep` become the claim's `output`, and its machine and
date those of this run. A command that fails, or prints no such line, leaves its claim as it was; the exit code is 1
then. Each claim is written as soon as it is measured, so that a run may be stopped.
"""
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

import claims

ROOT = pathlib.Path(__file__).resolve().parents[1]


def machine():
    """The processor's name, the number of cores and the architecture."""
    name = ""
    if os.path.exists("/proc/cpuinfo"):
        found = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        name = f", {found[1].strip()}" if found else ""
    return f"{os.cpu_count()} cores, {platform.machine().replace('_', '-')}{name}{gpu()}"


def gpu():
    """The name of the GPU behind a comma, or nothing where there is none."""
    if not shutil.which("nvidia-smi"):
        return ""
    asked = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    names = asked.stdout.splitlines()
    return f", {names[0].strip()}" if asked.returncode == 0 and names else ""


def selected(rows, words):
    """The numbers of the claims that the words name, from 1."""
    for number, row in enumerate(rows, 1):
        if any(word == str(number) or (not word.isdigit() and word.lower() in row["claim"].lower()) for word in words):
            yield number


def output_of(row, folder):
    """The kept lines of the output of a claim's commands, or a fault."""
    commands = row["command"] if isinstance(row["command"], list) else [row["command"]]
    lines = []
    for command in commands:
        files = " ".join(str(path) for path in sorted(folder.glob("*.json.gz")))
        text = command.replace("FILE…", files).replace("GRAPHS/", f"{folder}/")
        run = subprocess.run(["bash", "-c", text], cwd=ROOT, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if run.returncode != 0:
            return None, f"{command}: exit code {run.returncode}\n{run.stderr[-2000:]}"
        lines += [line.rstrip() for line in run.stdout.splitlines() if re.search(row["keep"], line)]
    return (lines, None) if lines else (None, f"no line of the output matches {row['keep']}")


def main():
    words = sys.argv[1:]
    folder = ROOT.parent / "shared" / "graphs"
    if not folder.is_dir():
        folder = ROOT / "samples" / "joint"
    if words[:1] == ["--files"] and len(words) > 1:
        folder, words = pathlib.Path(words[1]).resolve(), words[2:]
    if not words:
        print(__doc__)
        return 2

    path = ROOT / claims.CLAIMS
    rows = json.loads(path.read_text(encoding="utf-8"))
    failed = 0
    for number in selected(rows, words):
        row = rows[number - 1]
        if "keep" not in row:
            print(f"claim {number} has no `keep`: {row['claim']}")
            failed += 1
            continue
        lines, fault = output_of(row, folder)
        if fault:
            print(f"claim {number}: {fault}")
            failed += 1
            continue
        row |= {"output": lines, "machine": machine(), "date": datetime.date.today().isoformat()}
        path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"claim {number}: {len(lines)} lines")
    (ROOT / claims.DOCUMENT).write_text(claims.render(rows), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
