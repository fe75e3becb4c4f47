"""The models that the comparison with PyTorch trains: modules that return their loss, made with
random weights (nothing is downloaded), and a batch each."""

from __future__ import annotations

import dataclasses
from typing import Callable

import torch
from torch import nn


class Loss(nn.Module):
    """A model and its loss in one, so that one graph holds both."""

    def __init__(self, model: nn.Module, loss: Callable) -> None:
        super().__init__()
        self.m, self.loss = model, loss

    def forward(self, *batch: torch.Tensor) -> torch.Tensor:
        return self.loss(self.m, *batch)


@dataclasses.dataclass
class Case:
    model: nn.Module
    batch: tuple[torch.Tensor, ...]

    def clear(self) -> None:
        self.model.zero_grad(set_to_none=True)


def _next_token(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    logits = model(input_ids=ids, use_cache=False).logits
    return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


def _every_token(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(model(input_ids=ids).logits.flatten(0, 1), ids.flatten())


def _classes(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(model(images), labels)


def _pixels(model: nn.Module, images: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    return nn.functional.binary_cross_entropy_with_logits(model(images), masks)


def _ids(vocabulary: int, *shape: int) -> torch.Tensor:
    return torch.randint(vocabulary, shape)


def _mlp(batch: int) -> Case:
    layers = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    return Case(Loss(layers, _classes), (torch.randn(batch, 784), torch.randint(10, (batch,))))


def _gpt2(batch: int, dropout: float = 0.0) -> Case:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout, attn_implementation="eager")
    return Case(Loss(GPT2LMHeadModel(config), _next_token), (_ids(50257, batch, 1024),))


def _bert(batch: int) -> Case:
    from transformers import BertConfig, BertForMaskedLM

    model = BertForMaskedLM(BertConfig(attn_implementation="eager"))
    return Case(Loss(model, _every_token), (_ids(30522, batch, 512),))


def _llama(batch: int) -> Case:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=8,
                         num_attention_heads=16, num_key_value_heads=4, attn_implementation="eager")
    return Case(Loss(LlamaForCausalLM(config), _next_token), (_ids(32000, batch, 1024),))


def _t5(batch: int) -> Case:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(d_model=256, d_ff=1024, num_layers=3, num_heads=4, d_kv=64, vocab_size=4096, dropout_rate=0.0,
                      decoder_start_token_id=0, use_cache=False)
    model = T5ForConditionalGeneration(config)
    return Case(Loss(model, lambda m, ids, labels: m(input_ids=ids, labels=labels).loss),
                (_ids(4096, batch, 256), _ids(4096, batch, 64)))


def _vision(make: str, batch: int, **settings: int) -> Case:
    import torchvision

    model = getattr(torchvision.models, make)(**settings)
    return Case(Loss(model, _classes), (torch.randn(batch, 3, 224, 224), torch.randint(1000, (batch,))))


class UNet(nn.Module):
    """Four levels down and up again, batch-norm after each convolution, skips by concatenation."""

    def __init__(self, width: int = 32, levels: int = 4) -> None:
        super().__init__()
        widths = [width << level for level in range(levels + 1)]
        self.down = nn.ModuleList(self._block(a, b) for a, b in zip([3, *widths], widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(widths, widths[1:]))
        self.merge = nn.ModuleList(self._block(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(width, 1, 1)

    @staticmethod
    def _block(inputs: int, outputs: int) -> nn.Sequential:
        layers = []
        for first in (inputs, outputs):
            layers += [nn.Conv2d(first, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()]
        return nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = []
        for level, block in enumerate(self.down):
            x = block(x if level == 0 else nn.functional.max_pool2d(x, 2))
            skips.append(x)
        for level in reversed(range(len(self.up))):
            x = self.merge[level](torch.cat([skips[level], self.up[level](x)], 1))
        return self.head(x)


def _unet(batch: int) -> Case:
    masks = torch.randint(2, (batch, 1, 256, 256)).float()
    return Case(Loss(UNet(), _pixels), (torch.randn(batch, 3, 256, 256), masks))


# Name: how it is made for a batch, and the batch that the tables have.
MODELS: dict[str, tuple[Callable[[int], Case], int]] = {
    "mlp": (_mlp, 256),
    "gpt2": (_gpt2, 4),
    "gpt2_dropout": (lambda batch: _gpt2(batch, 0.1), 4),
    "bert_base": (_bert, 16),
    "resnet50": (lambda batch: _vision("resnet50", batch), 32),
    "vit_b_16": (lambda batch: _vision("vit_b_16", batch), 32),
    "llama_8l": (_llama, 2),
    "t5": (_t5, 4),
    "unet": (_unet, 8),
}


def make(name: str, batch: int | None = None, device: str = "cuda") -> Case:
    """The same weights and batch each time, in training mode."""
    torch.manual_seed(0)
    build, usual = MODELS[name]
    case = build(batch or usual)
    return Case(case.model.to(device).train(), tuple(part.to(device) for part in case.batch))
