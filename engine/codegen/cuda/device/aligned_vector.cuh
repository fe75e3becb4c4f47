// Vectorized loads and stores.
#pragma once

//: helper AlignedVector
// Contiguous elements that are loaded and stored by one instruction.
template <class T, int count>
struct alignas(sizeof(T) * count) AlignedVector {
  T of[count];
};
