#!/usr/bin/env python3
"""Makes tests/VALIDATION.md of tests/claims.json, where each claim stands with its command and output.

usage: claims.py [--write] [ROOT]     without --write: exit code 1 where the document isn't what the claims give

A claim is an object:
  subject   claims of one subject stand together
  claim     a sentence
  command   one command or several that show it
  keep      a regular expression: tests/measure_claims.py runs the commands and writes the lines
            of their output that match it into `output`, and the machine and the date beside it
  output    these lines
  machine   of the measurement
  date      of the measurement, YYYY-MM-DD
  note      an explanation, optional
"""
import json
import pathlib
import re
import sys

CLAIMS = "tests/claims.json"
DOCUMENT = "tests/VALIDATION.md"
KEYS = ("subject", "claim", "command", "keep", "output", "machine", "date")
OPTIONAL = ("note",)
HEAD = """# Validation

This document lists what Recut claims, the command that shows each claim, and its output at the last measurement.
It is generated: edit `tests/claims.json`, then run `python3 tests/claims.py --write`.
`python3 tests/measure_claims.py NUMBER…` runs the commands of claims again and writes their output. None is written by hand.

`FILE…` are graphs in fx-joint-graph form, as `recut_torch.export` writes them; several claims need more models than
`samples/joint/` holds. `../shared/` is a folder beside the checkout with PyTorch's samples and traces, where there is one.
"""


def faults(rows):
    """What is wrong with the claims, in words."""
    found, subjects = [], []
    for number, row in enumerate(rows, 1):
        place = f"{CLAIMS}: claim {number}"
        found += [f"{place} has no {key}" for key in KEYS if not row.get(key)]
        found += [f"{place} has the unknown key {key}" for key in row if key not in KEYS + OPTIONAL]
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", row.get("date", "")):
            found.append(f"{place}: its date is no YYYY-MM-DD")
        subject = row.get("subject")
        if subject in subjects[:-1]:
            found.append(f"{place}: the claims of subject {subject} stand apart")
        if subject not in subjects:
            subjects.append(subject)
    return found


def render(rows):
    """The document's text."""
    parts, subject = [HEAD], None
    for row in rows:
        if row["subject"] != subject:
            subject = row["subject"]
            parts.append(f"\n## {subject}\n")
        parts.append(_claim(row))
    return "".join(parts)


def _claim(row):
    commands = row["command"] if isinstance(row["command"], list) else [row["command"]]
    text = f"\n### {row['claim'].rstrip('.')}\n```\n" + "\n".join(commands) + "\n```\n"
    text += f"{row['machine']}, {row['date']}.\n"
    text += "\n```text\n" + "\n".join(row["output"]) + "\n```\n"
    return text + (f"\n{row['note']}\n" if "note" in row else "")


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    root = pathlib.Path(words[0]) if words else pathlib.Path(__file__).resolve().parents[1]
    rows = json.loads((root / CLAIMS).read_text(encoding="utf-8"))
    wrong = faults(rows)
    for fault in wrong:
        print(fault)
    if wrong:
        return 1
    document, text = root / DOCUMENT, render(rows)
    if "--write" in sys.argv:
        document.write_text(text, encoding="utf-8")
        return 0
    if not document.is_file() or document.read_text(encoding="utf-8") != text:
        print(f"{DOCUMENT} isn't what {CLAIMS} gives: run python3 tests/claims.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
