// The interface from the page's C++ to its JavaScript. glue.js forwards each function to the `host`
// object of js/main.js. Texts are UTF-8 and end with 0; none is kept after the call.
#pragma once

#include <cstddef>

extern "C" {
// The window.
void host_set_title(const char* title);
void host_set_cursor(const char* css);  // "pointer"
void host_wake();                       // ticks the page soon

// Files. Fetched and chosen files come back through page_file_given and page_sample_given.
void host_ask_for_file();
void host_fetch_sample(const char* name);
void host_save(const char* name, const char* bytes, std::size_t count);
void host_save_canvas(const char* name);  // this turn's canvas, as PNG

// The reader of ONNX models (models.h): its state, and its answers in malloc memory that the caller
// frees; null: there is no reader. `sizes`: of open dimensions.
int host_models_state();
char* host_read_model(const char* name, const char* bytes, std::size_t count, const char* sizes,
                      int* size);
char* host_open_dimensions(const char* bytes, std::size_t count, int* size);

// Small texts. host_load returns malloc memory that the caller frees; null: there is none.
char* host_load(const char* name);
void host_store(const char* name, const char* text);

void host_copy(const char* text);

// Workers (page_helper.h). Replies come through page_helper_reply. Only a worker calls the last
// one.
void host_helper_file(int serial, const char* path, const char* bytes, std::size_t count);
void host_helper_begin(int request_id, int urgent, int serial, const char* task, std::size_t count);
void host_helper_end(int request_id);
void host_helper_close(int serial);
void host_reply(const char* bytes, std::size_t count);

// The text field with the keyboard focus, in CSS pixels from the canvas' corner; hidden: none has
// it.
void host_text_field(int shown, const char* label, double left, double top, double width,
                     double height);
// The widgets for screen readers, as JSON (mirror.cpp), and messages to read aloud.
void host_mirror(const char* json);
void host_announce(const char* message, int urgent);
// The state of the front document, for the address bar.
void host_set_link(const char* fragment);
}
