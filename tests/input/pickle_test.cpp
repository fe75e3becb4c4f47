// Pickles as plain data: every opcode that makes data, and the refusal of every other.
#include "engine/input/pickle.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/input/pickle_opcodes.h"

namespace recut {
namespace {

using namespace std::string_literals;

// A value as Python prints it.
std::string python_text(const PickleDocument& pickle, PickleValue value, int depth = 0) {
  if (depth > 8) return "…";
  const auto items = [&](const char* open, const char* close) {
    std::string text = open;
    pickle.each_item(value, [&](PickleValue item) {
      text += (text.size() > 1 ? ", " : "") + python_text(pickle, item, depth + 1);
    });
    return text + close;
  };
  switch (value.kind) {
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return value.integer() != 0 ? "True" : "False";
    case PickleKind::integer:
      return fmt::format("{}", value.integer());
    case PickleKind::unsigned_integer:
      return fmt::format("{}", value.bits);
    case PickleKind::real:
      return fmt::format("{}", value.real());
    case PickleKind::text:
      return fmt::format("'{}'", pickle.text(value));
    case PickleKind::list:
      return items("[", "]");
    case PickleKind::tuple:
      return items("(", ")");
    case PickleKind::dict:
      break;
  }
  std::string text = "{";
  pickle.each_pair(value, [&](PickleValue key, PickleValue one) {
    text += (text.size() > 1 ? ", " : "") + python_text(pickle, key, depth + 1) + ": " +
            python_text(pickle, one, depth + 1);
  });
  return text + "}";
}

std::string data_of(const std::string& opcodes) {
  const std::string bytes = "\x80\x04" + opcodes + ".";
  const auto pickle = parse_pickle(bytes, "x.pickle");
  if (!pickle) return pickle.diagnostics().front().message;
  return python_text(*pickle, pickle->root());
}

TEST_CASE("pickles: each kind of value") {
  CHECK(data_of("N") == "None");
  CHECK(data_of("\x88") == "True");
  CHECK(data_of("\x89") == "False");
  CHECK(data_of("K\xff") == "255");
  CHECK(data_of("M\x01\x02") == "513");
  CHECK(data_of("J\xfe\xff\xff\xff") == "-2");
  CHECK(data_of("\x8a\x00"s) == "0");
  CHECK(data_of("\x8a\x01\x80") == "-128");
  CHECK(data_of("\x8a\x02\x80\x00"s) == "128");
  CHECK(data_of("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s) == "-9223372036854775808");
  CHECK(data_of("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00"s) == "9223372036854775808");
  CHECK(data_of("\x8b\x01\x00\x00\x00\x05"s) == "5");
  CHECK(data_of("G\x3f\xf8\x00\x00\x00\x00\x00\x00"s) == "1.5");
  CHECK(data_of("\x8c\x02hi") == "'hi'");
  CHECK(data_of("X\x02\x00\x00\x00hi"s) == "'hi'");
  CHECK(data_of("\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi"s) == "'hi'");
  CHECK(data_of("\x95\x03\x00\x00\x00\x00\x00\x00\x00K\x07"s) == "7");
}

TEST_CASE("pickles: lists, tuples and dicts") {
  CHECK(data_of("]") == "[]");
  CHECK(data_of(")") == "()");
  CHECK(data_of("}") == "{}");
  CHECK(data_of("]K\x01"
                "aK\x02"
                "a(K\x03K\x04"
                "e") == "[1, 2, 3, 4]");
  CHECK(data_of("](e") == "[]");
  CHECK(data_of("K\x01\x85") == "(1)");
  CHECK(data_of("K\x01K\x02\x86") == "(1, 2)");
  CHECK(data_of("K\x01K\x02K\x03\x87") == "(1, 2, 3)");
  CHECK(data_of("(K\x01K\x02K\x03K\x04t") == "(1, 2, 3, 4)");
  CHECK(data_of("}\x8c\x01"
                "aK\x01s(\x8c\x01"
                "bK\x02\x8c\x01"
                "cK\x03u") == "{'a': 1, 'b': 2, 'c': 3}");
}

TEST_CASE("pickles: the memo shares values, and lists may hold themselves") {
  CHECK(data_of("]\x94\x8c\x01x\x94"
                "ah\x01"
                "a") == "['x', 'x']");
  CHECK(data_of("]q\x00\x8c\x01xr\x01\x00\x00\x00"
                "aj\x01\x00\x00\x00"
                "a"s) == "['x', 'x']");
  // Two lists that grow by turns.
  CHECK(data_of("(]\x94]\x94"
                "ah\x01K\x02"
                "ah\x00K\x01"
                "ah\x01K\x03"
                "at"s) == "([[2, 3], 1], [2, 3], [[2, 3], 1], [2, 3])");
  CHECK(data_of("]\x94h\x00"
                "a"s) == "[[[[[[[[[…]]]]]]]]]");
}

TEST_CASE("pickles: every opcode that isn't data is refused by name and offset") {
  std::size_t refused = 0;
  for (const PickleOpcode& opcode : pickle_opcodes()) {
    if (opcode.action != PickleAction::imports && opcode.action != PickleAction::calls &&
        opcode.action != PickleAction::foreign)
      continue;
    ++refused;
    const std::string message = data_of("N"s + opcode.byte + "os\nsystem\n");
    CAPTURE(opcode.name, message);
    CHECK(message.starts_with(fmt::format("byte 3: opcode {} ", opcode.name)));
    CHECK(message.find("runs nothing") != std::string::npos);
  }
  CHECK(refused == 36);
  // An attacker's pickle: os.system("x").
  CHECK(data_of("cos\nsystem\n\x8c\x01x\x85R")
            .starts_with("byte 2: opcode GLOBAL would import a name"));
}

TEST_CASE("pickles: damage is a diagnostic with its offset") {
  const auto message = [](const std::string& bytes) {
    const auto pickle = parse_pickle(bytes, "x.pickle");
    REQUIRE_FALSE(pickle.ok());
    CHECK(pickle.diagnostics().front().file == "x.pickle");
    return pickle.diagnostics().front().message;
  };
  CHECK(message("") == "byte 0: this is no pickle of protocol 2 to 5");
  CHECK(message("\x80\x06N.") == "byte 0: the pickle's protocol is 6, expected 2 to 5");
  CHECK(message("\x80\x04N") == "byte 3: the pickle is cut off: it has no STOP");
  CHECK(message("\x80\x04N.x") ==
        "byte 4: 1 bytes follow the pickle's STOP, expected the file's end");
  CHECK(message("\x80\x04.") == "byte 2: STOP with 0 values, expected one: the file is damaged");
  CHECK(message("\x80\x04NN.") == "byte 4: STOP with 2 values, expected one: the file is damaged");
  CHECK(message("\x80\x04\xfe") == "byte 2: 0xfe is no opcode of a pickle, so the file is damaged");
  CHECK(message("\x80\x04\x8c\x10hi") ==
        "byte 2: opcode SHORT_BINUNICODE takes 16 bytes, but the file has 2 more: it is cut off or "
        "damaged");
  CHECK(message("\x80\x04X\xff\xff\xff\xffhi").find("takes 4294967295 bytes") != std::string::npos);
  CHECK(message("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xffhi")
            .find("takes 18446744073709551615 bytes") != std::string::npos);
  CHECK(message("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff").find("a frame of") !=
        std::string::npos);
  CHECK(message("\x80\x04h\x00."s) == "byte 2: the memo has no place 0: it holds 0 values");
  CHECK(message("\x80\x04Nr\xff\xff\xff\x7f.") ==
        "byte 3: opcode LONG_BINPUT writes place 2147483647 of the memo, expected at most 0");
  CHECK(message("\x80\x04\x94.") ==
        "byte 2: opcode MEMOIZE has no value to remember: the file is "
        "damaged");
  CHECK(message("\x80\x04]NNu.") ==
        "byte 5: opcode SETITEMS needs a MARK below it: the file is "
        "damaged");
  CHECK(message("\x80\x04](NNu.") == "byte 6: opcode SETITEMS found a list, expected a dict");
  CHECK(message("\x80\x04}(Nu.") == "byte 5: opcode SETITEMS found a key without a value");
  CHECK(message("\x80\x04"
                "a.") ==
        "byte 2: opcode APPEND lacks values below it: the file is "
        "damaged");
  // A value below the mark is no part of the list above it.
  CHECK(message("\x80\x04](a.") ==
        "byte 4: opcode APPEND lacks values below it: the file is "
        "damaged");
  CHECK(message("\x80\x04\x8a\x0a"
                "0123456789.")
            .find("an integer of 10 bytes") != std::string::npos);
  CHECK(message("\x80\x04\x8a\x09"
                "\x00\x00\x00\x00\x00\x00\x00\x00\x01."s)
            .find("an integer beyond 64 bits") != std::string::npos);
  CHECK(message("\x80\x04" + std::string(1000, '(') + ".") ==
        "byte 258: values are nested deeper than 256");
}

TEST_CASE("pickles: a value that is shared a million times is there once") {
  std::string bytes = "\x80\x04]\x94(";
  for (int i = 0; i < 1'000'000; ++i) bytes += "h\x00"s;
  bytes += "e.";
  const auto pickle = parse_pickle(bytes, "x.pickle");
  REQUIRE(pickle.ok());
  CHECK(pickle->containers() == 1);
  CHECK(pickle->size(pickle->root()) == 1'000'000);
}

TEST_CASE("pickles: more values than the bound are refused") {
  const auto message = [](const std::string& opcodes) {
    const std::string bytes = "\x80\x04" + opcodes;
    const auto pickle = parse_pickle(bytes, "x.pickle", 100);
    return pickle ? "" : pickle.diagnostics().front().message;
  };
  const std::string bound = "the pickle holds more than the 100 values that Recut reads";
  CHECK(message(std::string(200, 'N')) == "byte 102: " + bound);
  CHECK(message("N" + std::string(200, '\x94')) == "byte 103: " + bound);
  std::string list = "]";
  for (int i = 0; i < 200; ++i) list += "Na";
  CHECK(message(list) == "byte 201: " + bound);
}

}  // namespace
}  // namespace recut
