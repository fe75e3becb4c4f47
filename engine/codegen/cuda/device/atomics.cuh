// Atomic updates for which CUDA has no instruction.
#pragma once

//: helper atomic_combine
// Atomic read-modify-write by compare-and-swap of the word that holds the element.
template <class T, class Combine>
__device__ inline void atomic_combine(T* at, Combine combine) {
  using Word = unsigned;
  const unsigned long long position = reinterpret_cast<unsigned long long>(at);
  Word* const word = reinterpret_cast<Word*>(position & ~3ull);
  const unsigned shift = unsigned(position & 3ull) * 8u;
  const Word bits = sizeof(T) == 4 ? ~0u : ((1u << (8 * sizeof(T) % 32)) - 1u) << shift;
  for (Word old = *word, seen = 0;; old = seen) {
    const T made = combine(T((old & bits) >> shift));
    seen = atomicCAS(word, old, (old & ~bits) | (Word(made) << shift & bits));
    if (seen == old) return;
  }
}
template <class Combine>
__device__ inline void atomic_combine(long long* at, Combine combine) {
  unsigned long long* const word = reinterpret_cast<unsigned long long*>(at);
  for (unsigned long long old = *word, seen = 0;; old = seen) {
    seen = atomicCAS(word, old, (unsigned long long)combine((long long)old));
    if (seen == old) return;
  }
}
