#include "native/operators/given_arguments.h"

#include <fmt/core.h>

#include <optional>

#include "engine/input/text_reader.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

namespace recut::operators {
namespace {

constexpr int kMaxDepth = 8;  // of lists in lists

class ArgumentReader : TextReader {
 public:
  ArgumentReader(std::string_view text, std::vector<TensorArgument>& tensors)
      : TextReader(text, ""), tensors_(tensors) {}

  Result<Argument> run() {
    Argument value;
    if (read(value, 0) && token_.kind != TokenKind::end_of_file)
      fail(fmt::format("expected the end of the argument, found {}", found()));
    if (!diagnostics_.empty()) return diagnostics_;
    return value;
  }

 private:
  bool read(Argument& out, int depth) {
    if (token_.kind == TokenKind::number) return parse_number(out);
    if (token_.is("[")) return read_list(out, depth);
    if (token_.kind == TokenKind::word) return read_word(out);
    if (token_.kind != TokenKind::string)
      return fail(
          fmt::format("expected a tensor such as f32[2, 3], a number, true, false, none, a "
                      "dtype, a string or a list, found {}",
                      found()));
    out = token_.text;
    advance();
    return true;
  }

  bool read_list(Argument& out, int depth) {
    if (depth >= kMaxDepth) return fail(fmt::format("lists nested deeper than {}", kMaxDepth));
    advance();
    ArgumentList items;
    while (!token_.is("]")) {
      Argument item;
      if (!read(item, depth + 1)) return false;
      items.push_back(std::move(item));
      if (!accept(",")) break;
    }
    out = std::move(items);
    return expect("]");
  }

  // A dtype before a bracket begins a tensor.
  bool read_word(Argument& out) {
    const Token word = token_;
    const auto dtype = dtype_from_short_name(word.text);
    if (!dtype && is_value_keyword(word.text)) return parse_value_keyword(out);
    advance();
    if (token_.is("[")) return dtype ? read_tensor(out, *dtype, word) : fail_dtype(word);
    if (dtype)
      out = *dtype;
    else
      out = word.text;
    return true;
  }

  bool fail_dtype(const Token& word) {
    TypoCorrection near(word.text);
    for (std::size_t i = 0; i < kDTypes; ++i) {
      const std::string_view name = short_name(static_cast<DType>(i));
      near.consider(name);
      near.consider(torch_name(static_cast<DType>(i)), name);
    }
    return fail_at(word, fmt::format("unknown dtype '{}'{}", word.text, near.suggestion()));
  }

  bool read_tensor(Argument& out, DType dtype, const Token& word) {
    TensorArgument tensor;
    tensor.type.dtype = dtype;
    if (!read_sizes(tensor.type.shape)) return false;
    if (const auto sound = check_size(tensor.type); !sound)
      return fail_at(word, sound.diagnostics().front().message);
    if (!read_strides(tensor.type, word) || !parse_device(tensor.type.device)) return false;
    if (tensor.type.device.empty()) tensor.type.device = "cpu";
    const Token grad = token_;
    tensor.requires_grad = accept("grad");
    if (tensor.requires_grad && !has_gradient(dtype))
      return fail_at(grad, fmt::format("a tensor of {} has no gradient, expected a real or complex "
                                       "dtype before grad",
                                       short_name(dtype)));
    out = NodeId{static_cast<std::uint32_t>(tensors_.size())};
    tensors_.push_back(std::move(tensor));
    return true;
  }

  bool read_sizes(Shape& shape) {
    if (!expect("[")) return false;
    while (!token_.is("]")) {
      if (token_.kind != TokenKind::number)
        return fail(
            fmt::format("size {} is {}: dynamic sizes are not compiled. Give each size as "
                        "a number, and compile once for each",
                        shape.size(), found()));
      if (!parse_whole_number(shape.emplace_back())) return false;
      if (!accept(",")) break;
    }
    return expect("]");
  }

  bool read_strides(TensorType& type, const Token& word) {
    type.strides = contiguous_strides(type.shape);
    if (!token_.is("{")) return true;
    type.strides.clear();
    if (!parse_integers("{", "}", type.strides)) return false;
    if (type.strides.size() != type.shape.size())
      return fail_at(word, fmt::format("{} strides for {} dimensions", type.strides.size(),
                                       type.shape.size()));
    for (const std::int64_t stride : type.strides)
      if (stride < 0 || stride > kMaxBytes)
        return fail_at(word, fmt::format("a stride of {}, expected 0 to {}", stride, kMaxBytes));
    return true;
  }

  std::vector<TensorArgument>& tensors_;
};

// Faults name the argument's text, which is no file.
Result<Argument> read_argument(std::string_view text, std::vector<TensorArgument>& tensors) {
  auto value = ArgumentReader(text, tensors).run();
  if (value) return value;
  const Diagnostic& fault = value.diagnostics().front();
  return error(fmt::format("{}, column {}: {}", quote(text), fault.column, fault.message));
}

}  // namespace

Result<GivenArguments> read_arguments(const std::vector<std::string>& positional,
                                      const std::vector<std::string>& named) {
  GivenArguments given;
  for (const std::string& text : positional) {
    auto value = read_argument(text, given.tensors);
    if (!value) return value.diagnostics();
    given.positional.push_back(std::move(*value));
  }
  for (const std::string& text : named) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return error(fmt::format("{} found, expected NAME=VALUE, such as alpha=2", quote(text)));
    auto value = read_argument(std::string_view(text).substr(equals + 1), given.tensors);
    if (!value) return value.diagnostics();
    given.named.emplace_back(text.substr(0, equals), std::move(*value));
  }
  return given;
}

}  // namespace recut::operators
