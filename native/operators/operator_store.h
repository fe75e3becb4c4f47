// The directory of single operators that are compiled and kept:
//
//   operators/aten/add.Tensor/cpu/record.json    each kernel's arguments
//   operators/aten/add.Tensor/cpu/1f0c….so       a library for each variant
//   operators/lock                               held by a writer
//
// A look-up compares the record with the arguments field by field, and says why it finds nothing.
// Any number of processes may read and write at once, and be killed at any moment: files come by
// renaming, writers take turns at a record, and readers check all bytes. Records and libraries
// are this user's own (native/cache/files.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "native/cache/files.h"
#include "native/cache/store.h"
#include "native/operators/call_facts.h"
#include "native/operators/operator_record.h"

namespace recut::operators {

struct KeptKernel {
  std::string path;  // of its library
  std::string processor;
  std::int64_t arena_bytes = 0;
};

enum class MissKind : std::uint8_t {
  nothing_kept,     // of this operator
  other_device,     // kept for others alone
  other_arguments,  // no entry has these
  other_version,    // of Recut, or another build where the store asks for its own
  other_processor,  // the kernel needs a processor that this machine isn't
  damaged,          // record, entry or library
  compiled_again,   // one is kept, and the caller requests a new one
};
std::string_view name_of(MissKind kind);

struct Miss {
  MissKind kind = MissKind::nothing_kept;
  std::string reason;
  std::vector<std::string> differences;  // from the entry with the fewest
};

struct Lookup {
  std::optional<KeptKernel> kernel;
  Miss miss;  // where there is no kernel
};

struct KeptOperator {
  std::string target, device;
  KernelEntry entry;
  std::int64_t bytes = 0;
  std::int64_t used = 0;  // last use, in nanoseconds since 1970
  std::string fault;      // "" where it is whole, or wasn't checked
};

class OperatorStore {
 public:
  // `options.build`: kernels of other builds are not found; "": those of other versions.
  explicit OperatorStore(cache::StoreOptions options) : options_(std::move(options)) {}

  Lookup find(const CallFacts& call) const;

  // Keeps a library in place of an older one for equal arguments, and evicts the least recently
  // used libraries of operators beyond the limit. Fails where it can't be written.
  Result<KeptKernel> keep(const CallFacts& call, std::string_view library,
                          std::string_view processor, std::int64_t arena_bytes) const;

  // All entries, by operator. `check` reads their libraries, too. A record that can't be read is an
  // entry with a fault and no arguments.
  std::vector<KeptOperator> list(bool check) const;

  // Removes all kernels, and leaves other files. Returns how many entries there were.
  std::size_t clear() const;

 private:
  std::string root() const { return options_.directory + "/operators"; }
  std::string folder(const CallFacts& call) const;
  Result<cache::FileLock> lock() const;
  Miss miss_without_record(const CallFacts& call) const;
  std::optional<Miss> fault_of(const std::string& folder, const KernelEntry& entry) const;
  void make_room(const std::string& kept) const;

  cache::StoreOptions options_;
};

}  // namespace recut::operators
