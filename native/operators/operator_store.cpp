#include "native/operators/operator_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "engine/support/units.h"
#include "engine/support/version.h"
#include "native/operators/processor.h"

// find: record ⇒ entry with equal arguments ⇒ version, processor, library's digest ⇒ kernel
// keep: lock ⇒ library by renaming ⇒ record without entries that are of no use, by renaming
// A reader between the two writes sees the old record. A library that no record names is evicted in
// its turn.

namespace recut::operators {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecord = "/record.json";

struct DeviceFolder {
  std::string path, target, device;
};

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code gone;
  for (auto at = fs::directory_iterator(path, gone); at != fs::directory_iterator();
       at.increment(gone))
    if (at->is_directory(gone)) names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<DeviceFolder> device_folders(const std::string& root) {
  std::vector<DeviceFolder> found;
  for (const std::string& space : folders_in(root))
    for (const std::string& name : folders_in(root + "/" + space))
      for (const std::string& device : folders_in(root + "/" + space + "/" + name))
        found.push_back(
            {root + "/" + space + "/" + name + "/" + device, space + "." + name, device});
  return found;
}

// The entries of a folder's record; none where there is no record.
Result<std::vector<KernelEntry>> entries_in(const std::string& folder, const std::string& target,
                                            const std::string& device) {
  const auto text = cache::read_own(folder + kRecord);
  if (!text) return text.diagnostics();
  if (!*text) return std::vector<KernelEntry>();
  return read_record(**text, target, device);
}

// A device as the name of a folder: users may write any text.
std::string folder_name(std::string device) {
  for (char& c : device) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_';
    if (!plain) c = '_';
  }
  return device;
}

std::string first_message(const Diagnostics& diagnostics) { return diagnostics.front().message; }

// "" where the library is there and whole.
std::string library_fault(const std::string& folder, const std::string& library) {
  const auto bytes = cache::read_own(folder + "/" + library);
  if (!bytes) return "its library can't be used: " + first_message(bytes.diagnostics());
  if (!*bytes) return "its library is gone: it was evicted or removed";
  if (library_name(**bytes) != library) return "its library is damaged";
  return "";
}

std::string with_damaged(std::string reason, std::size_t damaged) {
  if (damaged > 0)
    reason += fmt::format("; {} entr{} damaged", damaged, damaged == 1 ? "y is" : "ies are");
  return reason;
}

}  // namespace

std::string_view name_of(MissKind kind) {
  switch (kind) {
    case MissKind::nothing_kept:
      return "nothing kept";
    case MissKind::other_device:
      return "other device";
    case MissKind::other_arguments:
      return "other arguments";
    case MissKind::other_version:
      return "other version";
    case MissKind::other_processor:
      return "other processor";
    case MissKind::damaged:
      return "damaged";
    case MissKind::compiled_again:
      return "compiled again";
  }
  return "";
}

std::string OperatorStore::folder(const CallFacts& call) const {
  return fmt::format("{}/{}/{}/{}", root(), call.name_space(), call.overload_name(),
                     folder_name(call.device));
}

Result<cache::FileLock> OperatorStore::lock() const {
  if (auto made = cache::make_directory(root()); !made) return made.diagnostics();
  return cache::FileLock::take(root() + "/lock");
}

Miss OperatorStore::miss_without_record(const CallFacts& call) const {
  const std::string own = fmt::format("{}/{}/{}", root(), call.name_space(), call.overload_name());
  std::vector<std::string> others;
  for (const std::string& device : folders_in(own))
    if (device != call.device && fs::exists(own + "/" + device + kRecord)) others.push_back(device);
  if (others.empty())
    return {MissKind::nothing_kept, fmt::format("no kernel of {} is kept", call.target), {}};
  return {MissKind::other_device,
          fmt::format("no kernel of {} is kept for {}, but for {}", call.target, call.device,
                      fmt::join(others, ", ")),
          {}};
}

// The reason against an entry with equal arguments; none: it can be used.
std::optional<Miss> OperatorStore::fault_of(const std::string& folder,
                                            const KernelEntry& entry) const {
  if (!entry.fault.empty()) return Miss{MissKind::damaged, entry.fault, {}};
  const bool own_build = options_.build.empty() || entry.build == options_.build;
  if (!own_build || entry.version != version())
    return Miss{MissKind::other_version,
                fmt::format("the kernel was compiled by Recut {}, this is {}", entry.build,
                            options_.build.empty() ? version() : options_.build),
                {}};
  if (!runs_here(entry.processor))
    return Miss{
        MissKind::other_processor,
        fmt::format("the kernel needs a processor with {}, which this one lacks", entry.processor),
        {}};
  if (std::string fault = library_fault(folder, entry.library); !fault.empty())
    return Miss{MissKind::damaged, std::move(fault), {}};
  return std::nullopt;
}

