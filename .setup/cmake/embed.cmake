# recut_embed_profiles(COMPONENT FILES...): device profiles become part of a component, so
# that their names work wherever the program runs, in a page too. The files stay
# the only place where the figures stand.
function(recut_embed_profiles component)
  set(rows "")
  foreach(path IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    get_filename_component(name "${path}" NAME_WE)
    file(READ "${path}" json)
    string(APPEND rows "    {\"${name}\", R\"json(${json})json\"},\n")
  endforeach()
  set(source "${CMAKE_BINARY_DIR}/generated/builtin_profiles.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Written by recut_embed_profiles from samples/devices.
#include \"engine/cost/device_profile.h\"

namespace recut {
namespace {
constexpr BuiltinProfile kProfiles[] = {
@rows@};
}  // namespace

std::span<const BuiltinProfile> builtin_profiles() { return kProfiles; }

}  // namespace recut
")
  target_sources(${component} PRIVATE "${source}")
endfunction()

# recut_embed_rules(COMPONENT FILES...): rule files become part of the component of the passes that are made of
# them, so that built-in rules and users' are one form. Names have no folder and no ending.
function(recut_embed_rules component)
  set(rows "")
  foreach(path IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    get_filename_component(name "${path}" NAME_WE)
    file(READ "${path}" text)
    # A page tests no rules and has to be small: it has their lines without samples and comments.
    if(EMSCRIPTEN)
      string(REGEX REPLACE "\n(;|  sample )[^\n]*" "\n" text "\n${text}")
      string(SUBSTRING "${text}" 1 -1 text)
    endif()
    string(APPEND rows "    {\"${name}\", R\"rules(${text})rules\"},\n")
  endforeach()
  set(source "${CMAKE_BINARY_DIR}/generated/builtin_rules.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Written by recut_embed_rules from engine/passes/rules.
#include \"engine/passes/rule_pass.h\"

namespace recut {
namespace {
constexpr BuiltinRules kRules[] = {
@rows@};
}  // namespace

std::span<const BuiltinRules> builtin_rule_files() { return kRules; }

}  // namespace recut
")
  target_sources(${component} PRIVATE "${source}")
endfunction()
