"""Who includes whom: the list of components looks only up, and components are entered by their public headers."""
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')

# Headers that the folders outside the engine may include besides the engine's public headers and themselves.
OUTSIDE = {"gui": (), "native": ("gui",), "wasm": ("gui",), "tests": ("gui", "native", "wasm")}

# Headers that the build writes.
GENERATED = {"tests/paths.h", "wasm/page/sample_names.h", "engine/ir/shape_rules/declared.h"}


def check_map(tree):
    """engine/README.md, engine/CMakeLists.txt and the folders name the same components in one order."""
    folders = {path.split("/")[1] for path in tree.sources if path.count("/") >= 2
               and path.startswith("engine/")}
    failures = [f"engine/README.md: the component {component} is not on the map"
                for component in sorted(folders - set(tree.components))]
    for component, patterns in tree.components.items():
        failures += _check_row(tree, component, patterns, component in folders)

    listed = re.search(r"set\(components\s([^)]*)\)", tree.read("engine/CMakeLists.txt"))
    if not listed or listed[1].split() != list(tree.components):
        failures.append("engine/CMakeLists.txt: its list of components is not the map's, in its order")
    return failures


def _check_row(tree, component, patterns, exists):
    row = f"engine/README.md: {component}"
    if not exists:
        return [] if patterns is None else [f"{row} has public headers but no folder"]
    if not patterns:
        return [f"{row} stands, so the map has to name its public headers"]
    headers = [path.removeprefix(f"engine/{component}/") for path in tree.sources
               if path.startswith(f"engine/{component}/") and path.endswith(".h")]
    unmatched = [pattern for pattern in patterns if "*" not in pattern and pattern not in headers]
    return [f"{row} has the public header {pattern}, which doesn't exist" for pattern in unmatched]


def check_includes(tree):
    known = set(tree.sources) | GENERATED
    failures = []
    for path in tree.sources:
        for number, line in enumerate(tree.read(path).splitlines(), 1):
            include = INCLUDE.match(line)
            if include:
                fault = _fault(tree, known, path, include[1])
                failures += [f"{path}:{number}: {fault}"] if fault else []
    return failures


def check_own_header(tree):
    """A source includes its own header first, so that the header is seen to need no other before it."""
    failures = []
    for path in tree.sources:
        own = path.removesuffix(".cpp") + ".h"
        if not path.endswith(".cpp") or own not in tree.sources or own not in tree.read(path):
            continue
        first = re.search(r'^\s*#\s*include\s*[<"]([^>"]+)', tree.read(path), re.M)
        if first and first[1] != own:
            failures.append(f'{path}: its first include is "{first[1]}"; "{own}" is expected')
    return failures


def _fault(tree, known, path, header):
    """What is wrong with `path` including `header`, or None."""
    if header not in known:
        return f'"{header}" is no file of the repository, named from its top'
    if header.startswith("engine/"):
        return _engine_fault(tree, path, header)
    folder, target = path.split("/")[0], header.split("/")[0]
    if folder == target or target in OUTSIDE.get(folder, ()):
        return None
    return f"{folder} may not include {target}"


def _engine_fault(tree, path, header):
    _, component, inside = header.split("/", 2)
    order = list(tree.components)
    folder, _, rest = path.partition("/")
    home = rest.split("/")[0]
    if folder in ("engine", "tests") and home == component:
        return None
    if component not in order:
        return None  # check_map says so once for the whole component
    if folder == "engine" and (home not in order or order.index(component) > order.index(home)):
        return f"{home} stands above {component} and may not look down at it"
    if not tree.is_public(component, inside):
        return f"{inside} is no public header of {component}; these are: {', '.join(tree.components[component] or [])}"
    return None
