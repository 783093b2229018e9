"""BERT, Llama, ViT and T5 as plain PyTorch modules, from their published descriptions: Devlin et al., arXiv:1810.04805;
Touvron et al., arXiv:2302.13971; Dosovitskiy et al., arXiv:2010.11929; Raffel et al., arXiv:1910.10683."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def heads(x, count):
    """[sequences, tokens, elements] by heads in front of the tokens."""
    return x.view(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


class Attention(nn.Module):
    def __init__(self, size, count, inner=None, bias=True, scaled=True):
        super().__init__()
        inner = inner or size
        self.count, self.scale = count, math.sqrt(inner // count) if scaled else 1
        self.q, self.k, self.v = (nn.Linear(size, inner, bias) for _ in range(3))
        self.out = nn.Linear(inner, size, bias)

    def forward(self, x, other, mask, turn=lambda x: x):
        q, k = (turn(heads(made, self.count)) for made in (self.q(x), self.k(other)))
        v = heads(self.v(other), self.count)
        scores = q @ k.transpose(-1, -2)
        if self.scale != 1:
            scores = scores / self.scale
        return self.out(joined((scores if mask is None else scores + mask).softmax(-1) @ v))


class EncoderLayer(nn.Module):
    """`first`: norms come in front of attention and of the wide layer, else behind their residuals."""

    def __init__(self, size, count, wide, eps, first):
        super().__init__()
        self.first, self.attention = first, Attention(size, count)
        self.norms = nn.ModuleList(nn.LayerNorm(size, eps=eps) for _ in range(2))
        self.up, self.down = nn.Linear(size, wide), nn.Linear(wide, size)

    def forward(self, x, mask=None):
        if self.first:
            y = self.norms[0](x)
            x = x + self.attention(y, y, mask)
            return x + self.down(F.gelu(self.up(self.norms[1](x))))
        x = self.norms[0](x + self.attention(x, x, mask))
        return self.norms[1](x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self, words=30522, size=768, layers=4, count=12, wide=3072, places=512):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, size) for rows in (words, places, 2))
        self.norm = nn.LayerNorm(size, eps=1e-12)
        self.layers = nn.ModuleList(EncoderLayer(size, count, wide, 1e-12, False) for _ in range(layers))
        self.pool, self.last = nn.Linear(size, size), nn.Linear(size, 2)

    def forward(self, ids, seen, kinds, labels):
        words, places, types = self.tables
        x = self.norm(words(ids) + places(torch.arange(ids.shape[1], device=ids.device)) + types(kinds))
        mask = (1.0 - seen[:, None, None, :].to(x.dtype)) * -1e9
        for layer in self.layers:
            x = layer(x, mask)
        return F.cross_entropy(self.last(torch.tanh(self.pool(x[:, 0]))), labels)


class Vit(nn.Module):
    def __init__(self, size=768, layers=4, count=12, wide=3072, picture=224, patch=16):
        super().__init__()
        self.patches = nn.Conv2d(3, size, patch, patch)
        self.special = nn.Parameter(torch.zeros(1, 1, size))
        self.places = nn.Parameter(torch.randn(1, (picture // patch) ** 2 + 1, size) * 0.02)
        self.layers = nn.ModuleList(EncoderLayer(size, count, wide, 1e-6, True) for _ in range(layers))
        self.norm, self.last = nn.LayerNorm(size, eps=1e-6), nn.Linear(size, 10)

    def forward(self, x, labels):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.special.expand(x.shape[0], -1, -1), x), 1) + self.places
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.last(self.norm(x)[:, 0]), labels)


class RmsNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.gain, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        return self.gain * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


class LlamaLayer(nn.Module):
    def __init__(self, size, count, wide):
        super().__init__()
        self.attention = Attention(size, count, bias=False)
        self.norms = nn.ModuleList(RmsNorm(size, 1e-5) for _ in range(2))
        self.gate, self.up, self.down = (nn.Linear(a, b, False) for a, b in ((size, wide), (size, wide), (wide, size)))

    def forward(self, x, mask, turn):
        y = self.norms[0](x)
        x = x + self.attention(y, y, mask, turn)
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, words=32000, size=1024, layers=4, count=16, wide=2816, tokens=512):
        super().__init__()
        self.table, self.norm, self.last = nn.Embedding(words, size), RmsNorm(size, 1e-5), nn.Linear(size, words, False)
        self.layers = nn.ModuleList(LlamaLayer(size, count, wide) for _ in range(layers))
        pairs = size // count // 2
        angles = torch.arange(tokens)[:, None] / 10000 ** (torch.arange(pairs) / pairs)
        for name, function in (("cosines", torch.cos), ("sines", torch.sin)):
            self.register_buffer(name, function(torch.cat((angles, angles), -1)), False)
        self.register_buffer("mask", torch.full((tokens, tokens), float("-inf")).triu(1), False)

    def forward(self, ids):
        def turn(x):
            first, second = x.chunk(2, -1)
            return x * self.cosines + torch.cat((-second, first), -1) * self.sines
        x = self.table(ids)
        for layer in self.layers:
            x = layer(x, self.mask, turn)
        logits = self.last(self.norm(x))[:, :-1]
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), ids[:, 1:].reshape(-1))


class T5Layer(nn.Module):
    def __init__(self, size, count, wide, decodes):
        super().__init__()
        self.parts = nn.ModuleList(Attention(size, count, count * 64 if size >= 512 else None, False, False)
                                   for _ in range(1 + decodes))
        self.norms = nn.ModuleList(RmsNorm(size, 1e-6) for _ in range(2 + decodes))
        self.up, self.down = nn.Linear(size, wide, False), nn.Linear(wide, size, False)

    def forward(self, x, mask, *other):
        y = self.norms[0](x)
        x = x + self.parts[0](y, y, mask)
        if other:
            x = x + self.parts[1](self.norms[1](x), *other)
        return x + self.down(F.relu(self.up(self.norms[-1](x))))


def bucket(distance, both, count=32, most=128):
    out = 0
    if both:
        count //= 2
        out, distance = (distance > 0).long() * count, distance.abs()
    else:
        distance = -torch.min(distance, torch.zeros_like(distance))
    half = count // 2
    far = half + (torch.log(distance.float().clamp(min=1) / half) / math.log(most / half) * (count - half)).long()
    return out + torch.where(distance < half, distance, torch.min(far, torch.full_like(far, count - 1)))


class T5(nn.Module):
    def __init__(self, words=32128, size=512, layers=4, count=8, wide=2048):
        super().__init__()
        self.size, self.table = size, nn.Embedding(words, size)
        self.biases = nn.ModuleList(nn.Embedding(32, count) for _ in range(2))
        self.encoder, self.decoder = (nn.ModuleList(T5Layer(size, count, wide, decodes) for _ in range(layers))
                                      for decodes in (False, True))
        self.norms = nn.ModuleList(RmsNorm(size, 1e-6) for _ in range(2))

    def bias(self, table, tokens, both):
        places = torch.arange(tokens)
        return table(bucket(places[None] - places[:, None], both).to(table.weight.device)).permute(2, 0, 1)[None]

    def forward(self, ids, seen, given, labels):
        hidden = (1.0 - seen[:, None, None, :].float()) * -1e9
        later = (1.0 - torch.ones(given.shape[1], given.shape[1], device=ids.device).tril())[None, None] * -1e9
        x, y = self.table(ids), self.table(given)
        bias = self.bias(self.biases[0], ids.shape[1], True) + hidden
        for layer in self.encoder:
            x = layer(x, bias)
        x, bias = self.norms[0](x), self.bias(self.biases[1], given.shape[1], False) + later
        for layer in self.decoder:
            y = layer(y, bias, x, hidden)
        logits = self.norms[1](y) * self.size ** -0.5 @ self.table.weight.T
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1))
