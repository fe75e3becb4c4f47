#!/usr/bin/env python3
"""Tests of the house check itself: a check that can't fail checks nothing."""
import json
import pathlib
import tempfile
import unittest

import command_examples
import command_reference
import definitions
import documents
import gui_map
import includes
import sizes
import text_rules
import unity
import vocabulary
from functions import functions_of
from tree import Tree

MAP = """
| component | takes | public headers |
|---|---|---|
| `support` | ids | `*` |
| `ir` | graphs | `graph.h` |
| `input` | files | *to come* |
"""
COMPONENTS = "set(components\n  support\n  ir\n  input)"


class House(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("engine/README.md", MAP)
        self.write("engine/CMakeLists.txt", COMPONENTS)
        self.write("engine/support/ids.h", "")
        self.write("engine/ir/graph.h", '#include "engine/support/ids.h"\n')
        self.write("engine/ir/table.h", "")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def tree(self):
        return Tree(self.root)

    def assert_include_fails(self, path, header, why):
        self.write(path, f'#include "{header}"\n')
        failures = includes.check_includes(self.tree())
        self.assertEqual(len(failures), 1, failures)
        self.assertIn(why, failures[0])


class Map(House):
    def test_a_true_map_passes(self):
        self.assertEqual(includes.check_map(self.tree()), [])

    def test_a_room_that_is_not_on_the_map(self):
        self.write("engine/attic/box.h", "")
        self.assertIn("attic", includes.check_map(self.tree())[0])

    def test_a_component_without_a_public_header(self):
        self.write("engine/input/json.h", "")
        self.assertIn("public headers", includes.check_map(self.tree())[0])

    def test_a_door_that_does_not_exist(self):
        (self.root / "engine/ir/graph.h").unlink()
        self.assertIn("graph.h", includes.check_map(self.tree())[0])

    def test_another_order_than_the_build(self):
        self.write("engine/CMakeLists.txt", "set(components ir support input)")
        self.assertIn("order", includes.check_map(self.tree())[0])


class Definitions(House):
    def test_one_name_in_two_rooms(self):
        self.write("engine/ir/graph.h", "namespace recut {\nstruct Plan {\n};\n}\n")
        self.assertEqual(definitions.check_definitions(self.tree()), [])
        self.write("engine/support/ids.h", "namespace recut {\nclass Plan final {\n};\n}\n")
        self.assertIn("recut::Plan", definitions.check_definitions(self.tree())[0])

    def test_the_same_name_elsewhere(self):
        self.write("engine/ir/graph.h", "namespace recut {\nstruct Plan {\n};\n}\n")
        self.write("engine/support/ids.h", "namespace recut::test {\nstruct Plan;\nstruct Plan {\n};\n}\n")
        self.assertEqual(definitions.check_definitions(self.tree()), [])


class Includes(House):
    def test_a_house_in_order_passes(self):
        self.write("tests/ir/table_test.cpp", '#include "engine/ir/table.h"\n')
        self.write("native/main.cpp", '#include "engine/ir/graph.h"\n')
        self.assertEqual(includes.check_includes(self.tree()), [])

    def test_own_header_first(self):
        self.write("engine/ir/table.cpp", '#include "engine/ir/table.h"\n\n#include <vector>\n')
        self.write("native/main.cpp", "#include <vector>\n")
        self.assertEqual(includes.check_own_header(self.tree()), [])

    def test_another_header_before_the_own_one(self):
        self.write("engine/ir/table.cpp", '#include <vector>\n\n#include "engine/ir/table.h"\n')
        self.assertIn('"vector"', includes.check_own_header(self.tree())[0])

    def test_looking_down_the_list(self):
        self.assert_include_fails("engine/support/a.cpp", "engine/ir/graph.h", "look down")

    def test_past_the_public_headers(self):
        self.assert_include_fails("native/main.cpp", "engine/ir/table.h", "no public header")

    def test_past_the_public_headers_from_another_rooms_test(self):
        self.assert_include_fails("tests/support/a.cpp", "engine/ir/table.h", "no public header")

    def test_the_engine_knows_no_outside(self):
        self.write("native/command.h", "")
        self.assert_include_fails("engine/ir/a.cpp", "native/command.h", "may not include")

    def test_a_name_that_does_not_start_at_the_top(self):
        self.assert_include_fails("engine/ir/a.cpp", "graph.h", "named from its top")


class Gui(House):
    def setUp(self):
        super().setUp()
        self.write("gui/README.md", "| `theme.*` | c |\n| `pictures/` | p |\n| `draw/` | d |\n| `app/` | a |\n")
        self.write("gui/draw/ui.h", '#include "gui/theme.h"\n')

    def faults(self, path, text):
        self.write(path, text)
        return gui_map.check_gui(self.tree())

    def test_a_gui_in_order_passes(self):
        self.assertEqual(self.faults("gui/app/app.h", '#include "gui/draw/ui.h"\n#include <imgui.h>\n'), [])

    def test_looking_down(self):
        self.assertIn("look down", self.faults("gui/draw/a.h", '#include "gui/app/app.h"\n')[0])

    def test_a_folder_that_is_not_on_the_map(self):
        self.assertIn("attic", self.faults("gui/attic/a.h", "")[0])

    def test_a_platform(self):
        self.assertIn("where it runs", self.faults("gui/app/a.h", "#include <GLFW/glfw3.h>\n")[0])
        self.assertIn("without #if", self.faults("gui/app/a.h", "#ifdef __linux__\n#endif\n")[0])

    def test_pictures_know_no_imgui(self):
        self.assertIn("no ImGui", self.faults("gui/pictures/a.h", "#include <imgui.h>\n")[0])


class Sizes(House):
    def body(self, lines):
        return "int grown() {\n" + "  step();\n" * (lines - 2) + "}\n"

    def test_limits(self):
        self.write("engine/ir/a.cpp", self.body(60) + "\n" * 390)
        self.assertEqual(sizes.check_sizes(self.tree()), [])
        self.assertEqual(len(sizes.long_functions(self.tree())), 1)

    def test_a_long_function(self):
        self.write("engine/ir/a.cpp", self.body(61))
        self.assertIn("grown has 61 lines", sizes.check_sizes(self.tree())[0])

    def test_a_long_file(self):
        self.write("engine/ir/a.cpp", "\n" * 451)
        self.assertIn("451 lines", sizes.check_sizes(self.tree())[0])

    def test_an_allowed_one(self):
        self.write("engine/ir/a.cpp", self.body(70))
        self.write(sizes.ALLOWED, "function engine/ir/a.cpp grown 70 one table\n")
        self.assertEqual(sizes.check_sizes(self.tree()), [])

    def test_an_allowance_that_is_not_needed(self):
        self.write(sizes.ALLOWED, "file engine/ir/graph.h 500 once it was long\n")
        self.assertIn("remove its line", sizes.check_sizes(self.tree())[0])


class Unity(House):
    def failures(self, one, other):
        for name, body in (("a", one), ("b", other)):
            self.write(f"engine/ir/{name}.cpp",
                       f"namespace recut {{\nnamespace {{\n\n{body}\n\n}}  // namespace\n}}\n")
        return unity.check_unity(self.tree())

    def test_types_and_variables(self):
        self.assertIn("Row is a name of engine/ir/a.cpp too",
                      self.failures("struct Row {\n};", "struct Row {\n};")[0])
        self.assertIn("kMost", self.failures("constexpr int kLeast = 1, kMost = 2;",
                                             "constexpr int kMost = 3;")[0])

    def test_one_alias_of_one_type(self):
        self.assertEqual(self.failures("using Ints = std::vector<int>;",
                                       "using Ints = std::vector<int>;"), [])
        self.assertEqual(len(self.failures("using Ints = std::vector<int>;",
                                           "using Ints = std::vector<long>;")), 1)

    def test_functions(self):
        self.assertEqual(len(self.failures("int f(const Graph& g) {\n}", "int f(const Graph& h) {\n}")), 1)
        self.assertEqual(self.failures("int f(const Graph& g) {\n}", "int f(const Node& n) {\n}"), [])

    def test_numbers_convert(self):
        self.assertEqual(len(self.failures("double f(double x) {\n}", "int f(std::size_t n) {\n}")), 1)
        self.assertEqual(self.failures("double f(double x) {\n}", "int f(int n, int m) {\n}"), [])

    def test_other_targets_have_other_names(self):
        self.write("engine/ir/a.cpp", "namespace {\nstruct Row {\n};\n}  // namespace\n")
        self.write("engine/support/b.cpp", "namespace {\nstruct Row {\n};\n}  // namespace\n")
        self.assertEqual(unity.check_unity(self.tree()), [])


class Text(House):
    def test_marks_and_paths(self):
        self.write("engine/ir/a.cpp", "// TO" "DO: later\n// see /ho" "me/someone/notes\n// work/home\n")
        failures = text_rules.check_text(self.tree())
        self.assertEqual([failure.split(": ")[0] for failure in failures],
                         ["engine/ir/a.cpp:1", "engine/ir/a.cpp:2"])


class Documents(House):
    CLAIM = {"subject": "Plans", "claim": "Reading is quick.", "command": "run.sh", "machine": "2 cores",
             "date": "2026-11-21", "keep": "ms", "output": ["gpt2 78 ms"]}

    def write_claims(self, *rows):
        self.write("tests/claims.json", json.dumps(rows))
        self.write("tests/VALIDATION.md", documents.claims.render(rows))

    def test_the_size_of_the_readme(self):
        self.write("README.md", "a" * 8192)
        self.assertEqual(documents.check_readme(self.tree()), [])
        self.write("README.md", "a" * 8193)
        self.assertIn("8193 bytes", documents.check_readme(self.tree())[0])

    def test_forbidden_words(self):
        self.write("tests/house/forbidden_words.txt",
                   "# word | term\n\\bcards?\\b | GPU\nengine: \\bways?\\b | algorithm\nallow gui/old.cpp: key\n")
        self.write("engine/ir/a.h", "// The way of a kernel.\n")
        self.write("gui/b.cpp", "// This way.\nint card = 0;\n")
        self.write("gui/old.cpp", 'key("card");\nfield("card");\n')
        self.assertEqual(vocabulary.check_vocabulary(self.tree()), [
            'engine/ir/a.h:1: "way": say "algorithm"',
            'gui/b.cpp:2: "card": say "GPU"',
            'gui/old.cpp:2: "card": say "GPU"',
        ])

    def test_forbidden_words_of_several_folders(self):
        self.write("tests/house/forbidden_words.txt", "engine,gui: //.*\\bwhat\\b | operand\n")
        for folder in ("engine/ir", "gui", "tests"):
            self.write(f"{folder}/a.h", "// Reads what others write.\nint what = 0;\n")
        self.assertEqual(vocabulary.check_vocabulary(self.tree()), [
            'engine/ir/a.h:1: "// Reads what": say "operand"',
            'gui/a.h:1: "// Reads what": say "operand"',
        ])

    def test_claims_and_their_document(self):
        self.write_claims(self.CLAIM, self.CLAIM | {"command": ["a", "b"], "note": "In ms."})
        self.assertEqual(documents.check_claims(self.tree()), [])
        self.assertIn("a\nb\n```\n2 cores, 2026-11-21.\n\n```text\ngpt2 78 ms\n```\n\nIn ms.\n",
                      self.tree().read("tests/VALIDATION.md"))

    def test_a_document_that_was_edited(self):
        self.write_claims(self.CLAIM)
        self.write("tests/VALIDATION.md", self.tree().read("tests/VALIDATION.md") + "76 ms\n")
        self.assertIn("claims.py --write", documents.check_claims(self.tree())[0])

    def test_claims_that_lack_something(self):
        for change, why in (({"machine": ""}, "no machine"), ({"date": "today"}, "YYYY-MM-DD"),
                            ({"author": "a"}, "unknown key author"), ({"figures": "78 ms"}, "unknown key figures"),
                            ({"output": []}, "no output"), ({"keep": ""}, "no keep")):
            self.write("tests/claims.json", json.dumps([self.CLAIM | change]))
            self.assertIn(why, documents.check_claims(self.tree())[0])

    def test_examples_are_code(self):
        self.write("engine/ir/a.cpp", "int a = 1;\nint b() {\n  return call(a, 2); }\n")
        self.write("engine/ADDING.md", "```cpp\nint a = 1;  // one\n  return call(a, …);\n```\n`engine/ir/a.cpp`\n")
        self.assertEqual(documents.check_examples(self.tree()), [])
        self.assertEqual(documents.check_named_files(self.tree()), [])
        self.write("engine/ADDING.md", "```cpp\nint a = 2;\n```\n`engine/ir/gone.cpp` and `engine/ir/*.cpp`\n")
        self.assertIn("ADDING.md:2: no source", documents.check_examples(self.tree())[0])
        self.assertEqual(documents.check_named_files(self.tree()),
                         ["engine/ADDING.md:4: there is no file engine/ir/gone.cpp"])
        self.write("engine/ADDING.md", "`graph.h`, `ir/graph.*` and `NAME.cpp`, but `ir/gone.*` and `old.h`\n")
        self.assertEqual(documents.check_named_files(self.tree()),
                         ["engine/ADDING.md:1: there is no file ir/gone.*", "engine/ADDING.md:1: there is no file old.h"])

    def test_options_of_the_window(self):
        self.write("native/window/main.cpp", 'add_option("--size", a);\nadd_flag(\n  "--fresh", b);\n')
        self.write("gui/README.md", "| `--size WxH` | Size |\n| `--fresh` | Fresh |\n")
        self.assertEqual(documents.check_window_options(self.tree()), [])
        self.write("gui/README.md", "| `--size WxH` | Size; with --fresh |\n")
        self.assertEqual(documents.check_window_options(self.tree()),
                         ["native/window/main.cpp: gui/README.md lacks the option --fresh"])

    def test_subjects_that_stand_apart(self):
        other = self.CLAIM | {"subject": "Passes"}
        self.assertIn("stand apart", documents.claims.faults([self.CLAIM, other, self.CLAIM])[0])

    def test_links_that_lead_somewhere(self):
        self.write("README.md", "[a](engine/README.md#map) ![b](engine/ir/graph.h) [c](engine/) [d](#here) "
                                "[e](https://example.org/x) `[f](code.md)`\n```\n[g](code.md)\n```\n")
        self.write("engine/ir/README.md", "[a](../README.md) [b](graph.h) [top](../../)")
        self.assertEqual(documents.check_links(self.tree()), [])

    def test_links_that_lead_nowhere(self):
        self.write("engine/ir/README.md", "```\n```\n[a](engine/README.md)\n<img src=\"none.png\">\n")
        self.assertEqual([failure.split(": ")[0] for failure in documents.check_links(self.tree())],
                         ["engine/ir/README.md:3", "engine/ir/README.md:4"])


class CommandReference(unittest.TestCase):
    HELP = """Print a graph
Usage: recut show [OPTIONS] FILE

Positionals:
  FILE TEXT REQUIRED          A graph

Options:
  -h,--help                   Print this help message and exit
  --no-passes Excludes: --passes --rules
                              Run no passes
  --seconds S:POSITIVE        End after this long,
                              or sooner

Options: none of these.
Example: recut show a.recut
"""

    def test_parts_of_a_help(self):
        found = command_reference.parse_help(["show"], self.HELP)
        self.assertEqual((found.about, found.usage), ("Print a graph", "recut show [OPTIONS] FILE"))
        self.assertEqual(found.sections["Options"][1:], [["--no-passes Excludes: --passes --rules", "Run no passes"],
                                                         ["--seconds S:POSITIVE", "End after this long, or sooner"]])
        self.assertEqual(found.footer, "Options: none of these.\nExample: recut show a.recut")

    def test_a_reference(self):
        helps = [command_reference.parse_help([name] if name else [], self.HELP) for name in ("", "a", "b", "c")]
        text = command_reference.render([helps[0]._replace(footer="Try"), *helps[1:]])
        self.assertEqual(text.count("| `--seconds S` | End after this long, or sooner |"), 1)
        self.assertIn("| `--no-passes` | Run no passes. Not with `--passes`, `--rules` |", text)
        self.assertEqual(text.count("Also: `--no-passes`, `--seconds`."), 3)


class CommandExamples(unittest.TestCase):
    def help(self, *lines):
        return command_reference.Help(("show",), "", "", {}, "\n".join(["Prose.", "", "Examples:", *lines]))

    def commands(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.recut").write_text("")
            groups = command_examples.document_groups("README.md", text, pathlib.Path(folder))
            return [[" ".join(words[1:]) for words in group.commands] for group in groups]

    def test_examples_of_a_help(self):
        two = self.help("  recut show a.recut", "  recut show b.recut --json")
        self.assertEqual(command_examples.help_examples(two), ["recut show a.recut", "recut show b.recut --json"])
        self.assertEqual(command_examples.help_faults(two), [])
        self.assertEqual(len(command_examples.help_faults(self.help("  recut show a.recut"))), 1)
        self.assertEqual(len(command_examples.help_faults(self.help("  recut show a.recut", "  recut plan a.recut"))), 1)

    def test_commands_of_a_document(self):
        text = """`build/release/recut show a.recut` and `build/release/recut show FILE`, `build/release/recut`
```
build/release/recut grad a.recut --out build/b.recut   # a remark
build/release/recut plan build/b.recut \\
    --budget 80%
build/release/recut plan build/c.recut
build/release/recut grad none.onnx --out build/d.recut
build/release/recut plan build/d.recut
```
"""
        self.assertEqual(self.commands(text), [["grad a.recut --out build/b.recut", "plan build/b.recut --budget 80%"],
                                               ["show a.recut"]])

    def test_a_command_that_fails(self):
        group = command_examples.Group("a.md", [["recut", "3"], ["recut", "0"], ["recut", "--out", "b.json"]])
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "recut"
            program.write_text("#!/bin/sh\nexit $1\n")
            program.chmod(0o755)
            failures = command_examples.run_group(program, folder, group)
        self.assertEqual(failures, ["a.md: recut 3\nexit code 3\n",
                                    "a.md: recut --out b.json\nwrites outside build/: b.json"])


class Functions(unittest.TestCase):
    def names(self, text):
        return [(function.name, function.line, function.lines) for function in functions_of(text)]

    def test_scopes_and_initialisers(self):
        self.assertEqual(self.names("""namespace recut {
struct Row { int a = 0; int twice() const { return 2 * a; } };
constexpr Row rows[] = {
    {1}, {f(2)},
};
const auto table = make({1, 2});
Graph::Graph(int size) : nodes_{size}, names_(size) {
  fill();
}
template <typename T = int>
bool operator==(const T& a, const T& b) {
  return a.x == b.x;  // a comment's {
}
}  // namespace recut
"""), [("twice", 2, 1), ("Graph::Graph", 7, 3), ("operator==", 10, 4)])

    def test_strings_and_raw_strings(self):
        self.assertEqual(self.names('void f() {\n  g("{", \'{\', R"({{{)", 1\'000);\n}\nint h() { return 1; }\n'),
                         [("f", 1, 3), ("h", 4, 1)])

    def test_test_cases(self):
        self.assertEqual(self.names('TEST_CASE("x = {", "[ir]") {\n  CHECK(true);\n}\n'),
                         [("TEST_CASE", 1, 3)])


if __name__ == "__main__":
    unittest.main()
