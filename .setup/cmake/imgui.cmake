# recut_imgui: Dear ImGui from the source that install.sh unpacked (Debian's package of it is a static library without
# sources, of no use to Emscripten), set up by gui/imgui_config.h. `recut_imgui_opengl` adds its OpenGL 3 renderer; windows
# and input are the platform's own affair.
set(imgui_source "${RECUT_SOURCES}/imgui-1.90.1")
if(NOT EXISTS "${imgui_source}/imgui.h")
  message(FATAL_ERROR "Dear ImGui's source is missing at ${imgui_source}; run .setup/install.sh first.")
endif()

add_library(recut_imgui STATIC
            "${imgui_source}/imgui.cpp" "${imgui_source}/imgui_draw.cpp" "${imgui_source}/imgui_tables.cpp"
            "${imgui_source}/imgui_widgets.cpp")
target_include_directories(recut_imgui SYSTEM PUBLIC "${imgui_source}")
target_include_directories(recut_imgui PUBLIC "${PROJECT_SOURCE_DIR}")
target_compile_definitions(recut_imgui PUBLIC IMGUI_USER_CONFIG="gui/imgui_config.h")
target_compile_options(recut_imgui PRIVATE -w $<$<BOOL:${EMSCRIPTEN}>:-Os>)
if(RECUT_SANITIZE) # at -O0 a third of the window tests' time was in here
  target_compile_options(recut_imgui PRIVATE -O2)
endif()

add_library(recut_imgui_opengl STATIC EXCLUDE_FROM_ALL "${imgui_source}/backends/imgui_impl_opengl3.cpp")
target_include_directories(recut_imgui_opengl SYSTEM PUBLIC "${imgui_source}/backends")
target_link_libraries(recut_imgui_opengl PUBLIC recut_imgui ${CMAKE_DL_LIBS})
target_compile_options(recut_imgui_opengl PRIVATE -w)
if(EMSCRIPTEN)
  target_compile_definitions(recut_imgui_opengl PUBLIC IMGUI_IMPL_OPENGL_ES3)
endif()
