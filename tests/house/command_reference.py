#!/usr/bin/env python3
"""Holds the reference of commands in native/README.md to what the command says of itself.

usage: command_reference.py RECUT [--write] [ROOT]

RECUT is the built command. The reference stands between two marks and is made of `RECUT COMMAND --help` of every
subcommand; an option that several commands have in the same words stands once, in a table of its own. Exit code 1
where the document says anything else; --write writes it anew.
"""
import collections
import pathlib
import re
import subprocess
import sys

DOCUMENT = "native/README.md"
BEGIN = "<!-- Written by tests/house/command_reference.py; do not edit by hand. -->"
END = "<!-- End of the generated part. -->"
MEANING = 30  # the column in which the meaning of an option begins
SHARED = 3  # so many commands with the same option have it in the common table
COMMON_NAMES = ("-h,--help",)

Help = collections.namedtuple("Help", "words about usage sections footer")


def help_of(recut, words):
    """The help of `recut WORDS… --help`, taken apart."""
    said = subprocess.run([recut, *words, "--help"], capture_output=True, text=True, check=True)
    return parse_help(words, said.stdout)


def parse_help(words, text):
    """Help{words, about, usage, sections: {title: [(name, meaning)]}, footer}."""
    lines = text.splitlines()
    usage = next(at for at, line in enumerate(lines) if line.startswith("Usage: "))
    sections, footer, title = {}, [], None
    for line in lines[usage + 1:]:
        if re.fullmatch(r"(Positionals|Options|Subcommands):", line) and not footer:
            title = line[:-1]
            sections[title] = []
        elif title and line.startswith("  ") and not footer:
            _add_entry(sections[title], line)
        elif line or footer:
            footer.append(line)
    _order_exclusions(sections.get("Options", []))
    return Help(tuple(words), " ".join(lines[:usage]), lines[usage].removeprefix("Usage: "), sections,
                "\n".join(footer).strip())


def _order_exclusions(options):
    """CLI11 names the options that one excludes by their addresses; here they stand as in the list."""
    places = {part: at for at, (name, _) in enumerate(options) for part in _bare_name(name).split(",")}
    for entry in options:
        name, mark, excluded = entry[0].partition(" Excludes:")
        if mark:
            entry[0] = f"{name}{mark} {' '.join(sorted(excluded.split(), key=lambda word: places.get(word, 0)))}"


def _add_entry(entries, line):
    """An option with its meaning behind it, its name alone, or the meaning of the name above."""
    if line.startswith(" " * MEANING):
        entries[-1][1] = f"{entries[-1][1]} {line.strip()}".strip()
        return
    name, meaning = line[:MEANING].strip(), line[MEANING:].strip()
    if line[MEANING - 1:MEANING].strip():  # a name that is longer than its column
        name, meaning = line.strip(), ""
    entries.append([name, meaning])


def all_helps(recut):
    """The command's own help, then that of every subcommand and of theirs, in the command's order."""
    helps = [help_of(recut, [])]
    for help_text in helps:  # grows meanwhile
        inner = [[*help_text.words, name] for name, _ in help_text.sections.get("Subcommands", [])]
        at = helps.index(help_text) + 1
        found = [help_of(recut, words) for words in inner]
        helps[at:at] = found if help_text.words else []
        helps += [] if help_text.words else found
    return helps


def render(helps):
    """The reference, without its marks."""
    shared, files = _shared(helps, "Options"), _shared(helps, "Positionals")
    parts = [f"```\n{helps[0].footer}\n```\n",
             "### Options of several commands\nThe section of a command names those that it has. "
             "Each command also has `-h` and `--help`.\n\n" + _table("argument", files) + "\n" + _table("option", shared)]
    parts += [_section(text, shared + files, helps[0].footer) for text in helps[1:]]
    return "\n".join(parts)


def _shared(helps, title):
    """The entries that several commands have in the same words; of one name the most frequent."""
    counts = collections.Counter(tuple(entry) for text in helps[1:] for entry in text.sections.get(title, []))
    most = {}
    for entry, count in counts.most_common():
        if count >= SHARED and entry[0] not in COMMON_NAMES:
            most.setdefault(_bare_name(entry[0]), entry)
    return [entry for entry in counts if entry in most.values()]


def _section(text, shared, general):
    name = " ".join(("recut", *text.words))
    lines = [f"### {name}", text.about + ".", "```", text.usage, "```"]
    for title, head in (("Subcommands", "subcommand"), ("Positionals", "argument"), ("Options", "option")):
        own = [entry for entry in text.sections.get(title, [])
               if tuple(entry) not in shared and entry[0] not in COMMON_NAMES]
        if own:
            lines += ["", _table(head, own).rstrip()]
    also = [_bare_name(entry[0]) for entry in text.sections.get("Options", []) if tuple(entry) in shared]
    if also:
        lines += ["", "Also: " + ", ".join(f"`{name}`" for name in also) + "."]
    if text.footer and text.footer != general:
        lines += ["", "```", text.footer, "```"]
    return "\n".join(lines) + "\n"


def _bare_name(name):
    return name.split(" ")[0]


def _table(head, entries):
    rows = [f"| `{_cell(_shown(name))}` | {_cell(meaning + _excluded(name))} |" for name, meaning in entries]
    return "\n".join([f"| {head} | meaning |", "|---|---|", *rows]) + "\n"


def _shown(name):
    """An option's name and the word for its value, without what CLI11 says of its type."""
    name = re.sub(r" Excludes:.*| REQUIRED", "", name)
    name = re.sub(r"(TEXT|[A-Z]):(?:INT|UINT|FLOAT|NUMBER|POSITIVE|NONNEGATIVE)\b.*", r"\1", name)
    return re.sub(r" x \d+$", "", name).replace(" TEXT", "")


def _excluded(name):
    names = re.findall(r" Excludes:(.*)", name)
    return f". Not with {', '.join(f'`{word}`' for word in names[0].split())}" if names else ""


def _cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;") if text else ""


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    root = pathlib.Path(words[1]) if len(words) > 1 else pathlib.Path(__file__).resolve().parents[2]
    document = root / DOCUMENT
    text = document.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    expected = f"{before}{BEGIN}\n{render(all_helps(words[0]))}{END}{after}"
    if "--write" in sys.argv:
        document.write_text(expected, encoding="utf-8")
    elif text != expected:
        print(f"{DOCUMENT} isn't what the command says: run python3 tests/house/command_reference.py {words[0]} --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