Lookup OperatorStore::find(const CallFacts& call) const {
  const std::string place = folder(call);
  const auto entries = entries_in(place, call.target, call.device);
  if (!entries)
    return {std::nullopt, {MissKind::damaged, first_message(entries.diagnostics()), {}}};
  if (entries->empty()) return {std::nullopt, miss_without_record(call)};
  Miss nearest;
  std::size_t fewest = SIZE_MAX, damaged = 0;
  for (const KernelEntry& entry : *entries) {
    damaged += entry.fault.empty() ? 0 : 1;
    auto differing = differences(call.arguments, entry.arguments);
    if (differing.empty()) {
      auto fault = fault_of(place, entry);
      if (fault) return {std::nullopt, std::move(*fault)};
      const std::string path = place + "/" + entry.library;
      cache::mark_used(path);
      return {KeptKernel{path, entry.processor, entry.arena_bytes}, {}};
    }
    if (differing.size() >= fewest) continue;
    fewest = differing.size();
    nearest = {MissKind::other_arguments,
               fmt::format("no kernel of {} is kept for these arguments: {}", call.target,
                           fmt::join(differing, "; ")),
               std::move(differing)};
  }
  nearest.reason = with_damaged(std::move(nearest.reason), damaged);
  return {std::nullopt, std::move(nearest)};
}

Result<KeptKernel> OperatorStore::keep(const CallFacts& call, std::string_view library,
                                       std::string_view processor, std::int64_t arena_bytes) const {
  if (static_cast<std::int64_t>(library.size()) > options_.limit_bytes)
    return error(fmt::format("a kernel of {} is more than the cache may hold, {}",
                             format_bytes(static_cast<std::int64_t>(library.size())),
                             format_bytes(options_.limit_bytes)));
  const auto turn = lock();
  if (!turn) return turn.diagnostics();
  const std::string place = folder(call), name = library_name(library);
  if (auto made = cache::make_directory(place); !made) return made.diagnostics();
  cache::remove_abandoned(place);
  if (auto done = cache::write_whole(place + "/" + name, library); !done) return done.diagnostics();
  std::vector<KernelEntry> entries;
  std::string replaced;
  if (const auto before = entries_in(place, call.target, call.device))
    for (const KernelEntry& entry : *before) {
      if (!entry.fault.empty() || !fs::exists(place + "/" + entry.library)) continue;
      if (differences(call.arguments, entry.arguments).empty())
        replaced = entry.library;
      else
        entries.push_back(entry);
    }
  entries.push_back({call.arguments, name, std::string(processor), arena_bytes,
                     std::string(version()), options_.build, ""});
  if (auto done =
          cache::write_whole(place + kRecord, record_text(entries, call.target, call.device));
      !done)
    return done.diagnostics();
  const bool shared = std::any_of(entries.begin(), entries.end(), [&](const KernelEntry& entry) {
    return entry.library == replaced;
  });
  if (!replaced.empty() && !shared) unlink((place + "/" + replaced).c_str());
  make_room(place + "/" + name);
  return KeptKernel{place + "/" + name, std::string(processor), arena_bytes};
}

void OperatorStore::make_room(const std::string& kept) const {
  struct Library {
    std::int64_t used, bytes;
    std::string path;
  };
  std::vector<Library> libraries;
  std::int64_t bytes = 0;
  for (const DeviceFolder& place : device_folders(root()))
    for (const cache::FileFacts& file : cache::files_in(place.path))
      if (is_library_name(file.name)) {
        libraries.push_back({file.used, file.bytes, place.path + "/" + file.name});
        bytes += file.bytes;
      }
  std::sort(libraries.begin(), libraries.end(), [](const Library& a, const Library& b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const Library& library : libraries) {
    if (bytes <= options_.limit_bytes) return;
    if (library.path == kept) continue;
    unlink(library.path.c_str());
    bytes -= library.bytes;
  }
}

std::vector<KeptOperator> OperatorStore::list(bool check) const {
  std::vector<KeptOperator> all;
  for (const DeviceFolder& place : device_folders(root())) {
    const auto entries = entries_in(place.path, place.target, place.device);
    if (!entries) {
      all.push_back({place.target, place.device, {}, 0, 0, first_message(entries.diagnostics())});
      continue;
    }
    const std::vector<cache::FileFacts> files = cache::files_in(place.path);
    for (const KernelEntry& entry : *entries) {
      KeptOperator kept{place.target, place.device, entry, 0, 0, entry.fault};
      for (const cache::FileFacts& file : files)
        if (file.name == entry.library) {
          kept.bytes = file.bytes;
          kept.used = file.used;
        }
      if (check && kept.fault.empty()) kept.fault = library_fault(place.path, entry.library);
      all.push_back(std::move(kept));
    }
  }
  return all;
}

std::size_t OperatorStore::clear() const {
  if (!fs::exists(root())) return 0;
  const auto turn = lock();
  if (!turn) return 0;
  const std::size_t entries = list(false).size();
  for (const DeviceFolder& place : device_folders(root())) {
    cache::remove_abandoned(place.path);
    unlink((place.path + kRecord).c_str());
    for (const cache::FileFacts& file : cache::files_in(place.path))
      if (is_library_name(file.name)) unlink((place.path + "/" + file.name).c_str());
    fs::path folder = place.path;  // upwards, while nothing else is in it
    for (int level = 0; level < 3 && rmdir(folder.c_str()) == 0; ++level)
      folder = folder.parent_path();
  }
  return entries;
}

}  // namespace recut::operators
