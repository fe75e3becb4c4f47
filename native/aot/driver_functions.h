// The fixed functions of a compiled step, as templates of LLVM IR (driver.cpp fills them).
#pragma once

#include <string_view>

namespace recut::aot {

// The functions over the tables. {{arena}} is the index of the arena among the step's pointers
// (inputs, outputs, arena); the seed, the parallel loop and its context follow it.
inline constexpr std::string_view kDriverFunctions = R"(
define internal void @part(ptr %state, i64 %first, i64 %last) {{
  %buffers_at = getelementptr i64, ptr %state, i64 1
  %seed_at = getelementptr i64, ptr %state, i64 2
  %fault_at = getelementptr i64, ptr %state, i64 3
  %code = load ptr, ptr %state
  %buffers = load ptr, ptr %buffers_at
  %seed = load i64, ptr %seed_at
  %fault = load ptr, ptr %fault_at
  call void %code(ptr %buffers, i64 %first, i64 %last, i64 %seed, ptr %fault)
  ret void
}}

define internal i32 @run(ptr %step, i64 %from, i64 %to) {{
start:
  %buffers = alloca [{most_buffers} x ptr]
  %state = alloca [4 x i64]
  %fault = alloca i64
  store i64 0, ptr %fault
  %seed_at = getelementptr i64, ptr %step, i64 {seed}
  %seed = load i64, ptr %seed_at
  %each_at = getelementptr i64, ptr %step, i64 {parallel_for}
  %each = load ptr, ptr %each_at
  %context_at = getelementptr i64, ptr %step, i64 {context}
  %context = load ptr, ptr %context_at
  %alone = icmp eq ptr %each, null
  %state_buffers = getelementptr i64, ptr %state, i64 1
  store ptr %buffers, ptr %state_buffers
  %state_seed = getelementptr i64, ptr %state, i64 2
  store i64 %seed, ptr %state_seed
  %state_fault = getelementptr i64, ptr %state, i64 3
  store ptr %fault, ptr %state_fault
  br label %launches

launches:
  %l = phi i64 [ %from, %start ], [ %next_l, %launched ]
  %all = icmp uge i64 %l, %to
  br i1 %all, label %good, label %launch

launch:
  %launch_row = getelementptr [5 x i64], ptr @launches, i64 %l
  %first_s = load i64, ptr %launch_row
  %last_s_at = getelementptr i64, ptr %launch_row, i64 1
  %last_s = load i64, ptr %last_s_at
  %first_p_at = getelementptr i64, ptr %launch_row, i64 2
  %first_p = load i64, ptr %first_p_at
  %last_p_at = getelementptr i64, ptr %launch_row, i64 3
  %last_p = load i64, ptr %last_p_at
  %wants_at = getelementptr i64, ptr %launch_row, i64 4
  %wants = load i64, ptr %wants_at
  %always = icmp slt i64 %wants, 0
  br i1 %always, label %places, label %asked

asked:
  %wanted_at = getelementptr ptr, ptr %step, i64 %wants
  %wanted = load ptr, ptr %wanted_at
  %unwanted = icmp eq ptr %wanted, null
  br i1 %unwanted, label %launched, label %places

places:
  %p = phi i64 [ %first_p, %launch ], [ %first_p, %asked ], [ %next_p, %place ]
  %placed = icmp uge i64 %p, %last_p
  br i1 %placed, label %stages, label %place

place:
  %base_at = getelementptr [2 x i64], ptr @places, i64 %p
  %base = load i64, ptr %base_at
  %offset_at = getelementptr i64, ptr %base_at, i64 1
  %offset = load i64, ptr %offset_at
  %pointer_at = getelementptr ptr, ptr %step, i64 %base
  %pointer = load ptr, ptr %pointer_at
  %address = getelementptr i8, ptr %pointer, i64 %offset
  %b = sub i64 %p, %first_p
  %buffer = getelementptr ptr, ptr %buffers, i64 %b
  store ptr %address, ptr %buffer
  %next_p = add i64 %p, 1
  br label %places

stages:
  %s = phi i64 [ %first_s, %places ], [ %next_s, %staged ]
  %staged_all = icmp uge i64 %s, %last_s
  br i1 %staged_all, label %check, label %stage

stage:
  %stage_row = getelementptr {{ ptr, i64, i64, i64 }}, ptr @stages, i64 %s
  %code = load ptr, ptr %stage_row
  %extent_at = getelementptr i64, ptr %stage_row, i64 1
  %extent = load i64, ptr %extent_at
  %grain_at = getelementptr i64, ptr %stage_row, i64 2
  %grain = load i64, ptr %grain_at
  %parallel_at = getelementptr i64, ptr %stage_row, i64 3
  %parallel = load i64, ptr %parallel_at
  %serial = icmp eq i64 %parallel, 0
  %whole = or i1 %serial, %alone
  br i1 %whole, label %at_once, label %in_parts

at_once:
  call void %code(ptr %buffers, i64 0, i64 %extent, i64 %seed, ptr %fault)
  br label %staged

in_parts:
  store ptr %code, ptr %state
  call void %each(ptr %context, i64 %extent, i64 %grain, ptr @part, ptr %state)
  br label %staged

staged:
  %next_s = add i64 %s, 1
  br label %stages

check:
  %found = load i64, ptr %fault
  %faulty = icmp ne i64 %found, 0
  br i1 %faulty, label %bad, label %launched

launched:
  %next_l = add i64 %l, 1
  br label %launches

bad:
  %number = trunc i64 %found to i32
  ret i32 %number

good:
  ret i32 0
}}

define i32 @{prefix}_forward(ptr %step) {{
  %fault = call i32 @run(ptr %step, i64 0, i64 {forward})
  ret i32 %fault
}}

define ptr @{prefix}_fault(i32 %number) {{
  %known = icmp ult i32 %number, {faults}
  %index = select i1 %known, i32 %number, i32 0
  %text_at = getelementptr ptr, ptr @faults, i32 %index
  %text = load ptr, ptr %text_at
  ret ptr %text
}}

define ptr @{prefix}_input(i32 %number) {{
  %known = icmp ult i32 %number, {inputs}
  %tensor = getelementptr [9 x i64], ptr @inputs, i32 %number
  %found = select i1 %known, ptr %tensor, ptr null
  ret ptr %found
}}

define ptr @{prefix}_output(i32 %number) {{
  %known = icmp ult i32 %number, {outputs}
  %tensor = getelementptr [9 x i64], ptr @outputs, i32 %number
  %found = select i1 %known, ptr %tensor, ptr null
  ret ptr %found
}}
)";

