// A stack machine without its dangerous half. Python's own reader runs a program that may import
// and call anything; of its 68 opcodes this one knows the 32 that make plain data.
//
//   Each opcode pushes a value, moves values of the stack into a list, tuple or dict, or reads or
//   writes the memo. Values are 16 bytes and refer to texts and lists by index. So a value that the
//   file shares a million times is there once, and each byte of the file adds a bounded number of
//   bytes here.
//
// A list's values stand in runs of one common array: APPENDS moves those above the mark there.
// Nothing recurses. Cost: O(bytes).
#include "engine/input/pickle.h"

#include <fmt/core.h>

#include <array>

#include "engine/input/pickle_opcodes.h"

namespace recut {
namespace {

constexpr std::size_t kMaxLongBytes = 9;  // 64 bits and a sign

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The row of a byte, or null.
const PickleOpcode* pickle_opcode_of(char byte) {
  static const auto table = [] {
    std::array<const PickleOpcode*, 256> rows{};
    for (const PickleOpcode& row : pickle_opcodes())
      rows[static_cast<unsigned char>(row.byte)] = &row;
    return rows;
  }();
  return table[static_cast<unsigned char>(byte)];
}

std::size_t fixed_bytes(PickleArgument argument) {
  switch (argument) {
    case PickleArgument::nothing:
      return 0;
    case PickleArgument::byte:
    case PickleArgument::text_of_byte:
    case PickleArgument::integer_of_byte:
      return 1;
    case PickleArgument::two_bytes:
      return 2;
    case PickleArgument::four_bytes:
    case PickleArgument::text_of_four:
    case PickleArgument::integer_of_four:
      return 4;
    case PickleArgument::eight_bytes:
    case PickleArgument::text_of_eight:
      return 8;
  }
  return 0;
}

bool has_length(PickleArgument argument) {
  return argument == PickleArgument::text_of_byte || argument == PickleArgument::text_of_four ||
         argument == PickleArgument::text_of_eight || argument == PickleArgument::integer_of_byte ||
         argument == PickleArgument::integer_of_four;
}

}  // namespace

std::string_view describe(PickleKind kind) {
  switch (kind) {
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return "a boolean";
    case PickleKind::integer:
    case PickleKind::unsigned_integer:
      return "an integer";
    case PickleKind::real:
      return "a float";
    case PickleKind::text:
      return "a string";
    case PickleKind::list:
      return "a list";
    case PickleKind::tuple:
      return "a tuple";
    case PickleKind::dict:
      return "a dict";
  }
  return "";
}

std::size_t PickleDocument::size(PickleValue container) const {
  const std::size_t values = containers_[container.index()].values;
  return container.is(PickleKind::dict) ? values / 2 : values;
}

bool looks_like_pickle(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 15;
}

class PickleReader {
 public:
  PickleReader(std::string_view bytes, std::string_view file_name, std::size_t max_values)
      : bytes_(bytes), file_(file_name), max_values_(max_values) {}

  Result<PickleDocument> read() {
    if (!looks_like_pickle(bytes_)) return error_at(0, "this is no pickle of protocol 2 to 5");
    while (!stopped_ && fault_.empty()) step();
    if (!fault_.empty()) return error_at(begin_, fault_);
    if (at_ != bytes_.size())
      return error_at(at_, fmt::format("{} bytes follow the pickle's STOP, expected the file's end",
                                       bytes_.size() - at_));
    return std::move(document_);
  }

 private:
  Diagnostic error_at(std::size_t offset, const std::string& message) const {
    return {fmt::format("byte {}: {}", offset, message), std::string(file_), 0, 0};
  }
  void fail(std::string message) {
    if (fault_.empty()) fault_ = std::move(message);
  }

  void step() {
    begin_ = at_;
    if (at_ == bytes_.size()) return fail("the pickle is cut off: it has no STOP");
    const PickleOpcode* opcode = pickle_opcode_of(bytes_[at_]);
    if (opcode == nullptr)
      return fail(fmt::format("{:#04x} is no opcode of a pickle, so the file is damaged",
                              static_cast<unsigned char>(bytes_[at_])));
    ++at_;
    if (refused(*opcode)) return;
    const std::string_view argument = argument_of(*opcode);
    if (!fault_.empty()) return;
    perform(*opcode, argument);
    if (stack_.size() + document_.values_.size() > max_values_ || memo_.size() > max_values_)
      fail(fmt::format("the pickle holds more than the {} values that Recut reads", max_values_));
  }

  bool refused(const PickleOpcode& opcode) {
    constexpr std::string_view expected =
        "Recut reads plain data alone, as torch.cuda.memory._dump_snapshot writes it, and runs "
        "nothing";
    if (opcode.action == PickleAction::imports)
      fail(fmt::format("opcode {} would import a name: {}", opcode.name, expected));
    else if (opcode.action == PickleAction::calls)
      fail(fmt::format("opcode {} would call or build something: {}", opcode.name, expected));
    else if (opcode.action == PickleAction::foreign)
      fail(fmt::format("opcode {} stands for data that no snapshot holds: {}", opcode.name,
                       expected));
    return !fault_.empty();
  }

