"""One definition of each name: two types of one name in one namespace break the language's rule without
a word from the compiler, and the linker then takes the wrong one's functions."""
import collections
import re

NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class) (\w+)(?: final)?(?: : [^;{]*)? \{", re.MULTILINE)


def check_definitions(tree):
    """No two headers define a type of the same name in the same namespace."""
    places = collections.defaultdict(list)
    for path in sorted(tree.sources):
        if not path.endswith(".h") or path.startswith("tests/"):
            continue
        text = tree.read(path)
        namespace = NAMESPACE.search(text)
        for found in TYPE.finditer(text):
            places[namespace[1] if namespace else "", found[1]].append(path)
    return [f"{paths[1]}: {namespace}::{name} is defined in {paths[0]} too"
            for (namespace, name), paths in places.items() if len(paths) > 1]