// Of a training step alone.
inline constexpr std::string_view kBackwardFunction = R"(
define i32 @{prefix}_backward(ptr %step) {{
  %fault = call i32 @run(ptr %step, i64 {forward}, i64 {launches})
  ret i32 %fault
}}
)";

// Of a step that mutates inputs.
inline constexpr std::string_view kWriteBackFunction = R"(
define void @{prefix}_write_back(ptr %step) {{
  %fault = call i32 @run(ptr %step, i64 {backward}, i64 {launches})
  ret void
}}
)";

// Of a step with weights. {bytes}: the pointer to them, an argument or the library's own data.
inline constexpr std::string_view kWeightsFunction = R"(
define void @{prefix}_set_weights(ptr %step{argument}) {{
start:
  br label %weights

weights:
  %w = phi i64 [ 0, %start ], [ %next_w, %weight ]
  %all = icmp uge i64 %w, {weights}
  br i1 %all, label %done, label %weight

weight:
  %row = getelementptr [2 x i64], ptr @weights, i64 %w
  %input = load i64, ptr %row
  %offset_at = getelementptr i64, ptr %row, i64 1
  %offset = load i64, ptr %offset_at
  %address = getelementptr i8, ptr {bytes}, i64 %offset
  %input_at = getelementptr ptr, ptr %step, i64 %input
  store ptr %address, ptr %input_at
  %next_w = add i64 %w, 1
  br label %weights

done:
  ret void
}}
)";

// Weights inside: the assembler includes the file's bytes. {path}: a text of LLVM IR. {section} and
// {flags}: read-only, but where a step's write_back writes some of them.
inline constexpr std::string_view kWeightsData = R"(
module asm ".section {section},\22{flags}\22,@progbits"
module asm ".p2align 6"
module asm ".globl weights_data"
module asm ".hidden weights_data"
module asm "weights_data:"
module asm ".incbin \22{path}\22"
module asm ".text"
@weights_data = external hidden {storage} i8
)";

}  // namespace recut::aot