  std::string_view take(const PickleOpcode& opcode, std::uint64_t count) {
    if (count > bytes_.size() - at_) {
      fail(fmt::format(
          "opcode {} takes {} bytes, but the file has {} more: it is cut off or damaged",
          opcode.name, count, bytes_.size() - at_));
      return {};
    }
    at_ += static_cast<std::size_t>(count);
    return bytes_.substr(at_ - static_cast<std::size_t>(count), static_cast<std::size_t>(count));
  }

  std::string_view argument_of(const PickleOpcode& opcode) {
    const std::string_view fixed = take(opcode, fixed_bytes(opcode.argument));
    if (!fault_.empty() || !has_length(opcode.argument)) return fixed;
    return take(opcode, little_endian(fixed));
  }

  void perform(const PickleOpcode& opcode, std::string_view argument) {
    switch (opcode.action) {
      case PickleAction::imports:
      case PickleAction::calls:
      case PickleAction::foreign:
        return;
      case PickleAction::protocol:
        return protocol(argument[0]);
      case PickleAction::frame:
        return frame(little_endian(argument));
      case PickleAction::stop:
        return stop();
      case PickleAction::mark:
        return mark();
      case PickleAction::remember:
        return remember(opcode, memo_.size());
      case PickleAction::remember_at:
        return remember(opcode, little_endian(argument));
      case PickleAction::recall:
        return recall(little_endian(argument));
      case PickleAction::append:
      case PickleAction::extend:
      case PickleAction::set_item:
      case PickleAction::set_items:
        return extend(opcode);
      case PickleAction::tuple_of_one:
        return tuple(opcode, 1);
      case PickleAction::tuple_of_two:
        return tuple(opcode, 2);
      case PickleAction::tuple_of_three:
        return tuple(opcode, 3);
      case PickleAction::tuple:
        if (take_mark(opcode)) tuple(opcode, stack_.size() - marked_);
        return;
      default:
        return push_value(opcode, argument);
    }
  }

  void protocol(char number) {
    if (number > 5)
      fail(fmt::format("the pickle's protocol is {}, expected 2 to 5", static_cast<int>(number)));
    else if (begin_ != 0)
      fail("opcode PROTO stands inside of the pickle, so the file is damaged");
  }

  void frame(std::uint64_t size) {
    if (size > bytes_.size() - at_)
      fail(fmt::format("a frame of {} bytes, but the file has {} more: it is cut off or damaged",
                       size, bytes_.size() - at_));
  }

  void stop() {
    stopped_ = true;
    if (stack_.size() != 1 || !marks_.empty())
      return fail(
          fmt::format("STOP with {} values, expected one: the file is damaged", stack_.size()));
    document_.root_ = stack_.back();
  }

  void mark() {
    if (marks_.size() == kMaxPickleDepth)
      return fail(fmt::format("values are nested deeper than {}", kMaxPickleDepth));
    marks_.push_back(stack_.size());
  }

