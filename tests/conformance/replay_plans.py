#!/usr/bin/env python3
"""Plans every graph at many budgets and lets an independent simulator replay each plan.

usage: tests/conformance/replay_plans.py [--recut COMMAND] [--simulator FILE] [GRAPH.json.gz...]

The simulator (../shared/tools/simulate.py unless named) knows nothing of Recut; it must find the
peak that the plan says, to the byte, and no more than the budget. The budgets are `none`, shares
of the peak without recomputation, and the least peak that Recut says it can plan, which must then
hold. Exit 1 where anything differs, 77 where there is no simulator.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

BUDGETS = ["none", "90%", "75%", "60%", "45%", "30%"]
TOP = pathlib.Path(__file__).resolve().parents[2]


def run_json(command):
    """Exit status and the JSON value on standard output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError:
        return done.returncode, {"error": done.stderr.strip()[-300:]}


class Checker:
    def __init__(self, recut, simulator, folder):
        self.recut, self.simulator = recut, simulator
        self.plan_file = pathlib.Path(folder) / "plan.json"
        self.held = self.refused = self.wrong = 0

    def plan(self, graph, budget):
        return run_json([self.recut, "plan", graph, "--graph", "joint_after_passes", "--budget", budget,
                         "--out", str(self.plan_file), "--json"])

    def check(self, graph, budget, must_hold=False):
        name = pathlib.Path(graph).name.removesuffix(".json.gz")
        status, plan = self.plan(graph, budget)
        if status == 1 and "least_peak_bytes" in plan and not must_hold:
            self.refused += 1
            print(f"{name:14} {budget:>12}  can't be held, least {plan['least_peak_bytes']:>14,}")
            return plan["least_peak_bytes"]
        if status != 0:
            self.wrong += 1
            print(f"{name:14} {budget:>12}  WRONG: exit {status}: {plan}")
            return None
        replayed = run_json([sys.executable, self.simulator, graph, str(self.plan_file)])[1].get("peak_bytes")
        good = replayed == plan["peak_bytes"] and replayed <= plan.get("budget_bytes", replayed)
        self.held += good
        self.wrong += not good
        print(f"{name:14} {budget:>12}  peak {plan['peak_bytes']:>14,}  replayed {replayed or 0:>14,}"
              f"  {plan['solve_ms']:>9.1f} ms  {'ok' if good else 'WRONG'}", flush=True)
        return None

    def check_graph(self, graph):
        for budget in BUDGETS:
            self.check(graph, budget)
        least = self.check(graph, "1B")
        if least is not None:
            self.check(graph, f"{least}B", must_hold=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--recut", default=str(TOP / "build/release/recut"))
    parser.add_argument("--simulator", default=str(TOP / "../shared/tools/simulate.py"))
    parser.add_argument("graphs", nargs="*")
    options = parser.parse_args()
    if not pathlib.Path(options.simulator).exists():
        print(f"there is no {options.simulator}: nothing to replay with")
        return 77
    graphs = options.graphs or sorted(map(str, (TOP / "../shared/graphs").glob("*.json.gz")))
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options.recut, options.simulator, folder)
        for graph in graphs:
            checker.check_graph(graph)
    print(f"{checker.held} plans replayed to the byte, {checker.refused} budgets refused, {checker.wrong} wrong")
    return 1 if checker.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
