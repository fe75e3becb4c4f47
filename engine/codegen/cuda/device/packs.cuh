// Loads and stores of several elements at once.
#pragma once

//: helper Pack
// Neighbours that are loaded and stored at once.
template <class T, int count>
struct alignas(sizeof(T) * count) Pack {
  T of[count];
};
