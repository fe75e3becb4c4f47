"""Words that don't belong into the repository."""
import re

# Spelled in two halves, so that this file doesn't accuse itself.
_MARKS = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK")) + r")\b")
_MACHINE = re.compile(r"(?<![\w.$}])/(?:home|root|work|farm|Users)/")


def check_text(tree):
    failures = []
    for path in tree.texts:
        if path.startswith("samples/") and path.endswith(".json"):
            continue
        for number, line in enumerate(tree.read(path).splitlines(), 1):
            if _MARKS.search(line):
                failures.append(f"{path}:{number}: a mark of unfinished work")
            if _MACHINE.search(line):
                failures.append(f"{path}:{number}: a path of somebody's machine")
    return failures
