#include "engine/codegen/cuda/helpers.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "engine/support/check.h"

namespace recut::cuda {
namespace {

struct Helper {
  std::string_view name;
  std::string_view text;
  std::string_view uses = "";  // others of the table, before it
};

constexpr std::array kHelpers{
    Helper{"Pack", R"(// Neighbours that are loaded and stored at once.
template <class T, int count>
struct alignas(sizeof(T) * count) Pack {
  T of[count];
};
)"},
    Helper{"plus", R"(// Integers wrap around.
__device__ inline int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__device__ inline long long plus(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}
)"},
    Helper{"minus",
           R"(__device__ inline int minus(int a, int b) { return int(unsigned(a) - unsigned(b)); }
__device__ inline long long minus(long long a, long long b) {
  return (long long)((unsigned long long)a - (unsigned long long)b);
}
)"},
    Helper{"times",
           R"(__device__ inline int times(int a, int b) { return int(unsigned(a) * unsigned(b)); }
__device__ inline long long times(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}
)"},
    Helper{"quotient", R"(// Towards zero; b isn't 0.
template <class T>
__device__ inline T quotient(T a, T b) {
  return b == -1 ? minus(T(0), a) : T(a / b);
}
)",
           "minus"},
    Helper{"rest", R"(template <class T>
__device__ inline T rest(T a, T b) {
  return b == -1 ? T(0) : T(a % b);
}
)"},
    Helper{"shifted_left", R"(// 0 where b is negative or too large.
__device__ inline int shifted_left(int a, int b) {
  return unsigned(b) < 32u ? int(unsigned(a) << b) : 0;
}
__device__ inline long long shifted_left(long long a, long long b) {
  return (unsigned long long)b < 64u ? (long long)((unsigned long long)a << b) : 0;
}
)"},
    Helper{"shifted_right", R"(__device__ inline int shifted_right(int a, int b) {
  return a >> (unsigned(b) < 32u ? b : 31);
}
__device__ inline long long shifted_right(long long a, long long b) {
  return a >> ((unsigned long long)b < 64u ? b : 63);
}
)"},
    Helper{"floor_quotient", R"(// Towards minus infinity; b is positive.
template <class T>
__device__ inline T floor_quotient(T a, T b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
)"},
    Helper{"floor_rest", R"(template <class T>
__device__ inline T floor_rest(T a, T b) {
  return a % b + (a % b < 0 ? b : 0);
}
)"},
    Helper{"larger", R"(// NaN stays NaN, on the left.
template <class T>
__device__ inline T larger(T a, T b) {
  return a != a || a > b ? a : b;
}
)"},
    Helper{"smaller", R"(template <class T>
__device__ inline T smaller(T a, T b) {
  return a != a || a < b ? a : b;
}
)"},
    Helper{"truncated", R"(// What doesn't fit, and NaN, become the most negative number.
__device__ inline long long truncated(double x) {
  return x > -9223372036854775808.0 && x < 9223372036854775808.0 ? (long long)x
                                                                 : -9223372036854775807LL - 1;
}
)"},
    Helper{"checked", R"(// A fault of the data is told, and the kernel goes on at place 0.
__device__ inline long long checked(long long index, long long below, long long n,
                                    long long* fault) {
  if (index >= 0 && index < below) return index;
  *fault = n;
  return 0;
}
)"},
    Helper{
        "listed",
        R"(// Of the numbers from `first` on, one chunk of a block's threads, those that name a row of it, in
// order, and these rows: how many there are. `row_of` gives a number's row, or -1.
template <int warps, int turns, class RowOf>
__device__ int listed(int first, int count, int* numbers, int* rows, int* of_warps, RowOf row_of) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int begin = first + warp * turns * 32 + lane;
  int row[turns], mine = 0;
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) {
    const int number = begin + 32 * turn;
    row[turn] = row_of(number < count ? number : count - 1);
    if (number >= count) row[turn] = -1;
  }
#pragma unroll
  for (int turn = 0; turn < turns; ++turn)
    mine += __popc(__ballot_sync(0xffffffffu, row[turn] >= 0));
  if (lane == 0) of_warps[warp] = mine;
  __syncthreads();
  int at = 0, all = 0;
  for (int w = 0; w < warps; ++w) {
    at += w < warp ? of_warps[w] : 0;
    all += of_warps[w];
  }
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) {
    const unsigned named = __ballot_sync(0xffffffffu, row[turn] >= 0);
    if (row[turn] >= 0) {
      const int place = at + __popc(named & ((1u << lane) - 1));
      numbers[place] = begin + 32 * turn;
      rows[place] = row[turn];
    }
    at += __popc(named);
  }
  __syncthreads();
  return all;
}
)"},
    Helper{"divisor", R"(template <class T>
__device__ inline T divisor(T number, long long n, long long* fault) {
  if (number != 0) return number;
  *fault = n;
  return 1;
}
)"},
    Helper{"of_bfloat16", R"(__device__ inline float of_bfloat16(unsigned short bits) {
  return __int_as_float(int(unsigned(bits) << 16));
}
)"},
    Helper{"bfloat16", R"(// To nearest even; NaN stays one.
__device__ inline unsigned short bfloat16(float x) {
#ifdef __CUDACC__
  unsigned short rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(x));
  return rounded;
#else
  const unsigned bits = unsigned(__float_as_int(x));
  return (unsigned short)((x != x ? bits | 0x400000u : bits + (bits >> 16 & 1u) + 0x7fffu) >> 16);
#endif
}
)"},
    Helper{"of_half", R"(#ifdef __CUDACC__  // others who run this text bring their own
__device__ inline float of_half(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
#endif
)"},
    Helper{"half", R"(#ifdef __CUDACC__
__device__ inline unsigned short half(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#endif
)"},
    Helper{"to_odd", R"(// Rounds to fewer digits as x itself does: what is lost sets the last bit.
__device__ inline float to_odd(double x) {
  const float near = __double2float_rz(x);
  return near == x || x != x ? near : __int_as_float(__float_as_int(near) | 1);
}
)"},
    Helper{"combined_here", R"(// Partials, the lower half with the upper half until one is left.
template <int lanes, class T, class Combine>
__device__ inline T combined_here(const T (&all)[lanes], Combine combine) {
  T partials[lanes];
  for (int p = 0; p < lanes; ++p) partials[p] = all[p];
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int p = 0; p < half; ++p) partials[p] = combine(partials[p], partials[p + half]);
  return partials[0];
}
)"},
    Helper{
        "combined_in_warp",
        R"(// The same of a partial a thread, by threads of a warp, all of which get the result; where a
// thread has several, these are neighbours, and combined last.
template <int lanes, int width, class T, class Combine>
__device__ inline T combined_in_warp(T mine, unsigned mask, Combine combine) {
  for (int half = lanes / 2; half > 0; half /= 2)
    mine = combine(mine, T(__shfl_down_sync(mask, mine, half, width)));
  return T(__shfl_sync(mask, mine, 0, width));
}
template <int lanes, int width, int count, class T, class Combine>
__device__ inline T combined_in_warp(const T (&mine)[count], unsigned mask, Combine combine) {
  T partials[count];
  for (int p = 0; p < count; ++p)
    partials[p] = combined_in_warp<lanes, width>(mine[p], mask, combine);
  return combined_here(partials, combine);
}
)",
        "combined_here"},
    Helper{
        "combined_in_block",
        R"(// By all threads of a block, through room for their partials. Each warp combines all of them.
template <int lanes, int count, class T, class Combine>
__device__ inline T combined_in_block(const T (&mine)[count], T* room, Combine combine) {
  constexpr int rest = lanes < 32 ? lanes : 32;
  const int thread = threadIdx.x;
  __syncthreads();
  for (int p = 0; p < count; ++p)
    if (thread < lanes) room[lanes * p + thread] = mine[p];
  __syncthreads();
  T partials[count];
  for (int p = 0; p < count; ++p) {
    T far[lanes / rest];
    for (int i = 0; i < lanes / rest; ++i) far[i] = room[lanes * p + rest * i + thread % rest];
    partials[p] = combined_here(far, combine);
  }
  return combined_in_warp<rest, 32>(partials, 0xffffffffu, combine);
}
template <int lanes, class T, class Combine>
__device__ inline T combined_in_block(T mine, T* room, Combine combine) {
  const T one[1] = {mine};
  return combined_in_block<lanes>(one, room, combine);
}
)",
        "combined_in_warp"},
    Helper{"cluster_wait", R"(#ifdef __CUDACC__
// All threads of a cluster's blocks have come here, and see what each of them has stored.
__device__ inline void cluster_wait() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
// The same place of another block's shared memory.
template <class T>
__device__ inline const T* in_block(int block, const T* here) {
  unsigned long long there;
  asm("mapa.u64 %0, %1, %2;"
      : "=l"(there)
      : "l"(reinterpret_cast<unsigned long long>(here)), "r"(block));
  return reinterpret_cast<const T*>(there);
}
#endif
)"},
    Helper{"combined_in_cluster",
           R"(// By all threads of a cluster: partials of the blocks, then those of one block.
template <int blocks, int threads, int count, class T, class Combine>
__device__ inline T combined_in_cluster(const T (&mine)[count], T* room, Combine combine) {
  __syncthreads();
  for (int p = 0; p < count; ++p) room[threads * p + int(threadIdx.x)] = mine[p];
  cluster_wait();
  T partials[count];
  for (int p = 0; p < count; ++p) {
    T far[blocks];
    for (int b = 0; b < blocks; ++b) far[b] = *in_block(b, room + threads * p + threadIdx.x);
    partials[p] = combined_here(far, combine);
  }
  cluster_wait();
  return combined_in_block<threads>(partials, room, combine);
}
template <int blocks, int threads, class T, class Combine>
__device__ inline T combined_in_cluster(T mine, T* room, Combine combine) {
  const T one[1] = {mine};
  return combined_in_cluster<blocks, threads>(one, room, combine);
}
)",
           "combined_in_block cluster_wait"},
    Helper{
        "combined_abreast",
        R"(// By all threads of a cluster, or of a block, of which neighbours have different results.
template <int blocks, int lanes, int abreast, class T, class Combine>
__device__ inline T combined_abreast(T mine, T* room, Combine combine) {
  __syncthreads();
  room[threadIdx.x] = mine;
  if constexpr (blocks > 1) {
    cluster_wait();
    T far[blocks];
    for (int b = 0; b < blocks; ++b) far[b] = *in_block(b, room + threadIdx.x);
    cluster_wait();
    room[threadIdx.x] = combined_here(far, combine);
  }
  __syncthreads();
  T near[lanes];
  for (int i = 0; i < lanes; ++i) near[i] = room[abreast * i + int(threadIdx.x) % abreast];
  return combined_here(near, combine);
}
)",
        "combined_here cluster_wait"},
    Helper{
        "Team",
        R"(// What a block knows of its team, blocks that a card has at once: how many have come so far to
// where they meet, ever, and which half of the room is for the next meeting.
struct Team {
  unsigned* arrived;
  int half;
};
)"},
    Helper{"team_wait", R"(#ifdef __CUDACC__
// All threads of a team have come here, and see what each of them has stored. Each meeting adds as
// many as there are blocks.
__device__ inline void team_wait(unsigned* arrived, unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned before = atomicAdd(arrived, 1u), all = before - before % blocks + blocks;
    while (int(*(const volatile unsigned*)arrived - all) < 0) {
    }
    __threadfence();
  }
  __syncthreads();
}
#endif
)"},
    Helper{
        "combined_in_team",
        R"(// Partials of lanes that stand in room, lane by lane the neighbours of one: the lower half with the
// upper half until one is left, which stands first.
template <int lanes, int abreast, class T, class Combine>
__device__ inline void combine_in_room(T* room, Combine combine) {
  for (int half = lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < half * abreast)
      room[threadIdx.x] = combine(room[threadIdx.x], room[threadIdx.x + half * abreast]);
  }
  __syncthreads();
}
// Of neighbours that a team of blocks has together: those of each block, then these. What blocks
// have to tell each other goes through memory, one half of which others may still read.
__device__ double team_room[2 * 128 * 32];
template <int blocks, int lanes, int abreast, class T, class Combine>
__device__ inline T combined_in_team(T mine, T* room, Team& team, Combine combine) {
  constexpr int together = blocks < lanes ? blocks : lanes, far = blocks / together;
  const int lane = threadIdx.x / abreast, neighbour = threadIdx.x % abreast;
  double* const all =
      team_room + (team.half * gridDim.x + blockIdx.x / blocks * blocks) * abreast;
  team.half ^= 1;
  __syncthreads();
  room[threadIdx.x] = mine;
  combine_in_room<lanes, abreast>(room, combine);
  if (lane == 0)
    *(volatile T*)(all + blockIdx.x % blocks * abreast + neighbour) = room[neighbour];
  team_wait(team.arrived, blocks);
  if (lane < together) {
    T parts[far];
    for (int i = 0; i < far; ++i)
      parts[i] = *(const volatile T*)(all + (lane + together * i) * abreast + neighbour);
    room[threadIdx.x] = combined_here(parts, combine);
  }
  combine_in_room<together, abreast>(room, combine);
  return room[neighbour];
}
)",
        "combined_here Team team_wait"},
    Helper{"combine_at", R"(// Several threads may do so at one place: by the word that holds it.
template <class T, class Combine>
__device__ inline void combine_at(T* at, Combine combine) {
  using Word = unsigned;
  const unsigned long long place = reinterpret_cast<unsigned long long>(at);
  Word* const word = reinterpret_cast<Word*>(place & ~3ull);
  const unsigned shift = unsigned(place & 3ull) * 8u;
  const Word bits = sizeof(T) == 4 ? ~0u : ((1u << (8 * sizeof(T) % 32)) - 1u) << shift;
  for (Word old = *word, seen = 0;; old = seen) {
    const T made = combine(T((old & bits) >> shift));
    seen = atomicCAS(word, old, (old & ~bits) | (Word(made) << shift & bits));
    if (seen == old) return;
  }
}
template <class Combine>
__device__ inline void combine_at(long long* at, Combine combine) {
  unsigned long long* const word = reinterpret_cast<unsigned long long*>(at);
  for (unsigned long long old = *word, seen = 0;; old = seen) {
    seen = atomicCAS(word, old, (unsigned long long)combine((long long)old));
    if (seen == old) return;
  }
}
)"},
};

const Helper* find(std::string_view name) {
  const auto* row = std::find_if(kHelpers.begin(), kHelpers.end(),
                                 [&](const Helper& one) { return one.name == name; });
  return row != kHelpers.end() ? row : nullptr;
}

}  // namespace

const std::string& Helpers::use(const std::string& name) {
  const Helper* helper = find(name);
  RECUT_CHECK(helper != nullptr, "a helper is in the table");
  std::istringstream others{std::string(helper->uses)};
  for (std::string other; others >> other;) use(other);
  return *used_.insert(name).first;
}

std::string Helpers::text() const {
  std::string text;
  for (const Helper& helper : kHelpers)
    if (used_.contains(std::string(helper.name))) text.append(helper.text) += '\n';
  return text;
}

std::vector<std::string_view> helper_names() {
  std::vector<std::string_view> names;
  for (const Helper& helper : kHelpers) names.push_back(helper.name);
  return names;
}

}  // namespace recut::cuda
