// The record of an operator's kernels: one JSON file, which is checked as it is read.
//
//   {"format": 1, "operator": "aten.add.Tensor", "device": "cpu", "entries": [
//     {"arguments": […],                    call_facts.h
//      "library": "1f0c….so",              beside the record; named by the digest of its bytes
//      "processor": "x86-64-v3",
//      "arena_bytes": 0,                    memory that a call works in
//      "version": "0.1.0", "build": "0.1.0 (1f0c…)",
//      "checksum": "77ab…"}]}               of the entry's other fields
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "native/operators/call_facts.h"

namespace recut::operators {

struct KernelEntry {
  Json arguments;
  std::string library;
  std::string processor;
  std::int64_t arena_bytes = 0;
  std::string version, build;
  std::string fault;  // why the entry can't be used as it is; "": it is whole
};

// Damaged entries are there with their readable fields, and their fault. Fails where
// the text is no record of that operator and device.
Result<std::vector<KernelEntry>> read_record(std::string_view text, std::string_view target,
                                             std::string_view device);

std::string record_text(const std::vector<KernelEntry>& entries, std::string_view target,
                        std::string_view device);

// "1f0c….so"; true for such a name.
std::string library_name(std::string_view library_bytes);
bool is_library_name(std::string_view name);

}  // namespace recut::operators
