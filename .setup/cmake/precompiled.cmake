# Headers that nearly every file includes are half of the time to compile most of them: they are
# compiled once a room. Not where there is ccache, which keeps whole objects and does better by
# itself, nor by default with Emscripten: one build has to see that every file names what it uses.
option(RECUT_PRECOMPILE "Precompile the headers that nearly every file includes" "${RECUT_PRECOMPILE_USUALLY}")

# recut_precompile(TARGET HEADERS...): of a large target, the standard library's most used headers,
# fmt, the graph, and HEADERS.
function(recut_precompile target)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  if(NOT RECUT_PRECOMPILE OR count LESS 16)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <cmath> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
    <unordered_map> <utility> <variant> <vector> <fmt/core.h> "${PROJECT_SOURCE_DIR}/engine/ir/graph.h" ${ARGN})
endfunction()
