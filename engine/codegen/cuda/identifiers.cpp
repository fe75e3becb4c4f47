#include "engine/codegen/cuda/identifiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "engine/codegen/cuda/helpers.h"
#include "engine/codegen/loop/names.h"

namespace recut::cuda {
namespace {

// Keywords, and identifiers that the generated text uses itself.
constexpr std::string_view kReservedWords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const "
    "constexpr const_cast continue decltype default delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline int long mutable namespace new "
    "noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq requires concept main thread mask lane "
    "shared partials so_far next seed fault combine old atomicAdd atomicCAS threadIdx blockIdx "
    "blockDim gridDim";

// CUDA's math functions that kernels call; those on f32 have the suffix f.
constexpr std::string_view kFunctions =
    "sqrt floor ceil trunc rint fabs exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos "
    "atan sinh cosh tanh asinh acosh atanh erf erfc lgamma pow atan2 hypot copysign fmod nextafter";

template <class Visit>
void for_each_word(std::string_view words, Visit visit) {
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    visit(std::string(words.substr(begin, end - begin)));
    begin = end + 1;
  }
}

// The identifier for a name such as "%add_1" or "%\"add.1\"".
std::string identifier_of(const std::string& name) {
  std::string word;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      word += c;
    else if (c != '%' && c != '"' && !word.ends_with('_'))
      word += '_';
  if (word.empty() || word.front() == '_' || std::isdigit(static_cast<unsigned char>(word[0])) != 0)
    word = "v" + word;
  return word;
}

}  // namespace

Identifiers::Identifiers(const loop::Kernel& kernel) {
  for_each_word(kReservedWords, [&](const std::string& word) { taken_.insert(word); });
  for_each_word(kFunctions, [&](const std::string& word) { taken_.insert({word, word + "f"}); });
  for (const Helper& helper : all_helpers()) taken_.emplace(helper.name);
  const loop::Names names(kernel);
  const auto name_all = [&](auto id, const auto& parts, std::vector<std::string>& into) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      into.push_back(fresh(identifier_of(names.of(decltype(id)(i)))));
  };
  name_all(loop::BufferId(), kernel.buffers, buffers_);
  name_all(loop::LoopId(), kernel.loops, loops_);
  name_all(loop::ValueId(), kernel.values, values_);
  name_all(loop::AccumulatorId(), kernel.accumulators, accumulators_);
}

std::string Identifiers::fresh(const std::string& hint) {
  std::string name = hint;
  for (int n = 1; !taken_.insert(name).second; ++n) name = fmt::format("{}_{}", hint, n);
  return name;
}

}  // namespace recut::cuda
