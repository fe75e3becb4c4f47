// A store for callers that can do without: failures cost time and nothing else, and are noted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "native/cache/store.h"

namespace recut::cache {

class TolerantStore {
 public:
  // Without a store nothing is found and nothing kept.
  explicit TolerantStore(std::optional<Store> store) : store_(std::move(store)) {}

  bool exists() const { return store_.has_value(); }
  const std::optional<Store>& store() const { return store_; }
  std::string build() const { return store_ ? store_->build() : ""; }  // of the entries

  // The usable contents kept under the key.
  std::optional<std::string> find(std::string_view kind, const Digest& key);
  void keep(std::string_view kind, const Digest& key, std::string_view payload,
            std::string_view description);

  // Entries that couldn't be used or kept, and why.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::optional<Store> store_;
  std::vector<std::string> notes_;
};

}  // namespace recut::cache