  // The values above the last mark; it is gone then.
  bool take_mark(const PickleOpcode& opcode) {
    if (marks_.empty()) {
      fail(fmt::format("opcode {} needs a MARK below it: the file is damaged", opcode.name));
      return false;
    }
    marked_ = marks_.back();
    marks_.pop_back();
    return true;
  }

  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  void push_value(const PickleOpcode& opcode, std::string_view argument) {
    switch (opcode.action) {
      case PickleAction::none:
        return push(PickleKind::none, 0);
      case PickleAction::no:
      case PickleAction::yes:
        return push(PickleKind::boolean, opcode.action == PickleAction::yes ? 1 : 0);
      case PickleAction::number:
        return push(PickleKind::integer, little_endian(argument));
      case PickleAction::signed_number:
        return push(PickleKind::integer,
                    static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(
                        static_cast<std::uint32_t>(little_endian(argument)))}));
      case PickleAction::integer:
        return integer(opcode, argument);
      case PickleAction::real: {
        std::string reversed(argument.rbegin(), argument.rend());  // the only big-endian opcode
        return push(PickleKind::real, little_endian(reversed));
      }
      case PickleAction::text:
        document_.texts_.push_back(argument);
        return push(PickleKind::text, document_.texts_.size() - 1);
      case PickleAction::empty_list:
        return push_container(PickleKind::list);
      case PickleAction::empty_dict:
        return push_container(PickleKind::dict);
      default:
        return push_container(PickleKind::tuple);
    }
  }

  void push(PickleKind kind, std::uint64_t bits) { stack_.push_back({kind, bits}); }
  void push_container(PickleKind kind) {
    document_.containers_.emplace_back();
    push(kind, document_.containers_.size() - 1);
  }

  // Two's complement of any length.
  void integer(const PickleOpcode& opcode, std::string_view bytes) {
    if (bytes.empty()) return push(PickleKind::integer, 0);
    if (bytes.size() > kMaxLongBytes)
      return fail(fmt::format("opcode {} holds an integer of {} bytes, expected at most {}",
                              opcode.name, bytes.size(), kMaxLongBytes));
    const bool negative = (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
    std::uint64_t bits = little_endian(bytes.substr(0, 8));
    if (bytes.size() < 8 && negative) bits |= ~std::uint64_t{0} << (8 * bytes.size());
    const bool top = (bits >> 63) != 0;
    if (bytes.size() < kMaxLongBytes) return push(PickleKind::integer, bits);
    const auto ninth = static_cast<unsigned char>(bytes.back());
    if (ninth == 0) return push(top ? PickleKind::unsigned_integer : PickleKind::integer, bits);
    if (ninth == 0xff && top) return push(PickleKind::integer, bits);
    fail(fmt::format("opcode {} holds an integer beyond 64 bits", opcode.name));
  }

  // A memo is written in order, and a place may be written again.
  void remember(const PickleOpcode& opcode, std::uint64_t place) {
    if (stack_.size() == floor())
      return fail(
          fmt::format("opcode {} has no value to remember: the file is damaged", opcode.name));
    if (place > memo_.size())
      return fail(fmt::format("opcode {} writes place {} of the memo, expected at most {}",
                              opcode.name, place, memo_.size()));
    if (place == memo_.size()) memo_.emplace_back();
    memo_[static_cast<std::size_t>(place)] = stack_.back();
  }

  void recall(std::uint64_t place) {
    if (place >= memo_.size())
      return fail(fmt::format("the memo has no place {}: it holds {} values", place, memo_.size()));
    stack_.push_back(memo_[static_cast<std::size_t>(place)]);
  }

  // Moves the uppermost values of the stack to the end of a container.
  void move_into(PickleValue container, std::size_t count) {
    if (count > 0) {
      auto& into = document_.containers_[container.index()];
      const auto first = static_cast<std::uint32_t>(document_.values_.size());
      document_.values_.insert(document_.values_.end(),
                               stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
      PickleDocument::Run* last =
          into.last_run == PickleDocument::kNoRun ? nullptr : &document_.runs_[into.last_run];
      if (last != nullptr && last->first + last->count == first) {
        last->count += static_cast<std::uint32_t>(count);
      } else {
        const auto run = static_cast<std::uint32_t>(document_.runs_.size());
        document_.runs_.push_back({first, static_cast<std::uint32_t>(count)});
        if (last != nullptr) last->next = run;
        if (last == nullptr) into.first_run = run;
        into.last_run = run;
      }
      into.values += static_cast<std::uint32_t>(count);
    }
    stack_.resize(stack_.size() - count);
  }

  // APPEND, APPENDS, SETITEM, SETITEMS.
  void extend(const PickleOpcode& opcode) {
    const bool pairs =
        opcode.action == PickleAction::set_item || opcode.action == PickleAction::set_items;
    const bool many =
        opcode.action == PickleAction::extend || opcode.action == PickleAction::set_items;
    if (many && !take_mark(opcode)) return;
    const std::size_t one = pairs ? 2 : 1;
    const std::size_t count = many ? stack_.size() - marked_ : one;
    if (stack_.size() < floor() + count + 1)
      return fail(fmt::format("opcode {} lacks values below it: the file is damaged", opcode.name));
    const PickleValue container = stack_[stack_.size() - count - 1];
    const PickleKind expected = pairs ? PickleKind::dict : PickleKind::list;
    if (!container.is(expected))
      return fail(fmt::format("opcode {} found {}, expected {}", opcode.name,
                              describe(container.kind), describe(expected)));
    if (count % one != 0)
      return fail(fmt::format("opcode {} found a key without a value", opcode.name));
    move_into(container, count);
  }

  void tuple(const PickleOpcode& opcode, std::size_t count) {
    if (stack_.size() < floor() + count)
      return fail(fmt::format("opcode {} lacks values below it: the file is damaged", opcode.name));
    document_.containers_.emplace_back();
    const PickleValue made{PickleKind::tuple, document_.containers_.size() - 1};
    move_into(made, count);
    stack_.push_back(made);
  }

  std::string_view bytes_;
  std::string_view file_;
  std::size_t max_values_;
  std::size_t at_ = 0, begin_ = 0;  // begin_: of the opcode that is read
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::size_t marked_ = 0;          // the mark that was taken last
  std::vector<PickleValue> memo_;
  PickleDocument document_;
  bool stopped_ = false;
  std::string fault_;
};

Result<PickleDocument> parse_pickle(std::string_view bytes, std::string_view file_name,
                                    std::size_t max_values) {
  return PickleReader(bytes, file_name, max_values).read();
}

}  // namespace recut
