#!/usr/bin/env python3
"""Joint graphs of torch's flex_attention, as PyTorch prints them, with its values.

usage: make_flex_graphs.py FOLDER      needs PyTorch 2.11, safetensors and a GPU

Writes flex_NAME.txt.gz and flex_NAME.safetensors: in.<placeholder>, out.<position> and
grad.<placeholder>. tests/input/printed has what it wrote.
"""
import gzip
import pathlib
import sys

import torch
from functorch.compile import aot_module_simplified, default_partition, make_boxed_func
from safetensors.torch import save_file
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

BATCH, HEADS, LENGTH, WIDTH = 1, 4, 12, 4


def captured(function, tensors):
    """The printed joint graph, its primals, and the results and leaves of one step."""
    store = {}

    def partition(joint, inputs, **options):
        store["text"] = joint.print_readable(print_output=False, include_stride=True,
                                             include_device=True)
        return default_partition(joint, inputs, **options)

    def forward(graph, _):
        def run(*primals):
            store["primals"] = [value.detach().clone() for value in primals]
            return graph(*primals)
        return make_boxed_func(run)

    def backend(graph, inputs):
        return aot_module_simplified(graph, inputs, fw_compiler=forward,
                                     bw_compiler=lambda g, _: make_boxed_func(g.forward),
                                     partition_fn=partition)

    torch._dynamo.reset()
    leaves = [tensor.cuda().requires_grad_() for tensor in tensors]
    results = torch.compile(function, backend=backend, fullgraph=True)(*leaves)
    results = results if isinstance(results, tuple) else (results,)
    tangents = [torch.full_like(result, i + 1.0) for i, result in enumerate(results)]
    torch.autograd.backward(list(results), tangents)
    return store, leaves, results, tangents


def write(folder, name, function, tensors):
    store, leaves, results, tangents = captured(function, tensors)
    values = {f"in.tangents_{i + 1}": t for i, t in enumerate(tangents)}
    values.update({f"out.{i}": r.detach() for i, r in enumerate(results)})
    for i, primal in enumerate(store["primals"]):
        values[f"in.primals_{i + 1}"] = primal
        for leaf in leaves:
            if primal.shape == leaf.shape and torch.equal(primal, leaf.detach()):
                values[f"grad.primals_{i + 1}"] = leaf.grad
    save_file({key: value.contiguous().cpu() for key, value in values.items()},
              folder / f"flex_{name}.safetensors")
    lines = [line for line in store["text"].splitlines() if "# File:" not in line]
    with gzip.GzipFile(folder / f"flex_{name}.txt.gz", "wb", mtime=0) as file:
        file.write(("\n".join(lines) + "\n").encode())


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(0)
    q, k, v = (torch.randn(BATCH, HEADS, LENGTH, WIDTH) for _ in range(3))
    k2, v2 = (torch.randn(BATCH, HEADS // 2, LENGTH, WIDTH) for _ in range(2))
    bias = torch.randn(HEADS, 2 * LENGTH)
    document = (torch.arange(LENGTH) // 5).cuda()

    def mask(rule):
        return create_block_mask(rule, None, None, LENGTH, LENGTH, device="cuda")

    causal = mask(lambda b, h, i, j: i >= j)
    same = mask(lambda b, h, i, j: (document[i] == document[j]) & (i > j))

    write(folder, "alibi", lambda q, k, v: flex_attention(
        q, k, v, score_mod=lambda s, b, h, i, j: s + (j - i) * torch.exp2(-(h + 1.0))), [q, k, v])
    write(folder, "gqa", lambda q, k, v: flex_attention(
        q, k, v, block_mask=causal, enable_gqa=True), [q, k2, v2])
    write(folder, "relbias", lambda q, k, v, w: flex_attention(
        q, k, v, score_mod=lambda s, b, h, i, j: s + w[h, i - j + LENGTH]), [q, k, v, bias])
    write(folder, "lse", lambda q, k, v: flex_attention(
        q, k, v, score_mod=lambda s, b, h, i, j: torch.tanh(s / 5) * 5, return_lse=True), [q, k, v])
    write(folder, "doc", lambda q, k, v: flex_attention(
        q, k, v, block_mask=same, scale=0.3), [q, k, v])


if __name__ == "__main__":
    main()
