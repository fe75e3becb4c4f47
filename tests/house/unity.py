"""Names that unity builds would mix up: the sources of one target are compiled together, so that a name
in one source's anonymous namespace is seen by the others."""
import collections
import re

RAW = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
TYPE = re.compile(r"(?:struct|class|enum class|enum)\s+(\w+)[^;()]*\{|using (\w+) =")
VARIABLE = re.compile(r"\b(k[A-Z]\w*)(?:\[\w*\])?\s*(?:=|\{)")
FUNCTION = re.compile(r"^(?:inline |constexpr |static )*[\w:<>,&* ]+?[\s&*](\w+)\(([^;{}]*)\)(?: const)? \{")
# Arguments that convert to each other without a word.
NUMBER = re.compile(r"^(?:const )?(?:std::)?(?:double|float|int|long|u?int\d+_t|size_t|ptrdiff_t|[TF]|auto)&{0,2}$")


def split(parameters):
    """The parameters' types: commas inside of brackets part nothing."""
    parts, depth, part = [], 0, ""
    for c in parameters:
        depth += (c in "<({[") - (c in ">)}]")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    if part.strip():
        parts.append(part)
    return tuple(re.sub(r"\s*\b\w+$", "", re.sub(r"=.*", "", p).strip()) if " " in p.strip()
                 else p.strip() for p in parts)


def statements(text):
    """Each statement that begins in the first column, joined to one line up to its `{` or `;`."""
    lines = RAW.sub('""', text).split("\n")
    for number, line in enumerate(lines):
        if not re.match(r"[A-Za-z]", line) or line.startswith(("template", "namespace", "TEST_CASE")):
            continue
        whole = line.split("//")[0]
        for more in lines[number + 1:number + 7]:
            if re.search(r"[;{]\s*$", whole):
                break
            whole += " " + more.split("//")[0].strip()
        yield number + 1, whole


def own_names(text):
    """(namespace, name, what, line) of everything in a source's anonymous namespaces: what is a type or
    a variable, or the types of a function's parameters."""
    namespace, inside = "", False
    for number, whole in statements_and_namespaces(text):
        if isinstance(whole, tuple):
            namespace, inside = whole[0] or namespace, whole[1]
            continue
        if not inside:
            continue
        if found := TYPE.match(whole):
            yield namespace, found[1] or found[2], whole if found[2] else "type", number
        elif found := FUNCTION.match(whole):
            yield namespace, found[1], split(found[2]), number
        elif whole.startswith(("constexpr", "const ")):
            for found in VARIABLE.finditer(re.sub(r"\{[^{}]*\}", "{}", whole)):
                yield namespace, found[1], "variable", number


def statements_and_namespaces(text):
    """Statements, and in their order the namespaces that open: (name or None, whether anonymous)."""
    events = [(n, s) for n, s in statements(text)]
    for number, line in enumerate(text.split("\n"), 1):
        if found := re.match(r"namespace ([\w:]+) \{", line):
            events.append((number, (found[1], False)))
        elif line == "namespace {":
            events.append((number, (None, True)))
        elif line == "}  // namespace":
            events.append((number, (None, False)))
    return sorted(events, key=lambda event: event[0])


def targets(tree):
    """Sources by the target that compiles them together."""
    made = collections.defaultdict(list)
    for path in sorted(tree.sources):
        if not path.endswith(".cpp") or path.endswith("main.cpp"):
            continue
        parts = path.split("/")
        alone = parts[0] in ("engine", "tests", "wasm") or (
            parts[0] == "native" and parts[1] in ("onnx", "cache", "cpu", "cuda", "window", "c_api"))
        if parts[:2] in (["tests", "bench"], ["tests", "fuzz"]):
            continue
        made["/".join(parts[:2]) if alone else parts[0]].append(path)
    return made


def meet(one, other):
    """Whether two things of one name can't stand in one file, or stand there and be mistaken."""
    if isinstance(one, str) or isinstance(other, str):
        return one != other or not one.startswith("using")
    if len(one) != len(other):
        return False
    return one == other or all(NUMBER.match(a) and NUMBER.match(b) for a, b in zip(one, other))


def check_unity(tree):
    """No two sources of a target have one name in their anonymous namespaces."""
    failures = []
    for paths in targets(tree).values():
        seen = collections.defaultdict(list)
        for path in paths:
            for namespace, name, what, line in own_names(tree.read(path)):
                for other, there in seen[namespace, name]:
                    if other != path and meet(what, there):
                        failures.append(f"{path}:{line}: {name} is a name of {other} too, and both are "
                                        "compiled together (.setup/cmake/unity.cmake)")
                        break
                seen[namespace, name].append((path, what))
    return failures
