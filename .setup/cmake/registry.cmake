# recut_registry(COMPONENT): a panel is one file in gui/panels, a subject of commands one file in gui/commands. This writes
# the two tables that list them:
#
#   gui/panels/trade_off.cpp   defines   Panel trade_off_panel();
#   gui/commands/view.cpp      defines   std::span<const Command> view_commands();
#
# in the order of the files' names. A file gui/panels/NAME_anything.cpp beside gui/panels/NAME.cpp is a part of NAME.
function(recut_registry_names folder out)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/gui/${folder}/*.cpp")
  list(SORT files)
  set(names "")
  foreach(path IN LISTS files)
    get_filename_component(name "${path}" NAME_WE)
    set(part FALSE)
    foreach(whole IN LISTS names)
      if(name MATCHES "^${whole}_")
        set(part TRUE)
      endif()
    endforeach()
    if(NOT part)
      list(APPEND names "${name}")
    endif()
  endforeach()
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

function(recut_registry component)
  recut_registry_names(panels panels)
  recut_registry_names(commands subjects)
  set(declarations "")
  set(panel_rows "")
  set(subject_rows "")
  foreach(panel IN LISTS panels)
    string(APPEND declarations "Panel ${panel}_panel();\n")
    string(APPEND panel_rows "${panel}_panel(), ")
  endforeach()
  foreach(subject IN LISTS subjects)
    string(APPEND declarations "std::span<const Command> ${subject}_commands();\n")
    string(APPEND subject_rows "${subject}_commands(), ")
  endforeach()
  set(source "${CMAKE_BINARY_DIR}/generated/gui_registry.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Written by recut_registry from the files of gui/panels and gui/commands.
#include \"gui/app/command.h\"
#include \"gui/app/panel.h\"

namespace recut::gui {
@declarations@
std::vector<Panel> registered_panels() { return {@panel_rows@}; }
std::vector<std::span<const Command>> registered_commands() { return {@subject_rows@}; }

}  // namespace recut::gui
")
  target_sources(${component} PRIVATE "${source}")
endfunction()
