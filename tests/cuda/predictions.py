#!/usr/bin/env python3
"""Predicted step times beside measured ones on a GPU, after recut calibrate.

usage: predictions.py RECUT FILE…
  OPTIONS=…: more options of calibration and runs ("--precision tf32")
  BUDGETS=…: budgets of the runs (default: none 80% 60%)

Measures the GPU and each graph's kernels once (with a folder of settings of its own), then runs
steps of plans that were priced by that. Exit code 1 where a step takes more than a tenth longer or
shorter than predicted, or where arena and scratch are above the budget's bytes.
"""
import os
import pathlib
import sys
import tempfile

from steps import call, figures_of, is_out_of_reach

MOST_OFF = 0.1
ROW = "{:<14} {:>6} {:>13} {:>13} {:>8} {:>15} {:>15} {:>15}  {}"


def options():
    return os.environ.get("OPTIONS", "").split()


def run(recut, file, budget):
    """The report of a run, or why there is none."""
    command = [recut, "run", file, "--device", "cuda", "--json", "--steps", "20", "--budget", budget]
    code, out, error_text = call(command + options())
    report = figures_of(out)
    return (report, "") if report else (None, f"exit code {code}: {error_text}")


def verdict(report):
    off, most = report["predicted_step_ms"] / report["step_ms_median"] - 1, report["budget_bytes"]
    if most and report["planned_peak_bytes"] + report["scratch_bytes"] > most:
        return off, "ABOVE THE BUDGET"
    return off, "passed" if abs(off) <= MOST_OFF else "NOT AS PREDICTED"


def check(recut, file, name):
    """How many runs there were, and how many failed."""
    runs = failed = 0
    code, _, error_text = call([recut, "calibrate", "--device", "cuda", file, "--json"] + options())
    if code:
        print(f"{name}: FAILED: {error_text}", flush=True)
        return 1, 1
    for budget in os.environ.get("BUDGETS", "none 80% 60%").split():
        report, error_text = run(recut, file, budget)
        if is_out_of_reach(budget, error_text):
            print(ROW.format(name, budget, *["-"] * 6, "no plan is within it"), flush=True)
            continue
        runs += 1
        if not report:
            failed += 1
            print(ROW.format(name, budget, *["-"] * 6, "FAILED: " + error_text), flush=True)
            continue
        off, words = verdict(report)
        most = report["budget_bytes"]
        failed += words != "passed"
        print(ROW.format(name, budget, f"{report['predicted_step_ms']:.3f}",
                         f"{report['step_ms_median']:.3f}", f"{100 * off:+.1f} %",
                         f"{report['planned_peak_bytes']:,}", f"{report['scratch_bytes']:,}",
                         f"{most:,}" if most else "-", words), flush=True)
    return runs, failed


def main():
    recut, files = sys.argv[1], sys.argv[2:]
    runs = failed = 0
    with tempfile.TemporaryDirectory() as settings:
        os.environ["XDG_CONFIG_HOME"] = settings
        print(ROW.format("graph", "budget", "predicted ms", "measured ms", "off", "arena",
                         "scratch", "budget", ""))
        for file in files:
            more, wrong = check(recut, file, pathlib.Path(file).name.split(".")[0])
            runs += more
            failed += wrong
    print(f"\n{runs - failed} of {runs} steps take what was predicted, within {MOST_OFF:.0%}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
