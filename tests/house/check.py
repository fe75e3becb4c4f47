#!/usr/bin/env python3
"""Checks that the house stands as its map says.

usage: check.py [ROOT]

Components include only components above them, and only through their public headers; the map in
engine/README.md and the folders agree; no file or function has outgrown its
subject; no marks of unfinished work and no paths of somebody's machine; the
README is short, tests/VALIDATION.md is generated, and links lead somewhere.
Prints one line a failure, `file:line: what is wrong`, then a plain closing line.
"""
import pathlib
import sys

import definitions
import documents
import gui_map
import includes
import sizes
import text_rules
import unity
import vocabulary
from tree import Tree


def main():
    here = pathlib.Path(__file__).resolve()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[2]
    tree = Tree(root)

    checks = {
        "the map and the folders agree": includes.check_map,
        "includes look up the list, through public headers": includes.check_includes,
        "sources include their own header first": includes.check_own_header,
        "the window's folders look up their list, and know no platform": gui_map.check_gui,
        "no two types have one name": definitions.check_definitions,
        "no two sources of a target have one name of their own": unity.check_unity,
        "files and functions keep to their subject": sizes.check_sizes,
        "no marks of unfinished work, no machine's paths": text_rules.check_text,
        "the field's words": vocabulary.check_vocabulary,
        "the README is short": documents.check_readme,
        "the validation is what the claims give": documents.check_claims,
        "links between documents point to files": documents.check_links,
        "C++ in the guides to additions is code of the repository": documents.check_examples,
        "files that documents name exist": documents.check_named_files,
        "the window's options are documented": documents.check_window_options,
    }
    failed = 0
    for subject, check in checks.items():
        failures = check(tree)
        failed += bool(failures)
        print(f"{'FAILED' if failures else 'passed'}: {subject}")
        for failure in failures:
            print(f"  {failure}")
    for warning in sizes.long_functions(tree):
        print(f"warning: {warning}")
    print(f"\n{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
