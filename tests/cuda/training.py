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
    words = [recut, "train", file, "--json", "--steps", str(STEPS), "--lr", "0.001", "--budget", budget,
             "--device", device]
    done = subprocess.run(words, capture_output=True, text=True)
    if "can't be held" in done.stderr:
        return None
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return json.loads(done.stdout)


def fault(card, processor):
    """What is wrong with the GPU's training, or None."""
    for step, (a, b) in enumerate(zip(card["losses"], processor["losses"], strict=True)):
        if abs(a - b) > (FIRST if step < FIRST_STEPS else LATER) * abs(b):
            return f"step {step}: {a} on the card, {b} on the processor"
    if card["measured_peak_bytes"] != card["planned_peak_bytes"]:
        return f"{card['measured_peak_bytes']} bytes measured, {card['planned_peak_bytes']} planned"
    taken = card["measured_peak_bytes"] + card["scratch_bytes"]
    if 0 < card["budget_bytes"] < taken:
        return f"{taken} bytes taken with the scratch of libraries, {card['budget_bytes']} asked for"
    return None


def main():
    recut, *files = sys.argv[1:]
    failed = 0
    for file in files:
        for budget in BUDGETS:
            name = f"{pathlib.Path(file).name.removesuffix('.json.gz'):12} {budget:>5}"
            try:
                card, processor = (trained(recut, file, device, budget) for device in ("cuda", "cpu"))
            except RuntimeError as said:
                print(f"{name}  FAILED: {said}")
                failed += 1
                continue
            if card is None or processor is None:
                print(f"{name}  no plan is within it")
                continue
            wrong = fault(card, processor)
            failed += wrong is not None
            print(f"{name}  loss {card['losses'][0]:.6g} to {card['losses'][-1]:.6g} on the card, "
                  f"{processor['losses'][-1]:.6g} on the processor; step {card['step_ms_median']:.3f} ms; "
                  f"peak {card['measured_peak_bytes']:,} bytes{'' if wrong is None else '  FAILED: ' + wrong}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
