#!/usr/bin/env python3
"""Recut's attention beside PyTorch's on one GPU: each call alone, forward and backward, in ms.

usage: attention.py [--recut build/release/recut] [--calls 50]

  The shapes are those of one layer of gpt2_amp, gpt2, llama_8l, bert_base (without its dropout) and vit_b_16. PyTorch's
  are its operators for FlashAttention-2 and cuDNN (16 bits alone) and its memory-efficient one; f32 is computed by tf32
  on both sides. PyTorch's are timed by events around so many calls in a row, Recut's by `recut run`, kernel by kernel.
  Skipped where there is no GPU or no PyTorch.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

# Name, dtype, batches, heads, rows, features, causal.
LAYERS = [("gpt2_amp", "bf16", 8, 12, 1024, 64, True), ("gpt2", "f32", 4, 12, 1024, 64, True),
          ("llama_8l", "f32", 2, 16, 1024, 64, True), ("bert_base", "f32", 16, 12, 512, 64, False),
          ("vit_b_16", "f32", 32, 12, 197, 64, False)]

GRAPH = """graph "attention" {{
  %q = input {t}[{shape}]
  %k = input {t}[{shape}]
  %v = input {t}[{shape}]
  %g = tangent {t}[{shape}]
  %a = _scaled_dot_product_efficient_attention(%q, %k, %v, none, true, 0.0, {causal}, scale={scale})
  %o = getitem(%a, 0)
  %s = getitem(%a, 1)
  %seed = getitem(%a, 2)
  %offset = getitem(%a, 3)
  %b = _scaled_dot_product_efficient_attention_backward(%g, %q, %k, %v, none, %o, %s, %seed, %offset, 0.0, """ \
"""[true, true, true, false], {causal}, scale={scale})
  %gq = getitem(%b, 0)
  %gk = getitem(%b, 1)
  %gv = getitem(%b, 2)
  results %o
  gradients %gq, %gk, %gv
}}
"""


def recut_times(recut: str, layer: tuple, folder: str, *options: str) -> tuple[float, float]:
    _, dtype, batches, heads, rows, features, causal = layer
    path = pathlib.Path(folder, "attention.recut")
    path.write_text(GRAPH.format(t=dtype, shape=f"{batches}, {heads}, {rows}, {features}",
                                 causal=str(causal).lower(), scale=1 / math.sqrt(features)))
    command = [recut, "run", str(path), "--device", "cuda", "--precision", "tf32", "--json", *options]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    times = {kernel["name"]: kernel["ms"] / kernel["launches"] for kernel in report["slowest"]}
    return times["a"], times["b"]


def torch_calls(torch, layer: tuple):
    """What to call, by a name: pairs of a forward and a backward function."""
    _, dtype, batches, heads, rows, features, causal = layer
    aten = torch.ops.aten
    kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
    # Heads stand beside each other in a row, as a layer has them.
    q, k, v, g = (torch.randn(batches, rows, heads, features, device="cuda", dtype=kind).transpose(1, 2)
                  for _ in range(4))
    scale = 1 / math.sqrt(features)

    def efficient():
        call = lambda: aten._scaled_dot_product_efficient_attention(q, k, v, None, True, 0.0, causal, scale=scale)
        o, s, seed, offset = call()
        return call, lambda: aten._scaled_dot_product_efficient_attention_backward(
            g, q, k, v, None, o, s, seed, offset, 0.0, [True, True, True, False], causal, scale=scale)

    def flash():
        call = lambda: aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False, scale=scale)
        o, s, first, second, most_q, most_k, seed, offset, _ = call()
        return call, lambda: aten._scaled_dot_product_flash_attention_backward(
            g, q, k, v, o, s, first, second, most_q, most_k, 0.0, causal, seed, offset, scale=scale)

    def cudnn():
        call = lambda: aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal, False, scale=scale)
        o, s, first, second, most_q, most_k, seed, offset, _ = call()
        return call, lambda: aten._scaled_dot_product_cudnn_attention_backward(
            g, q, k, v, o, s, seed, offset, None, first, second, most_q, most_k, 0.0, causal, scale=scale)

    return {"efficient": efficient} if dtype == "f32" else {"efficient": efficient, "flash": flash, "cudnn": cudnn}


def torch_time(torch, call, calls: int) -> float:
    for _ in range(5):
        call()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / calls


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    parser.add_argument("--recut", default="build/release/recut")
    parser.add_argument("--calls", type=int, default=50)
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("skipped: there is no PyTorch")
    if not torch.cuda.is_available():
        sys.exit("skipped: PyTorch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = True
    print(f"on {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print("| layer of | dtype | whose | forward ms | backward ms |")
    print("|---|---|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for layer in LAYERS:
            row = lambda whose, times: print(f"| {layer[0]} | {layer[1]} | {whose} | {times[0]:.3f} | {times[1]:.3f} |",
                                             flush=True)
            row("Recut", recut_times(options.recut, layer, folder))
            if layer[1] != "f32":
                row("Recut --nondeterministic", recut_times(options.recut, layer, folder, "--nondeterministic"))
            for whose, prepare in torch_calls(torch, layer).items():
                row(whose, [torch_time(torch, call, options.calls) for call in prepare()])


if __name__ == "__main__":
    main()
