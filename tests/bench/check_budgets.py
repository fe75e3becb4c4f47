#!/usr/bin/env python3
"""Checked steps on the processor at falling budgets: every graph before and after the passes, with no budget, within
60 % and 40 % of its peak and at the lowest that Recut lays out. A row each: the peak planned and measured, how far the
outputs are from the interpreter's, and what keeps a budget from being held.

usage: check_budgets.py [--recut build/release/recut] [--threads 2] FILE.json.gz...

Exit code 1 where an output differs or a measured peak isn't the planned one.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import subprocess

LEAST = re.compile(r"the (?:least that Recut can plan|lowest that Recut laid out) is [^(]*\((\d+) bytes\)")
PROVED = re.compile(r"proved: no order of this graph goes below [^(]*\((\d+) bytes\)")


def run(options: argparse.Namespace, file: str, passes: list[str], budget: str) -> tuple[dict | None, str]:
    """The command's figures and its errors."""
    command = [options.recut, "run", file, "--check", "--json", "--no-cache", "--steps", "1", "--budget", budget]
    done = subprocess.run(command + ["--threads", str(options.threads)] + passes, capture_output=True, text=True)
    report = json.loads(done.stdout) if done.stdout else {}
    return (report if "measured_peak_bytes" in report else None), done.stderr  # else it was refused


def at_least_peak(options: argparse.Namespace, file: str, passes: list[str]) -> tuple[str, dict | None, str]:
    """From one byte up to what each refusal names as the least."""
    budget = "1"
    for _ in range(6):
        ran, fault = run(options, file, passes, budget)
        named = LEAST.search(fault)
        if ran or not named or named[1] == budget:
            break
        budget = named[1]
    return budget, ran, fault


def row(name: str, passes: str, budget: str, ran: dict | None, fault: str) -> tuple[str, bool]:
    begin = f"{name:22} {passes:7} {budget:>12}  "
    if ran is None:
        least, proved = LEAST.search(fault), PROVED.search(fault)
        if not least:
            return begin + fault.strip(), False
        message = f"not held: the least is {int(least[1]):,} bytes"
        return begin + message + (f", {int(proved[1]):,} proved" if proved else ""), True
    exact = ran["measured_peak_bytes"] == ran["planned_peak_bytes"]
    message = f"{ran['planned_peak_bytes']:13,} planned {ran['measured_peak_bytes']:13,} measured"
    message += f"  {ran['max_relative_error']:.1e}"
    if ran["outputs_by_rounding"]:
        message += f", {ran['outputs_by_rounding']} of {ran['outputs']} within rounding"
    return begin + message + ("" if ran["ok"] else "  DIFFERS") + ("" if exact else "  NOT THE PEAK"), ran["ok"] and exact


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recut", default="build/release/recut")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    sound = True
    for file in options.files:
        name = pathlib.Path(file).name.removesuffix(".json.gz")
        for message, passes in (("before", ["--no-passes"]), ("after", [])):
            rows = [(budget, *run(options, file, passes, budget)) for budget in ("none", "60%", "40%")]
            rows.append(at_least_peak(options, file, passes))
            for budget, ran, fault in rows:
                line, good = row(name, message, budget, ran, fault)
                sound = sound and good
                print(line, flush=True)
    return 0 if sound else 1


if __name__ == "__main__":
    raise SystemExit(main())
