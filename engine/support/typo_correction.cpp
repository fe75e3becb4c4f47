#include "engine/support/typo_correction.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/support/text.h"

namespace recut {
namespace {

// Longer names aren't typed by hand, and comparing two takes the product of their lengths.
constexpr std::size_t kMaxNameLength = 200;

// Edit distance of two texts, at most `limit`.
std::size_t edits_between(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() > kMaxNameLength || b.size() - a.size() >= limit) return limit;
  std::vector<std::size_t> row(a.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t j = 1; j <= b.size(); ++j) {
    std::size_t diagonal = row[0];
    row[0] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[i];
      row[i] = std::min({replaced, row[i] + 1, row[i - 1] + 1});
    }
  }
  return std::min(limit, row.back());
}

// Length of the common prefix: typing errors are rare at the beginning of a word.
std::size_t letters_in_common(std::string_view a, std::string_view b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t same = 0;
  while (same < shorter && a[same] == b[same]) ++same;
  return same;
}

// The largest edit distance, exclusive: short names allow fewer edits, since one edit reaches many
// of them.
std::size_t limit_for(std::size_t letters) {
  if (letters < 2) return 1;
  return letters < 5 ? 2 : std::max<std::size_t>(3, letters / 2);
}

}  // namespace

TypoCorrection::TypoCorrection(std::string_view target)
    : target_(target), limit_(limit_for(target.size())) {}

void TypoCorrection::consider(std::string_view key, std::string_view name) {
  const bool found = !name_.empty();
  const std::size_t edits = edits_between(target_, key, limit_ + (found ? 1 : 0));
  const std::size_t same = letters_in_common(target_, key);
  if (found ? edits > limit_ || (edits == limit_ && same <= same_) : edits >= limit_) return;
  limit_ = edits;
  same_ = same;
  name_ = name;
}

std::string TypoCorrection::suggestion() const {
  return name_.empty() ? "" : "; did you mean " + quote(name_) + "?";
}

}  // namespace recut
