"""Finds the functions of a C++ file and their lengths, by its braces.

No parser: at the level of namespaces and classes, a `{` after something with a
parameter list opens a function, unless an `=` stands before it. Lambdas count
as a part of the function they stand in.
"""
import collections
import re

Function = collections.namedtuple("Function", "name line lines")

# Comments, raw strings, strings, characters. A digit separator (1'000) is no character.
_QUIET = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)\""
    r"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def _blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def _bare(text):
    """The text with everything that could hold a misleading brace blanked out."""
    return _DIRECTIVE.sub(_blank, _QUIET.sub(_blank, text))


def functions_of(text):
    """The functions of a C++ source text, in order."""
    bare = _bare(text)
    found = []
    start, position = 0, 0
    while (brace := _next(bare, position)) is not None:
        head = bare[start:brace]
        mark = bare[brace]
        position = brace + 1
        if mark != "{":
            start = position
        elif _is_function(head):
            position = _closing(bare, brace)
            if bare[position:].lstrip()[:1] in (",", "{"):
                continue  # a member's initialiser, before the body of its constructor
            found.append(_function(bare, start, brace, position))
            start = position
        elif _is_scope(head):
            start = position
        else:
            position = _closing(bare, brace)  # an initialiser: the declaration goes on
    return found


def _next(bare, position):
    match = re.compile(r"[{};]").search(bare, position)
    return match.start() if match else None


def _closing(bare, brace):
    """The position after the `}` that closes the `{` at `brace`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(bare, brace):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return len(bare)


def _outside_brackets(head):
    """The head without operator names, and without what stands in ( ), [ ], { } or < >."""
    head = re.sub(r"\boperator\s*(\(\)|[^\s\w(]+)", "operator_", head)
    for pattern in (r"\([^()]*\)", r"\[[^\[\]]*\]", r"\{[^{}]*\}", r"<[^<>]*>"):
        for _ in range(8):
            head = re.sub(pattern, lambda match: "()" if match[0][0] == "(" and match[0] != "()"
                          else match[0] if match[0] == "()" else "", head)
    return head


def _is_function(head):
    outside = _outside_brackets(head)
    return "(" in head and "=" not in outside and not _is_scope(head)


def _is_scope(head):
    outside = _outside_brackets(head)
    return bool(_SCOPE.search(outside)) and "()" not in re.sub(r"\balignas\(\)", "", outside)


def _function(bare, start, brace, end):
    head = bare[start:brace]
    begin = start + len(head) - len(head.lstrip())
    line = bare.count("\n", 0, begin) + 1
    declaration = re.sub(r"^\s*template\s*<[^{]*?>\s*", "", head)
    name = re.search(r"(operator\s*[^\s\w(]+|[\w:~]+)\s*\(", declaration)
    return Function(name[1] if name else "?", line, bare.count("\n", begin, end) + 1)
