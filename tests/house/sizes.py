"""Files and functions that have outgrown their subject, and the list of those that may."""
import functools

from functions import functions_of
from tree import SOURCE

FILE_LIMIT = 450
FUNCTION_LIMIT = 60
FUNCTION_WARNING = 40
ALLOWED = "tests/house/allowed.txt"
CODE = SOURCE + (".py", ".sh", ".js", ".ts", ".css", ".html", ".cu", ".cuh")


@functools.lru_cache(maxsize=None)
def _functions(tree):
    return [(path, function) for path in tree.sources
            for function in functions_of(tree.read(path))]


def _allowed(tree):
    """{key: limit}, key being (path,) or (path, function name)."""
    limits = {}
    for line in tree.read(ALLOWED).splitlines() if ALLOWED in tree.paths else []:
        words = line.split()
        if words[:1] == ["file"]:
            limits[words[1],] = int(words[2])
        elif words[:1] == ["function"]:
            limits[words[1], words[2]] = int(words[3])
    return limits


def check_sizes(tree):
    allowed = _allowed(tree)
    needed = set()
    failures = []

    def judge(key, where, lines, limit):
        if lines <= limit:
            return
        needed.add(key)
        if lines > allowed.get(key, limit):
            failures.append(f"{where} {lines} lines, over {allowed.get(key, limit)}")

    for path in tree.paths:
        if path.endswith(CODE):
            judge((path,), f"{path}: the file has", tree.read(path).count("\n"), FILE_LIMIT)
    for path, function in _functions(tree):
        judge((path, function.name), f"{path}:{function.line}: {function.name} has",
              function.lines, FUNCTION_LIMIT)
    failures += [f"{ALLOWED}: {' '.join(key)} is within the limits; remove its line"
                 for key in allowed if key not in needed]
    return failures


def long_functions(tree):
    """Not failures: what is worth a look before it gets longer."""
    return [f"{path}:{function.line}: {function.name} has {function.lines} lines"
            for path, function in _functions(tree)
            if FUNCTION_WARNING < function.lines <= FUNCTION_LIMIT]
