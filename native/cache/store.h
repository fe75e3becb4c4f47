// A directory of results kept between runs, under digests of all their inputs. The
// public header of this component.
//
//   steps/1f0c….entry     the contents and their proof (entry.h)
//   steps/1f0c….json      a description for users, which Recut never reads
//   kernels/…
//   ways/…                measured algorithms of library calls, one entry per GPU and driver
//
// Any number of processes may read, write and evict at once, and be killed at any moment: files
// come by renaming and are read whole before they are checked, so that only kept contents are used.
// Failures (a full disk, a read-only directory) cost time and nothing else. Entries are this user's
// own (files.h), since write access to the directory is enough to run code as that user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "native/cache/digest.h"

namespace recut::cache {

struct StoreOptions {
  std::string directory;
  std::int64_t limit_bytes = std::int64_t{2} << 30;  // of all entries (LRU)
  std::string build;                                 // entries of other builds are not used
};

// From the environment: RECUT_CACHE_DIR, or recut in XDG_CACHE_HOME, or .cache/recut in the home
// directory; RECUT_CACHE_LIMIT bytes ("500MiB"); this build. Fails where the limit is no size, and
// where no directory can be named.
Result<StoreOptions> default_store_options();

struct EntryFacts {
  std::string kind;
  Digest key;
  std::int64_t bytes = 0;   // with the description
  std::int64_t used = 0;    // last use, in nanoseconds since 1970
  std::string description;  // JSON; "" where it has none
  std::string fault;        // "" where it is whole, whichever build wrote it
};

class Store {
 public:
  explicit Store(StoreOptions options);

  const std::string& directory() const { return options_.directory; }
  std::int64_t limit_bytes() const { return options_.limit_bytes; }
  const std::string& build() const { return options_.build; }

  // The contents kept under the key, if any. Fails where an entry exists that may not be used:
  // damaged, another build's, or not this user's own.
  Result<std::optional<std::string>> find(std::string_view kind, const Digest& key) const;

  // Keeps the contents in place of older ones, and evicts to make component. `kind`: a folder of
  // those above. `description`: a JSON object. Fails where it can't be written or exceeds the
  // limit; then nothing is left.
  Result<Done> keep(std::string_view kind, const Digest& key, std::string_view payload,
                    std::string_view description) const;

  // All entries, by kind and key. `check` reads them and looks for faults, and for descriptions
  // that are no JSON. A writer that was killed between the two files left an entry without a
  // description.
  std::vector<EntryFacts> list(bool check) const;

  // Removes every entry and leaves other files. Returns how many there were.
  std::size_t clear() const;

 private:
  std::string folder(std::string_view kind) const;
  std::string path(std::string_view kind, const Digest& key, std::string_view ending) const;
  std::vector<EntryFacts> scan() const;
  void remove(std::string_view kind, const Digest& key) const;
  void make_room(std::string_view kind, const Digest& kept) const;
  std::string fault_of(const EntryFacts& entry) const;

  StoreOptions options_;
};

}  // namespace recut::cache
