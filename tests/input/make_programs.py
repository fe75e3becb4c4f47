"""Writes programs of composite operators, with the values that PyTorch gives them, for exported_command_test.cpp.

usage: make_programs.py FOLDER        where PyTorch 2.11 and safetensors are installed

Each program is NAME.pt2, written by torch.export.save and packed again without stack traces; its inputs and
results are in NAME.safetensors, in.N and out.N in the order of the leaves.
"""

import json
import pathlib
import sys
import zipfile

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils._pytree as pytree
from safetensors.torch import save_file


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTMCell(8, 6), nn.GRUCell(8, 6), nn.RNNCell(8, 6)

    def forward(self, x):
        return self.lstm(x), self.gru(x), self.rnn(x)


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        weight_norm = torch.nn.utils.parametrizations.weight_norm
        self.linear, self.conv = weight_norm(nn.Linear(8, 3)), weight_norm(nn.Conv1d(4, 2, 3))

    def forward(self, x):
        return self.linear(x), self.conv(x[None])


def fft(x):
    f = torch.fft
    return (f.fft(x), f.ifft(x), f.rfft(x, n=10, norm="ortho"), f.irfft(f.rfft(x)), f.hfft(f.ihfft(x)), f.fft2(x),
            f.ifft2(x), f.rfft2(x), f.irfft2(f.rfft2(x)), f.fftn(x), f.ifftn(x, s=(3, 4), dim=(0, 1)), f.rfftn(x),
            f.irfftn(f.rfftn(x), s=(4, 8)), f.fftfreq(8), f.rfftfreq(8, 0.5), f.fftshift(x), f.ifftshift(x, 1),
            f.hfft2(f.ihfft2(x)))


def stft(x):
    signal, window = x.reshape(-1).repeat(4), torch.ones(16)
    spectrum = torch.stft(signal, 16, hop_length=4, window=window, return_complex=True)
    return spectrum, torch.istft(spectrum, 16, hop_length=4, window=window)


def windows(_):
    return (torch.hann_window(8), torch.hamming_window(8, periodic=False), torch.blackman_window(9),
            torch.bartlett_window(8))


def fake_quantized(x):
    scales, zeros = torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.zeros(4, dtype=torch.int32)
    return (torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127),
            torch.fake_quantize_per_tensor_affine(x, torch.tensor(0.1), torch.tensor(1, dtype=torch.int32), 0, 255),
            torch.fake_quantize_per_channel_affine(x, scales, zeros, 0, -128, 127))


def linear_algebra(x):
    l, square = torch.linalg, x[:, :4]
    return (l.norm(x), l.norm(x, "nuc"), l.norm(x, 2), l.norm(x, 1), l.norm(x, -float("inf"), dim=(0, 1), keepdim=True),
            l.matrix_norm(x), l.cond(square), l.cond(square, 1), l.matrix_rank(x), l.multi_dot([x, x.mT, x]),
            l.matrix_power(square, 3), l.matrix_power(square, -2), l.slogdet(square)[1],
            torch.logdet(square @ square.mT + 4 * torch.eye(4)),
            torch.cross(x[:, :3], x[:, 1:4], dim=1), l.vecdot(x, x), l.diagonal(x), l.vander(x[0], N=3),
            l.tensorinv(torch.eye(4).reshape(2, 2, 2, 2)), torch.trace(x), torch.norm(x, 3, 1), x.norm(),
            torch.nuclear_norm(x), torch.kron(x, x), torch.tensordot(x, x, ([0], [0])), x.adjoint(), torch.det(square),
            torch.svd(x)[1], torch.qr(x)[1].abs(), torch.pinverse(x))


def losses(x, t):
    ones = torch.ones(6)
    return (F.triplet_margin_loss(x, x + 1, x - 1), F.triplet_margin_loss(x, x + 1, x - 1, swap=True, reduction="sum"),
            F.cosine_embedding_loss(x, x * 2, ones), F.cosine_embedding_loss(x, x.flip(0), -ones, margin=-0.5),
            F.poisson_nll_loss(x, x.abs()), F.poisson_nll_loss(x.abs(), x.abs() * 3, log_input=False, full=True),
            F.multilabel_margin_loss(x, torch.zeros(6, 5, dtype=torch.long)), F.hinge_embedding_loss(x, x.sign()),
            F.margin_ranking_loss(x, x * 2, x.sign(), margin=0.2), F.multi_margin_loss(x, t), F.rrelu(x))


CASES = {
    "fft": (Function(fft), 1), "stft": (Function(stft), 1), "windows": (Function(windows), 1),
    "fake_quantized": (Function(fake_quantized), 1), "linear_algebra": (Function(linear_algebra), 1),
    "losses": (Function(losses), 2), "cells": (Cells(), 1), "weight_norm": (Normed(), 1),
}


def without_traces(value):
    if isinstance(value, dict):
        return {key: without_traces(item) for key, item in value.items() if key != "stack_trace"}
    return [without_traces(item) for item in value] if isinstance(value, list) else value


def pack(source: pathlib.Path, target: pathlib.Path) -> None:
    """Compressed, with dates that don't change."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("models/model.json"):
                data = json.dumps(without_traces(json.loads(data))).encode()
            new.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    for name, (module, inputs) in CASES.items():
        torch.manual_seed(0)
        arguments = (torch.randn(4, 8),) if inputs == 1 else (torch.randn(6, 5), torch.randint(0, 5, (6,)))
        program = torch.export.export(module.eval(), arguments)
        raw = folder / f"{name}.raw.pt2"
        torch.export.save(program, raw)
        pack(raw, folder / f"{name}.pt2")
        raw.unlink()
        with torch.no_grad():
            results = pytree.tree_leaves(program.module()(*arguments))
        values = {f"in.{i}": value.clone() for i, value in enumerate(arguments)}
        values |= {f"out.{i}": value.detach().clone().contiguous() for i, value in enumerate(results)}
        save_file(values, folder / f"{name}.safetensors")


if __name__ == "__main__":
    main()
