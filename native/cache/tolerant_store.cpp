#include "native/cache/tolerant_store.h"

#include <utility>

namespace recut::cache {

std::optional<std::string> TolerantStore::find(std::string_view kind, const Digest& key) {
  if (!store_) return std::nullopt;
  auto found = store_->find(kind, key);
  if (found) return std::move(*found);
  const Diagnostic& fault = found.diagnostics().front();
  notes_.push_back(fault.file + " isn't used: " + fault.message);
  return std::nullopt;
}

void TolerantStore::keep(std::string_view kind, const Digest& key, std::string_view payload,
                         std::string_view description) {
  if (!store_) return;
  const auto done = store_->keep(kind, key, payload, description);
  if (done) return;
  const Diagnostic& fault = done.diagnostics().front();
  const std::string where = fault.file.empty() ? "" : fault.file + ": ";
  notes_.push_back("nothing is kept in the cache: " + where + fault.message);
}

}  // namespace recut::cache
