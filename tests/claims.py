#!/usr/bin/env python3
"""Makes tests/VALIDATION.md of tests/claims.json, where each claim stands with its command and figures.

usage: claims.py [--write] [ROOT]     without --write: exit code 1 where the document isn't what the claims give

A claim is an object:
  subject   claims of one subject stand together
  claim     a sentence
  command   one command or several that show it
  machine   of the measurement
  date      of the measurement, YYYY-MM-DD
  figures   a sentence, or a table as a list of rows with the head first
  note      an explanation, optional
  keep      a regular expression, optional: tests/measure_claims.py runs the commands and
            writes the lines of their output that match it into `output`
"""
import json
import pathlib
import re
import sys

CLAIMS = "tests/claims.json"
DOCUMENT = "tests/VALIDATION.md"
KEYS = ("subject", "claim", "command", "machine", "date")
OPTIONAL = ("figures", "note", "keep", "output")
HEAD = """# Validation

This document lists what Recut claims, the command that shows each claim, and the figures of the last measurement.
It is generated: edit `tests/claims.json`, then run `python3 tests/claims.py --write`.
`python3 tests/measure_claims.py NUMBER…` runs the commands of claims again and writes their output as figures.

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
        if not row.get("figures") and not row.get("output"):
            found.append(f"{place} has neither figures nor output")
        if "output" in row and "keep" not in row:
            found.append(f"{place} has output without keep")
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", row.get("date", "")):
            found.append(f"{place}: its date is no YYYY-MM-DD")
        table = row.get("figures")
        if isinstance(table, list) and len({len(line) for line in table}) != 1:
            found.append(f"{place}: the rows of its table differ in length")
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
    figures = row.get("figures")
    if figures:
        text += "\n" + (_table(figures) if isinstance(figures, list) else figures + "\n")
    if "output" in row:
        text += "\n```text\n" + "\n".join(row["output"]) + "\n```\n"
    return text + (f"\n{row['note']}\n" if "note" in row else "")


def _table(rows):
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0])] + lines[1:]) + "\n"


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
