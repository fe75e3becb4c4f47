// Vectorized loads and stores.
#pragma once

//: helper Pack
// Contiguous elements that are loaded and stored by one instruction.
template <class T, int count>
struct alignas(sizeof(T) * count) Pack {
  T of[count];
};
