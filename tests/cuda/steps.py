#!/usr/bin/env python3
"""Checked training steps on a GPU, as a table (run.sh says how it is called).

usage: steps.py RECUT FILE…
"""
import json
import os
import pathlib
import subprocess
import sys

# The least arena that one plan has may be a little below what another one's search finds.
LEAST_TRIES, LEAST_FACTOR = 8, 1.01
TIMEOUT_SECONDS = 600
ROW = "{:<14} {:>6} {:>15} {:>15} {:>13} {:>15} {:>9} {:>10} {:>9}  {}"


def call(command):
    """Exit code, what it printed, and its first error."""
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return 3, "", f"takes longer than {TIMEOUT_SECONDS} s"
    error_text = next((line for line in ran.stderr.splitlines() if "error" in line), "")
    if ran.returncode < 0:
        error_text = f"ended by signal {-ran.returncode} {error_text}"
    return ran.returncode, ran.stdout, error_text or ran.stderr.strip()


def figures_of(out):
    """What a run printed; nothing where it was refused, for then the figures are its plan's."""
    report = json.loads(out) if out else {}
    return report if "measured_peak_bytes" in report else None


def run(recut, file, budget):
    """The report of a run, or why there is none."""
    command = [recut, "run", file, "--device", "cuda", "--check", "--json", "--budget", budget]
    code, out, error_text = call(command + os.environ.get("OPTIONS", "").split())
    report = figures_of(out)
    return (report, "") if report else (None, f"exit code {code}: {error_text}")


def run_at_least(recut, file):
    """The same at the least arena that is found; None where none is."""
    _, out, error_text = call([recut, "schedule", file, "--budget", "1B", "--model", "fused",
                              "--device", "h100", "--json"])
    if not out:
        return None, error_text
    budget = json.loads(out)["arena_bytes"]
    for _ in range(LEAST_TRIES):
        report, error_text = run(recut, file, f"{budget}B")
        if report or "can't be held" not in error_text:
            break
        budget = int(budget * LEAST_FACTOR) + 64
    return report, error_text


def is_out_of_reach(budget, error_text):
    """Whether the graph has no plan within a budget that was only a guess of what it bears."""
    return budget != "least" and "can't be held" in error_text


def verdict(report):
    if report["measured_peak_bytes"] != report["planned_peak_bytes"]:
        return "NOT AS PLANNED"
    if not report["ok"]:
        return "DIFFERS"
    return "passed" if report["recorded"] else "passed, not as a graph"


def print_row(name, budget, report, error_text):
    if is_out_of_reach(budget, error_text):
        print(ROW.format(name, budget, *["-"] * 7, "no plan is within it"), flush=True)
        return
    if not report:
        print(ROW.format(name, budget, *["-"] * 7, "FAILED: " + error_text), flush=True)
        return
    print(ROW.format(name, budget, f"{report['planned_peak_bytes']:,}",
                     f"{report['measured_peak_bytes']:,}", f"{report['scratch_bytes']:,}",
                     f"{report['card_bytes_taken']:,}", f"{report['max_relative_error']:.1e}",
                     f"{report['step_ms_median']:.3f}", f"{report['compile_ms']:.0f}",
                     verdict(report)), flush=True)


def main():
    recut, files = sys.argv[1], sys.argv[2:]
    failed = steps = 0
    gpu = ""
    print(ROW.format("graph", "budget", "planned", "measured", "scratch", "taken", "error", "ms",
                     "ready ms", ""))
    for file in files:
        for budget in os.environ.get("BUDGETS", "none 60% least").split():
            report, error_text = (run_at_least(recut, file) if budget == "least"
                                 else run(recut, file, budget))
            print_row(pathlib.Path(file).name.split(".")[0], budget, report, error_text)
            if is_out_of_reach(budget, error_text):
                continue
            steps += 1
            failed += not report or not verdict(report).startswith("passed")
            gpu = report["card"] if report else gpu
    print(f"\n{steps - failed} of {steps} steps passed" + (f" on {gpu}" if gpu else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
