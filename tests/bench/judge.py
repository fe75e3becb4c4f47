#!/usr/bin/env python3
"""How far the interpreter and compiled loops are from the same graph in f64 throughout, by family: a table
of tests/claims.json. Relative errors of whole outputs, in units of 1e-8.

usage: judge.py [RECUT]     default: build/release/recut
"""
import json
import pathlib
import subprocess
import sys
import tempfile

GRAPHS = {
    "sum of a million": "%x = input f32[1000000]\n%y = sum(%x)",
    "means of 4,096": "%x = input f32[64, 4096]\n%y = mean.dim(%x, [1])",
    "norms of 4,096": "%x = input f32[64, 4096]\n%y = linalg_vector_norm(%x, 2, [1])",
    "product over 1,024": "%a = input f32[256, 1024]\n%b = input f32[1024, 256]\n%y = mm(%a, %b)",
    "convolution over 288": "%a = input f32[2, 32, 16, 16]\n%b = input f32[32, 32, 3, 3]\n"
                            "%y = convolution(%a, %b, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)",
    "softmax of 1,024": "%x = input f32[64, 1024]\n%y = _softmax(%x, 1, false)",
    "layer norm of 1,024": "%x = input f32[64, 1024]\n%l = native_layer_norm(%x, [1024], none, none, 1e-5)\n"
                           "%y = getitem(%l, 0)",
    "attention": "%q = input f32[2, 4, 64, 32]\n%k = input f32[2, 4, 64, 32]\n%v = input f32[2, 4, 64, 32]\n"
                 "%y = scaled_dot_product_attention(%q, %k, %v)",
    "exp": "%x = input f32[65536]\n%y = exp(%x)",
    "tanh": "%x = input f32[65536]\n%y = tanh(%x)",
    "lgamma": "%x = input f32[65536]\n%y = lgamma(%x)",
    "three calls on elements": "%x = input f32[65536]\n%a = mul.Tensor(%x, 1.7)\n%b = add.Tensor(%a, %x)\n"
                               "%y = div.Tensor(%b, 3.1)",
}
SEED = ["--seed", "3"]


def from_f64(recut: str, graph: str, tensors: str) -> float:
    ran = subprocess.run([recut, "eval", graph, *SEED, "--f64", "--check", "--json", "--tensors", tensors],
                         capture_output=True, text=True)
    return json.loads(ran.stdout)["max_relative_error"] * 1e8


def main() -> None:
    recut = sys.argv[1] if len(sys.argv) > 1 else "build/release/recut"
    print(f"{'':24} {'eval':>8} {'compiled':>10}")
    with tempfile.TemporaryDirectory() as folder:
        graph, tensors = (str(pathlib.Path(folder) / name) for name in ("g.recut", "g.safetensors"))
        for name, lines in GRAPHS.items():
            none = ", ".join(["none"] * lines.count(" = input "))
            pathlib.Path(graph).write_text(f'graph "g" {{\n{lines}\nresults %y\ngradients {none}\n}}\n')
            found = []
            for command in (["eval", graph, *SEED, "--out", tensors],
                            ["run", graph, *SEED, "--no-library", "--steps", "1", "--out-tensors", tensors]):
                subprocess.run([recut, *command], check=True, capture_output=True)
                found.append(from_f64(recut, graph, tensors))
            print(f"{name:24} {found[0]:8.1f} {found[1]:10.1f}")


if __name__ == "__main__":
    main()
