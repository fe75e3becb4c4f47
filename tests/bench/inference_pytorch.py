"""Inference: Recut beside torch.compile with freezing, of the same exported programs on the same inputs. Prints the least
milliseconds of either, the ratio, and how far the outputs are apart.

usage: inference_pytorch.py [--recut build/release/recut] [--device cpu|cuda] [--precision f32|tf32] [--threads 1,2]
                            [--steps 20] [--rounds 3] [MODEL...]

Needs PyTorch 2.11, timm and transformers. Weights are random, from one seed. Both take turns in one run, so that other
work on the machine slows both.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import tempfile
import time
from typing import Callable

import torch
import torch._inductor.config as inductor
from safetensors.torch import load_file, save_file
from torch import nn

Sample = tuple[nn.Module, tuple[torch.Tensor, ...]]


class Part(nn.Module):
    """One tensor of a model's answer."""

    def __init__(self, model: nn.Module, take: str) -> None:
        super().__init__()
        self.model, self.take = model, take

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return getattr(self.model(ids, use_cache=False), self.take)


def image_model(name: str) -> Sample:
    import timm
    return timm.create_model(name), (torch.randn(1, 3, 224, 224),)


def bert() -> Sample:
    from transformers import BertConfig, BertModel
    model = BertModel(BertConfig(attn_implementation="sdpa"))
    return Part(model, "last_hidden_state"), (torch.randint(0, 30000, (1, 128)),)


def gpt2() -> Sample:
    from transformers import GPT2Config, GPT2LMHeadModel
    return Part(GPT2LMHeadModel(GPT2Config()), "logits"), (torch.randint(0, 50000, (1, 128)),)


MODELS: dict[str, Callable[[], Sample]] = {
    "resnet18": lambda: image_model("resnet18"),
    "resnet50": lambda: image_model("resnet50"),
    "mobilenet_v2": lambda: image_model("mobilenetv2_100"),
    "bert": bert,
    "gpt2": gpt2,
    "vit": lambda: image_model("vit_base_patch16_224"),
}


def least_ms(step: Callable[[], object], steps: int, device: str) -> float:
    least = float("inf")
    for _ in range(steps):
        began = time.perf_counter()
        step()
        if device == "cuda":
            torch.cuda.synchronize()
        least = min(least, 1e3 * (time.perf_counter() - began))
    return least


class Race:
    def __init__(self, options: argparse.Namespace, folder: pathlib.Path, name: str) -> None:
        self.options, self.folder, self.name = options, folder, name
        torch.manual_seed(0)
        model, self.inputs = MODELS[name]()
        self.model = model.eval()
        program = torch.export.export(self.model, self.inputs)
        torch.export.save(program, folder / "model.pt2")
        names = program.graph_signature.user_inputs
        save_file({f"in.{n}": x.contiguous() for n, x in zip(names, self.inputs)}, folder / "inputs.safetensors")

    def recut(self, threads: int) -> tuple[float, torch.Tensor]:
        words = [self.options.recut, "run", self.folder / "model.pt2", "--for-inference", "--json", "--device",
                 self.options.device, "--steps", self.options.steps, "--tensors", self.folder / "inputs.safetensors",
                 "--out-tensors", self.folder / "outputs.safetensors"]
        cpu = self.options.device == "cpu"
        words += ["--threads", threads] if cpu else ["--precision", self.options.precision]
        ran = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if ran.returncode != 0:
            raise RuntimeError(ran.stderr)
        return json.loads(ran.stdout)["step_ms_min"], next(iter(load_file(self.folder / "outputs.safetensors").values()))

    @torch.no_grad()
    def row(self, threads: int) -> str:
        torch.set_num_threads(threads)
        torch._dynamo.reset()
        model = self.model.to(self.options.device)
        inputs = [x.to(self.options.device) for x in self.inputs]
        compiled = torch.compile(model)
        expected = compiled(*inputs)
        for _ in range(3):
            compiled(*inputs)
        ours = theirs = float("inf")
        for _ in range(self.options.rounds):
            ms, output = self.recut(threads)
            ours = min(ours, ms)
            theirs = min(theirs, least_ms(lambda: compiled(*inputs), self.options.steps, self.options.device))
        self.model.to("cpu")
        apart = float((output - expected.cpu()).abs().max() / expected.abs().max())
        return (f"{self.name:<14} {threads:>7} {theirs:>10.2f} ms {ours:>7.2f} ms {ours / theirs:>16.2f}"
                f" {apart:>31.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recut", default="build/release/recut")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--precision", default="f32", choices=("f32", "tf32"), help="of f32 on a GPU, for both")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL")
    options = parser.parse_args()
    inductor.freezing = True
    # By default PyTorch computes convolutions in tf32, and products in f32.
    torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    print(f"PyTorch {torch.__version__}, {options.device}")
    print("model          threads       PyTorch      Recut   Recut / PyTorch   outputs apart, of the largest", flush=True)
    for name in options.models:
        with tempfile.TemporaryDirectory() as folder:
            try:
                race = Race(options, pathlib.Path(folder), name)
                for threads in map(int, options.threads.split(",") if options.device == "cpu" else ["1"]):
                    print(race.row(threads), flush=True)
            except Exception as fault:  # the other models still have their rows
                print(f"{name:<14} {str(fault).strip()[-500:]}", flush=True)


if __name__ == "__main__":
    main()
