"""What recut_torch says of Inductor's fusions is what comes of them: random kernels in random groups,
against a replay that knows nothing but who makes and reads which bytes. Needs no PyTorch.

usage: fusion_guard_test.py
"""

from __future__ import annotations

import pathlib
import random
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent.parent / "native" / "pytorch")]

import stand_in  # noqa: E402

stand_in.install()
import recut_torch  # noqa: E402


def random_kernels(rng: random.Random) -> tuple[list[set[int]], list[recut_torch._Buffer]]:
    count = rng.randint(2, 24)
    buffers = [recut_torch._Buffer(size, size, -1, [], rng.random() < 0.2) for size in rng.choices(range(1, 9), k=3)]
    for kernel in range(count):
        for _ in range(rng.randint(1, 2)):
            size = rng.randint(0, 8)
            buffers.append(recut_torch._Buffer(size, size, kernel, [], rng.random() < 0.2))
    needs: list[set[int]] = [set() for _ in range(count)]
    for kernel in range(count):
        for buffer in rng.sample(buffers, min(len(buffers), rng.randint(1, 3))):
            if buffer.maker < kernel:
                buffer.readers.append(kernel)
                if buffer.maker >= 0:
                    needs[kernel].add(buffer.maker)
    return needs, buffers


def replayed(groups: list[set[int]], buffers: list[recut_torch._Buffer]) -> list[int]:
    """Bytes at each group, by walking it: made before it runs, given back when nobody reads them later."""
    alive = {i for i, b in enumerate(buffers) if b.maker < 0 and (b.stays or b.readers)}
    line, done = [], set()
    for group in groups:
        done |= group
        inside = {i for i, b in enumerate(buffers) if b.maker in group
                  and b.readers and not b.stays and set(b.readers) <= group}
        alive |= {i for i, b in enumerate(buffers) if b.maker in group} - inside
        line.append(sum(buffers[i].size for i in alive))
        alive -= {i for i in alive if not buffers[i].stays and set(buffers[i].readers) <= done}
    return line


def reaches(needs: list[set[int]], members: dict[int, set[int]], start: int, goal: int) -> bool:
    """Whether `goal` needs `start` through a third group."""
    of = {kernel: group for group, kernels in members.items() for kernel in kernels}
    below = {g: {of[n] for k in kernels for n in needs[k]} - {g} for g, kernels in members.items()}
    seen, todo = set(), [g for g in below[goal] if g != start]
    while todo:
        g = todo.pop()
        if g == start:
            return True
        if g not in seen:
            seen.add(g)
            todo += below[g]
    return False


def check(seed: int) -> int:
    """How many fusions were tried."""
    rng = random.Random(seed)
    needs, buffers = random_kernels(rng)
    kernels = recut_torch._KernelOrder(needs, buffers, [False] * len(needs))
    members = {k: {k} for k in range(len(needs))}
    assert kernels.line == replayed([members[g] for g in kernels.order], buffers), f"seed {seed}: at first"
    tried = 0
    for _ in range(12):
        if len(members) < 2:
            break
        a, b = rng.sample(sorted(members), 2)
        if reaches(needs, members, a, b) or reaches(needs, members, b, a):
            continue  # a circle, which Inductor refuses
        before, limit = kernels.peak, kernels.peak + rng.randint(-2, 6)
        refused, cautious = kernels.raises(a, b, limit), kernels.raises(a, b, limit, 3)
        kernels.fuse(a, b)
        tried += 1
        members[a] |= members.pop(b)
        assert [kernels.group(k) for k in members[a]] == [a] * len(members[a]), f"seed {seed}: groups"
        assert refused == (kernels.peak > max(before, limit)), f"seed {seed}: said {refused}, peak {kernels.peak}, limit {limit}"
        assert cautious or not refused, f"seed {seed}: refused near by alone"
        assert kernels.line == replayed([members[g] for g in kernels.order], buffers), f"seed {seed}: the line"
        place = {k: i for i, g in enumerate(kernels.order) for k in members[g]}
        late = [(n, k) for k, need in enumerate(needs) for n in need if place[n] > place[k]]
        assert not late, f"seed {seed}: runs after what needs it: {late}"
    return tried


def main() -> int:
    tried = sum(check(seed) for seed in range(2000))
    in_place = recut_torch._KernelOrder([set(), {0}], [recut_torch._Buffer(4, 4, 0, [1], False),
                                                       recut_torch._Buffer(4, 4, 1, [], True)], [True, True])
    assert in_place.line == [4, 4], in_place.line
    assert tried > 5000, tried
    print(f"passed: {tried} fusions of 2000 random graphs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
