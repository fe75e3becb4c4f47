#!/usr/bin/env python3
"""Trains on a GPU and on the processor, and compares the losses of every step.

usage: training.py RECUT FILE...

The data, the seed and the budgets are the same; sums are cut otherwise, and what rounding does to a
loss grows from step to step: the first steps may differ by 1e-4 of it, later ones by 5 %. Exit code 1
where one differs by more, where a measured peak is not the planned one, or where the peak and the
scratch of libraries beside it are above the budget.
"""
import json
import pathlib
import subprocess
import sys

STEPS = 30
FIRST_STEPS, FIRST, LATER = 3, 1e-4, 5e-2
BUDGETS = ("none", "90%")


def trained(recut, file, device, budget):
    """What a training printed; None where no plan is within the budget."""
    command = [recut, "train", file, "--json", "--steps", str(STEPS), "--lr", "0.001", "--budget", budget,
             "--device", device]
    done = subprocess.run(command, capture_output=True, text=True)
    if "can't be held" in done.stderr:
        return None
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return json.loads(done.stdout)


def fault(gpu, processor):
    """What is wrong with the GPU's training, or None."""
    for step, (a, b) in enumerate(zip(gpu["losses"], processor["losses"], strict=True)):
        if abs(a - b) > (FIRST if step < FIRST_STEPS else LATER) * abs(b):
            return f"step {step}: {a} on the GPU, {b} on the processor"
    if gpu["measured_peak_bytes"] != gpu["planned_peak_bytes"]:
        return f"{gpu['measured_peak_bytes']} bytes measured, {gpu['planned_peak_bytes']} planned"
    taken = gpu["measured_peak_bytes"] + gpu["scratch_bytes"]
    if 0 < gpu["budget_bytes"] < taken:
        return f"{taken} bytes taken with the scratch of libraries, {gpu['budget_bytes']} asked for"
    return None


def main():
    recut, *files = sys.argv[1:]
    failed = 0
    for file in files:
        for budget in BUDGETS:
            name = f"{pathlib.Path(file).name.removesuffix('.json.gz'):12} {budget:>5}"
            try:
                gpu, processor = (trained(recut, file, device, budget) for device in ("cuda", "cpu"))
            except RuntimeError as said:
                print(f"{name}  FAILED: {said}")
                failed += 1
                continue
            if gpu is None or processor is None:
                print(f"{name}  no plan is within it")
                continue
            wrong = fault(gpu, processor)
            failed += wrong is not None
            print(f"{name}  loss {gpu['losses'][0]:.6g} to {gpu['losses'][-1]:.6g} on the GPU, "
                  f"{processor['losses'][-1]:.6g} on the processor; step {gpu['step_ms_median']:.3f} ms; "
                  f"peak {gpu['measured_peak_bytes']:,} bytes{'' if wrong is None else '  FAILED: ' + wrong}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
