// The inverse of the parser: print(parse(print(k))) is print(k). Each line carries the source
// location of its statement beside the text, so that views can lead from a line to the call it
// computes.
#include "engine/codegen/loop/printer.h"

#include <fmt/core.h>

#include <cmath>

#include "engine/codegen/loop/names.h"
#include "engine/support/text.h"

namespace recut::loop {
namespace {

bool is_identifier(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  for (const char c : name)
    if (!fits(c)) return false;
  return !name.empty();
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel), names_(kernel) {}

  std::vector<PrintedLine> run() {
    line(fmt::format("kernel {} {{", string_literal(kernel_.name)));
    ++depth_;
    for (const std::string& location : kernel_.locations) {
      line(fmt::format("note {}", string_literal(location)));
      lines_.back().location = static_cast<std::uint32_t>(&location - kernel_.locations.data());
    }
    for (std::size_t b = 0; b < kernel_.buffers.size(); ++b) print_buffer(BufferId(b));
    print_body(kernel_.body);
    return std::move(lines_);
  }

 private:
  void line(const std::string& text) {
    lines_.push_back(
        {std::string(static_cast<std::size_t>(depth_) * 2, ' ') + text, location_, {}});
  }

  void print_buffer(BufferId id) {
    static constexpr std::string_view kAccess[] = {"read", "written", "updated", "scratch"};
    const Buffer& buffer = kernel_[id];
    line(fmt::format("buffer {} : {}[{}] {}", names_.of(id), short_name(buffer.dtype),
                     buffer.elements, kAccess[static_cast<std::size_t>(buffer.access)]));
    lines_.back().buffer = id;
  }

  void print_block(const Block& block) {
    const std::uint32_t outer = location_;
    for (const Statement& statement : block) {
      location_ = statement.location;
      std::visit([&](const auto& s) { print_statement(s); }, statement.value);
    }
    location_ = outer;
  }

  void print_statement(const Define& define) {
    line(fmt::format("{} : {} = {}", names_.of(define.value),
                     short_name(kernel_[define.value].type),
                     std::visit([&](const auto& e) { return text(e, kernel_[define.value].type); },
                                define.expression)));
  }

  void print_statement(const Store& store) {
    line(fmt::format("store {}{}[{}], {}",
                     store.combine ? fmt::format("{} ", name_of(*store.combine)) : "",
                     names_.of(store.buffer), format(store.at, names_), names_.of(store.value)));
  }

  void print_statement(const Declare& declare) {
    const Accumulator& accumulator = kernel_[declare.accumulator];
    line(fmt::format("{} : {} = accumulator {} from {}{}", names_.of(declare.accumulator),
                     short_name(accumulator.type), name_of(accumulator.combine),
                     names_.of(declare.initial), lanes_text(accumulator.lanes)));
  }

  void print_statement(const Update& update) {
    line(fmt::format("update {}, {}{}", names_.of(update.accumulator), names_.of(update.value),
                     update.times.valid() ? " * " + names_.of(update.times) : ""));
  }

  void print_statement(const Loop& loop) {
    line(fmt::format("{} {} in 0..{}{} {{", loop.parallel ? "parallel" : "for",
                     names_.of(loop.variable), kernel_[loop.variable].extent,
                     lanes_text(loop.lanes)));
    ++depth_;
    print_body(loop.body);
  }

  void print_statement(const If& branch) {
    line(fmt::format("if {} {{", names_.of(branch.condition)));
    ++depth_;
    print_body(branch.body);
  }

  void print_body(const Block& body) {
    print_block(body);
    --depth_;
    line("}");
  }

  static std::string lanes_text(std::int64_t lanes) {
    return lanes == 1 ? "" : fmt::format(" lanes {}", lanes);
  }

  std::string text(const Constant& constant, DType type) const {
    // A whole number without a point is read as one, which has no -0.
    if (is_floating(type) && constant.real == 0 && std::signbit(constant.real))
      return "constant -0.0";
    if (is_floating(type)) return fmt::format("constant {}", constant.real);
    if (type == DType::boolean) return constant.integer != 0 ? "constant true" : "constant false";
    return fmt::format("constant {}", constant.integer);
  }
  std::string text(const IndexNumber& number, DType) const {
    return fmt::format("index {}", format(number.index, names_));
  }
  std::string text(const Load& load, DType) const {
    return fmt::format("load {}[{}]{}", names_.of(load.buffer), format(load.at, names_),
                       load.where.valid() ? fmt::format(" where {}", names_.of(load.where)) : "");
  }
  std::string text(const Apply& apply, DType) const {
    std::string out(scalar_operator(apply.op).name);
    if (apply.op == ScalarOp::narrow) out += fmt::format(" {}", short_name(apply.stored));
    for (std::size_t i = 0; i < apply.operands.size(); ++i)
      out += fmt::format("{} {}", i == 0 ? "" : ",", names_.of(apply.operands[i]));
    return out;
  }
  std::string text(const Checked& checked, DType) const {
    return fmt::format("check {} in 0..{}", names_.of(checked.value), checked.below);
  }
  std::string text(const ReadAccumulator& read, DType) const {
    return fmt::format("read {}", names_.of(read.accumulator));
  }

  const Kernel& kernel_;
  Names names_;
  std::vector<PrintedLine> lines_;
  std::uint32_t location_ = kUnknownLocation;
  int depth_ = 0;
};

std::string format_atom(const Atom& atom, const Names& names) {
  switch (atom.kind) {
    case AtomKind::loop:
      return names.of(LoopId(atom.id));
    case AtomKind::value:
      return names.of(ValueId(atom.id));
    default:
      return fmt::format("{}({}, {})", atom.kind == AtomKind::quotient ? "div" : "mod",
                         format(*atom.of, names), atom.by);
  }
}

}  // namespace

Names::Names(const Kernel& kernel)
    : buffers_(name_all(kernel.buffers)),
      loops_(name_all(kernel.loops)),
      values_(name_all(kernel.values)),
      accumulators_(name_all(kernel.accumulators)) {}

template <class Parts>
std::vector<std::string> Names::name_all(const Parts& parts) {
  std::vector<std::string> out;
  for (const auto& part : parts) {
    const std::string name = make_unique_name(part.name);
    out.push_back(is_identifier(name) ? "%" + name : "%" + string_literal(name));
  }
  return out;
}

std::string Names::make_unique_name(const std::string& hint) {
  if (!hint.empty() && taken_.insert(hint).second) return hint;
  for (;;) {
    std::string name = hint.empty() ? fmt::format("{}", next_number_++)
                                    : fmt::format("{}_{}", hint, ++next_[hint]);
    if (taken_.insert(name).second) return name;
  }
}

const std::string& Names::look_up(const std::vector<std::string>& names, std::uint32_t index) {
  static const std::string unknown = "%?";
  return index < names.size() ? names[index] : unknown;
}

std::string format(const Index& index, const Names& names) {
  std::string out;
  for (const Term& term : index.terms) {
    if (!out.empty()) out += " + ";
    if (term.factor != 1) out += fmt::format("{}*", term.factor);
    out += format_atom(term.atom, names);
  }
  if (out.empty()) return fmt::format("{}", index.constant);
  return index.constant == 0 ? out : out + fmt::format(" + {}", index.constant);
}

std::string format(const Index& index, const Kernel& kernel) {
  return format(index, Names(kernel));
}

std::vector<PrintedLine> print_lines(const Kernel& kernel) { return Printer(kernel).run(); }

std::string print(const Kernel& kernel) {
  std::string text;
  for (const PrintedLine& line : print_lines(kernel)) text += line.text + "\n";
  return text;
}

}  // namespace recut::loop
