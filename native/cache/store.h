// A directory in which results are kept between runs, under digests of all that they depend on. The
// door of this room.
//
//   steps/1f0c….entry     the contents, with what proves that they are those (entry.h)
//   steps/1f0c….json      what they are, for people: nothing is run by it
//   kernels/…
//   ways/…                what was measured of libraries' calls on a card, one entry each
//
// Any number of processes may read, write and make room at once, and be killed at any moment: files
// come by renaming and are read whole before they are checked, so that what is used is what was
// kept. What can't be kept (a full disk, a directory that is read-only) costs time and nothing
// else. Entries are this user's own (files.h): who may write there may run code as that user.
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
  std::int64_t limit_bytes = std::int64_t{2} << 30;  // of all entries: the least lately used go
  std::string build;                                 // entries of others are not used
};

// RECUT_CACHE_DIR, or recut in XDG_CACHE_HOME, or .cache/recut at home; RECUT_CACHE_LIMIT bytes
// ("500MiB"); this build. Fails where the limit is no size, and where there is no such directory to
// name.
Result<StoreOptions> usual_options();

struct EntryFacts {
  std::string kind;
  Digest key;
  std::int64_t bytes = 0;   // with the description
  std::int64_t used = 0;    // when last, in nanoseconds since 1970
  std::string description;  // JSON; "" where it has none
  std::string fault;        // "" where it is whole, of whichever build
};

class Store {
 public:
  explicit Store(StoreOptions options);

  const std::string& directory() const { return options_.directory; }
  std::int64_t limit_bytes() const { return options_.limit_bytes; }
  const std::string& build() const { return options_.build; }

  // What was kept under the key, if anything was. Fails where an entry is there that may not be
  // used: damaged, another build's, or not this user's own.
  Result<std::optional<std::string>> find(std::string_view kind, const Digest& key) const;

  // Keeps it, in place of what was there, and makes room for it. `kind`: one of those above.
  // `description`: a JSON object.
  // Fails where it can't be written or is larger than the limit; nothing is left of it then.
  Result<Done> keep(std::string_view kind, const Digest& key, std::string_view payload,
                    std::string_view description) const;

  // All entries, by kind and key; `check` reads them and looks for faults, and for descriptions
  // that are no JSON. Whoever was killed between the two left an entry without a description.
  std::vector<EntryFacts> list(bool check) const;

  // Removes every entry; what else stands in the directory stays. How many there were.
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
