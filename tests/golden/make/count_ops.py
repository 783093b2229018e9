#!/usr/bin/env python3
"""Counts what PyTorch dispatches for one layer in bf16, forward and backward, as transformers' modeling_llama.py,
modeling_gemma.py, modeling_gemma2.py, modeling_gemma3.py, modeling_stablelm.py, modeling_phi.py,
modeling_starcoder2.py, modeling_gpt_neo.py, modeling_gpt_bigcode.py, modeling_falcon.py, modeling_cohere.py,
modeling_glm.py, modeling_glm4.py, modeling_helium.py, modeling_nemotron.py, modeling_arcee.py, modeling_apertus.py, modeling_exaone4.py,
modeling_olmo.py, modeling_gptj.py, modeling_codegen.py, modeling_bloom.py, modeling_mpt.py, modeling_dbrx.py, modeling_llama4.py,
modeling_bert.py, the publishers' code of InternLM2, Baichuan, Qwen, ChatGLM, MiniCPM, MiniCPM3, Orion and Ling,
modeling_esm.py, modeling_modernbert.py, modeling_modernbert_decoder.py, modeling_deberta_v2.py, modeling_mobilebert.py, modeling_deepseek_v3.py, modeling_granitemoeshared.py and modeling_bart.py write it with eager attention: what the host model needs
of a layer (FrameworkOps in workloads/models/model.h). The tables in workloads/models/decoder take from here what a
relative dispatches beyond a Llama, and the whole layers of Phi and those that are named after it; those of encoders
what one dispatches beyond a BERT.

Usage: count_ops.py"""
import math

import torch
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

BATCH, TOKENS, HIDDEN, HEADS, FFN = 2, 8, 16, 2, 24
HEAD = HIDDEN // HEADS


class Count(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls += 1
        return func(*args, **(kwargs or {}))


class RmsNorm(nn.Module):
    """LlamaRMSNorm, or GemmaRMSNorm, which multiplies by 1 + weight in fp32."""

    def __init__(self, size, gemma):
        super().__init__()
        self.weight, self.gemma = nn.Parameter(torch.ones(size)), gemma

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        if self.gemma:
            return (y * (1.0 + self.weight.float())).type_as(x)
        return self.weight * y.to(x.dtype)


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


class Layer(nn.Module):
    """What all have: projections, heads and rotary positions of `turned` elements of each."""

    def __init__(self, bias, turned):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(HIDDEN, HIDDEN, bias=bias) for _ in range(4))
        angles = torch.outer(torch.arange(64.0), 10000.0 ** (-torch.arange(0, turned, 2.0) / turned))
        self.cos, self.sin = (torch.cat((t, t), -1) for t in (angles.cos(), angles.sin()))

    def heads(self, x, linear):
        return linear(x).view(BATCH, TOKENS, HEADS, HEAD).transpose(1, 2)

    def rotated(self, q, k, places):
        cos, sin = (table[:TOKENS].to(q.dtype)[places].unsqueeze(1) for table in (self.cos, self.sin))
        return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin

    def context(self, q, k, v, mask, scaled, cap=None):
        w = scaled(torch.matmul(q, k.transpose(2, 3)))
        if cap:
            w = torch.tanh(w / cap) * cap
        w = functional.softmax(w + mask, dim=-1, dtype=torch.float32).to(v.dtype)
        return torch.matmul(w, v).transpose(1, 2).contiguous().reshape(BATCH, TOKENS, HIDDEN)


class Llama(Layer):
    def __init__(self, gemma=False, around=False, head_norms=False, cap=None):
        super().__init__(False, HEAD)
        self.gate, self.up = nn.Linear(HIDDEN, FFN, bias=False), nn.Linear(HIDDEN, FFN, bias=False)
        self.down = nn.Linear(FFN, HIDDEN, bias=False)
        self.norms = nn.ModuleList(RmsNorm(HIDDEN, gemma) for _ in range(4 if around else 2))
        self.head_norms = nn.ModuleList(RmsNorm(HEAD, gemma) for _ in range(2 if head_norms else 0))
        self.gemma, self.around, self.cap = gemma, around, cap

    def forward(self, x, mask, places):
        y = self.norms[0](x)
        q, k, v = (self.heads(y, linear) for linear in (self.q, self.k, self.v))
        if self.head_norms:
            q, k = self.head_norms[0](q), self.head_norms[1](k)
        q, k = self.rotated(q, k, places)
        scaled = (lambda s: s * 0.3) if self.around else (lambda s: s / math.sqrt(HEAD))
        y = self.o(self.context(q, k, v, mask, scaled, self.cap))
        x = x + (self.norms[2](y) if self.around else y)
        y = self.norms[1](x)
        gate = functional.gelu(self.gate(y), approximate="tanh") if self.gemma else functional.silu(self.gate(y))
        y = self.down(gate * self.up(y))
        return x + (self.norms[3](y) if self.around else y)


class StableLm(Layer):
    def __init__(self):
        super().__init__(False, HEAD // 2)
        self.gate, self.up = nn.Linear(HIDDEN, FFN, bias=False), nn.Linear(HIDDEN, FFN, bias=False)
        self.down = nn.Linear(FFN, HIDDEN, bias=False)
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)

    def forward(self, x, mask, places):
        y, half = self.norm1(x), HEAD // 2
        q, k, v = (self.heads(y, linear) for linear in (self.q, self.k, self.v))
        turned = self.rotated(q[..., :half], k[..., :half], places)
        q, k = (torch.cat((a, b[..., half:]), -1) for a, b in zip(turned, (q, k)))
        x = x + self.o(self.context(q, k, v, mask, lambda s: s / math.sqrt(HEAD)))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Phi(Layer):
    def __init__(self):
        super().__init__(True, HEAD // 2)
        self.up, self.down, self.norm = nn.Linear(HIDDEN, FFN), nn.Linear(FFN, HIDDEN), nn.LayerNorm(HIDDEN)

    def forward(self, x, mask, places):
        y = self.norm(x)
        q, k, v = (self.heads(y, linear) for linear in (self.q, self.k, self.v))
        half = HEAD // 2
        turned = self.rotated(q[..., :half], k[..., :half], places)
        q, k = (torch.cat((a, b[..., half:]), -1).float() for a, b in zip(turned, (q, k)))
        a = self.o(self.context(q, k, v, mask, lambda s: s / math.sqrt(HEAD)))
        return a + self.down(functional.gelu(self.up(y), approximate="tanh")) + x


class Plain(Layer):
    """What StarCoder2, GPT-Neo, GPTBigCode and Falcon have."""

    def __init__(self, bias=True, qkv_bias=True):
        super().__init__(qkv_bias, HEAD)
        self.o, self.up = nn.Linear(HIDDEN, HIDDEN, bias=bias), nn.Linear(HIDDEN, FFN, bias=bias)
        self.down = nn.Linear(FFN, HIDDEN, bias=bias)
        self.k1, self.v1 = nn.Linear(HIDDEN, HEAD), nn.Linear(HIDDEN, HEAD)
        self.fused = nn.Linear(HIDDEN, HIDDEN + 2 * HEAD, bias=qkv_bias)
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.seen = torch.tril(torch.ones(64, 64, dtype=torch.bool))

    def act(self, x):
        return functional.gelu(x, approximate="tanh")

    def forward(self, x, mask, places):
        x = self.attend(self.norm1(x), mask, places) + x
        return x + self.down(self.act(self.up(self.norm2(x))))


class StarCoder2(Plain):
    def attend(self, y, mask, places):
        k, v = (linear(y).view(BATCH, TOKENS, 1, HEAD).transpose(1, 2) for linear in (self.k1, self.v1))
        q, k = self.rotated(self.heads(y, self.q), k, places)
        k, v = (t[:, :, None].expand(BATCH, 1, HEADS, TOKENS, HEAD).reshape(BATCH, HEADS, TOKENS, HEAD) for t in (k, v))
        return self.o(self.context(q, k, v, mask, lambda s: s / math.sqrt(HEAD)))


class GptNeo(Plain):
    def __init__(self):
        super().__init__(qkv_bias=False)

    def act(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))

    def attend(self, y, mask, places):
        q, k, v = (self.heads(y, linear) for linear in (self.q, self.k, self.v))
        w = torch.matmul(q.float(), k.float().transpose(-1, -2))
        w = torch.where(self.seen[None, None, :TOKENS, :TOKENS], w, torch.tensor(torch.finfo(w.dtype).min))
        w = functional.softmax(w + mask, dim=-1).to(v.dtype)
        return self.o(torch.matmul(w, v).permute(0, 2, 1, 3).contiguous().view(BATCH, TOKENS, HIDDEN))


class GptBigCode(Plain):
    def attend(self, y, mask, places):
        q, kv = self.fused(y).split((HIDDEN, 2 * HEAD), dim=2)
        k, v = kv.split((HEAD, HEAD), dim=-1)
        q, w = q.reshape(BATCH, TOKENS * HEADS, HEAD), torch.empty((BATCH, TOKENS * HEADS, TOKENS), dtype=q.dtype)
        w = torch.baddbmm(w, q, k.transpose(-1, -2), beta=0, alpha=1 / math.sqrt(HEAD))
        seen = self.seen[None, :TOKENS, None, :TOKENS].expand(BATCH, TOKENS, 1, TOKENS)
        least = torch.full([], torch.finfo(torch.float32).min)
        w = torch.where(seen, w.view(BATCH, TOKENS, HEADS, TOKENS).float() * 1.0, least)
        w = functional.softmax(w, dim=-1).to(q.dtype).view(BATCH, TOKENS * HEADS, TOKENS)
        return self.o(torch.bmm(w, v).view(BATCH, TOKENS, HIDDEN))


class Falcon(Plain):
    def __init__(self):
        super().__init__(bias=False, qkv_bias=False)

    def act(self, x):
        return functional.gelu(x)

    def attend(self, y, mask, places):
        qkv = self.fused(y).view(BATCH, TOKENS, HEADS + 2, HEAD)
        q, k, v = (t.transpose(1, 2).reshape(BATCH, -1, TOKENS, HEAD)
                   for t in (qkv[..., :-2, :], qkv[..., [-2], :], qkv[..., [-1], :]))
        q, k = self.rotated(q, k, places)
        w = q @ k.transpose(-1, -2) / math.sqrt(HEAD)
        w = functional.softmax(w + mask, dim=-1, dtype=torch.float32).to(q.dtype)
        return self.o((w @ v).view(BATCH, HEADS, TOKENS, HEAD).permute(0, 2, 1, 3).reshape(BATCH, TOKENS, HIDDEN))

    def forward(self, x, mask, places):
        y = self.norm1(x)
        a = self.attend(y, mask, places)
        return self.down(self.act(self.up(y))) + a + x


class Bert(Layer):
    """A layer of BERT, ESM or ModernBERT, with dropout where it has any."""

    def __init__(self, kind):
        super().__init__(kind != "modernbert", HEAD)
        self.kind, self.first, wide = kind, kind != "bert", 2 * FFN if kind == "modernbert" else FFN
        self.up, self.down = (nn.Linear(*size, bias=self.first is False or kind == "esm")
                              for size in ((HIDDEN, wide), (FFN, HIDDEN)))
        self.norm1, self.norm2 = (nn.LayerNorm(HIDDEN, elementwise_affine=True) for _ in range(2))
        self.fused, self.drop = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False), nn.Dropout(0.0 if wide > FFN else 0.1)
        self.tables = self.cos[None, None], self.sin[None, None]

    def turned(self, x):
        cos, sin = (table[:, :, :x.shape[-2], :].to(x.dtype) for table in self.tables)
        return x * cos + rotate_half(x) * sin

    def dropped(self, x):
        return x if self.kind == "modernbert" else self.drop(x)

    def attend(self, y, mask, places):
        if self.kind == "modernbert":
            q, k, v = self.fused(y).view(BATCH, TOKENS, 3, HEADS, HEAD).transpose(3, 1).unbind(dim=2)
            q, k = self.rotated(q, k, places)
            w = functional.softmax(torch.matmul(q, k.transpose(2, 3)) * HEAD ** -0.5 + mask, dim=-1,
                                   dtype=torch.float32).to(q.dtype)
            return torch.matmul(w, v).transpose(1, 2).contiguous().view(BATCH, TOKENS, HIDDEN)
        q, k, v = (self.heads(y, linear) for linear in (self.q, self.k, self.v))
        if self.kind == "esm":
            q, k = self.turned(q * HEAD ** -0.5), self.turned(k)
        w = torch.matmul(q, k.transpose(-1, -2))
        w = self.drop(functional.softmax((w if self.kind == "esm" else w / math.sqrt(HEAD)) + mask, dim=-1))
        return torch.matmul(w, v).permute(0, 2, 1, 3).contiguous().view(BATCH, TOKENS, HIDDEN)

    def forward(self, x, mask, places):
        y = self.dropped(self.o(self.attend(self.norm1(x) if self.first else x, mask, places))) + x
        x = y if self.first else self.norm1(y)
        y = self.up(self.norm2(x) if self.first else x)
        if self.kind == "modernbert":
            read, gate = y.chunk(2, dim=-1)
            return x + self.down(functional.gelu(read) * gate)
        esm = self.kind == "esm"
        y = y * 0.5 * (1.0 + torch.erf(y / math.sqrt(2.0))) if esm else functional.gelu(y)
        y = self.dropped(self.down(y)) + x
        return y if self.first else self.norm2(y)


class Deberta(Bert):
    """A layer of DeBERTa-v3, whose dropout keeps its mask."""

    def __init__(self):
        super().__init__("bert")
        self.table = torch.randn(2 * TOKENS, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
        self.far = torch.arange(TOKENS)[None, :, None] - torch.arange(TOKENS)[None, None, :]

    def dropped(self, x):
        hidden = (1 - torch.empty_like(x).bernoulli_(0.9)).to(torch.bool)
        return x.masked_fill(hidden, 0) * (1 / 0.9)

    def heads(self, x, linear):
        return linear(x).view(x.shape[0], -1, HEADS, HEAD).permute(0, 2, 1, 3).contiguous().view(-1, x.shape[1], HEAD)

    def by_place(self, x, places, far):
        scale = torch.sqrt(torch.tensor(HEAD, dtype=torch.float) * 3)
        scores = torch.bmm(x, places.repeat(BATCH, 1, 1).transpose(-1, -2))
        there = torch.clamp(far + TOKENS, 0, 2 * TOKENS - 1).squeeze(0)
        return torch.gather(scores, -1, there.expand(BATCH * HEADS, TOKENS, TOKENS)), scale.to(x.dtype)

    def attend(self, y, mask, places):
        q, k, v = (self.heads(y, linear) for linear in (self.q, self.k, self.v))
        scale = torch.sqrt(torch.tensor(HEAD, dtype=torch.float) * 3)
        w = torch.bmm(q, k.transpose(-1, -2) / scale.to(q.dtype))
        far, table = self.far.unsqueeze(1), self.dropped(self.table)[0:2 * TOKENS, :].unsqueeze(0)
        queries, keys = self.heads(table, self.q), self.heads(table, self.k)
        there, scale = self.by_place(q, keys, far.squeeze(1))
        score = 0 + there / scale
        back, scale = self.by_place(k, queries, -far.squeeze(1))
        w = (w + (score + back.transpose(-1, -2) / scale)).view(-1, HEADS, TOKENS, TOKENS)
        hidden = ~(mask + 1).to(torch.bool)
        w = functional.softmax(w.masked_fill(hidden, torch.finfo(w.dtype).min), -1).masked_fill(hidden, 0)
        w = torch.bmm(self.dropped(w).view(-1, TOKENS, TOKENS), v)
        return w.view(-1, HEADS, TOKENS, HEAD).permute(0, 2, 1, 3).contiguous().view(BATCH, TOKENS, HIDDEN)


class BartLayer(Layer):
    """A layer of BART, of its encoder or of its decoder, whose source is as long."""

    def __init__(self, decoder):
        super().__init__(True, HEAD)
        self.cross = Layer(True, HEAD) if decoder else None
        self.up, self.down, self.drop = nn.Linear(HIDDEN, FFN), nn.Linear(FFN, HIDDEN), nn.Dropout(0.1)
        self.norms = nn.ModuleList(nn.LayerNorm(HIDDEN) for _ in range(3 if decoder else 2))

    def attend(self, part, x, source, mask):
        def shaped(y):
            return y.view(BATCH, -1, HEADS, HEAD).transpose(1, 2).contiguous()

        q, k, v = part.q(x) * HEAD ** -0.5, shaped(part.k(source)), shaped(part.v(source))
        q, k, v = (y.view(BATCH * HEADS, -1, HEAD) for y in (shaped(q), k, v))
        w = torch.bmm(q, k.transpose(1, 2)).view(BATCH, HEADS, TOKENS, TOKENS) + mask
        w = functional.softmax(w.view(BATCH * HEADS, TOKENS, TOKENS), dim=-1)
        y = torch.bmm(w, v).view(BATCH, HEADS, TOKENS, HEAD).transpose(1, 2).reshape(BATCH, TOKENS, HIDDEN)
        return part.o(y)

    def forward(self, x, mask, places):
        source = x
        x = self.norms[0](x + self.drop(self.attend(self, x, x, mask)))
        if self.cross:
            x = self.norms[2](x + self.drop(self.attend(self.cross, x, source, mask)))
        return self.norms[1](x + self.drop(self.down(functional.gelu(self.up(x)))))


class CohereNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        y = x.to(torch.float32)
        mean = y.mean(-1, keepdim=True)
        y = (y - mean) * torch.rsqrt((y - mean).pow(2).mean(-1, keepdim=True) + 1e-5)
        return (self.weight.to(torch.float32) * y).to(x.dtype)


class FixedNorm(nn.Module):
    """OLMo's."""

    def forward(self, x):
        return functional.layer_norm(x.to(torch.float32), x.shape[-1:], None, None, eps=1e-5).to(x.dtype)


class OneNorm(nn.LayerNorm):
    """Nemotron's, in autocast's types."""

    def forward(self, x):
        return functional.layer_norm(x, self.normalized_shape, self.weight + 1, self.bias, self.eps)


class Relative(Layer):
    """Of Llama: its norms, the elements of a head that turn, its MLP, and how its parts are put together."""

    def __init__(self, norm, share=1, act=functional.silu, **traits):
        super().__init__(False, int(HEAD * share))
        self.norms, self.act, self.share, self.traits = nn.ModuleList(norm() for _ in range(4)), act, share, traits
        self.up, self.down = nn.Linear(HIDDEN, FFN, bias=False), nn.Linear(FFN, HIDDEN, bias=False)
        self.gate = nn.Linear(HIDDEN, FFN, bias=False)
        self.wide = nn.Linear(HIDDEN, 2 * FFN, bias=False)
        self.head_norms = nn.ModuleList(RmsNorm(HEAD, False) for _ in range(2))
        self.own_norms = nn.ModuleList(CohereNorm(HEAD) for _ in range(2))

    def mlp(self, y):
        if self.traits.get("shared"):  # an expert of all tokens beside the others
            gate, up = self.wide(y).chunk(2, dim=-1)
            return self.down(self.act(self.gate(y)) * self.up(y)) + self.down(self.act(gate) * up)
        if self.traits.get("plain"):
            return self.down(self.act(self.up(y)))
        if self.traits.get("wide"):
            gate, up = self.wide(y).chunk(2, dim=-1)
            return self.down(up * self.act(gate))
        return self.down(self.act(self.gate(y)) * self.up(y))

    def rotated(self, q, k, places):
        if not self.traits.get("pairs"):
            return super().rotated(q, k, places)
        cos, sin = (table[:TOKENS].to(q.dtype)[places].unsqueeze(1) for table in (self.cos, self.sin))
        if self.traits["pairs"] == "spread":  # as GLM and Helium; Cohere's tables are spread, and it turns in fp32
            cos, sin = (t[..., :t.shape[-1] // 2].repeat_interleave(2, dim=-1) for t in (cos, sin))
        else:
            q, k = q.float(), k.float()
        q, k = (t * cos + torch.stack((-t[..., 1::2], t[..., ::2]), -1).flatten(-2) * sin for t in (q, k))
        return (q, k) if self.traits["pairs"] == "spread" else (q.to(cos.dtype), k.to(cos.dtype))

    def attend(self, y, mask, places):
        q, k, v = (self.heads(y, linear) for linear in (self.q, self.k, self.v))
        if self.traits.get("head_norms"):
            q, k = self.head_norms[0](q), self.head_norms[1](k)
        if self.traits.get("own"):
            q, k = self.own_norms[0](q), self.own_norms[1](k)
        if self.traits.get("clip"):
            q, k, v = (t.clamp(-8.0, 8.0) for t in (q, k, v))
        if self.share < 1:
            size = int(HEAD * self.share)
            turned = self.rotated(q[..., :size], k[..., :size], places)
            q, k = (torch.cat((a, b[..., size:]), -1) for a, b in zip(turned, (q, k)))
        else:
            q, k = self.rotated(q, k, places)
        return self.o(self.context(q, k, v, mask, lambda s: s * HEAD ** -0.5))

    def forward(self, x, mask, places):
        place, n = self.traits.get("place"), self.norms
        if place == "parallel":
            y = n[0](x)
            return x + self.attend(y, mask, places) + self.mlp(y)
        y = self.attend(x if place == "behind" else n[0](x), mask, places)
        x = x + (n[2](y) if place else y)
        y = self.mlp(x if place == "behind" else n[1](x))
        return x + (n[3](y) if place else y)


class DeepSeek(Relative):
    """`low`: queries by way of fewer elements, too."""

    def __init__(self, low):
        super().__init__(lambda: RmsNorm(HIDDEN, False), pairs="spread", shared=True)
        self.low, half = low, HEAD // 2
        self.q_a, self.q_norm, self.kv_norm = (nn.Linear(HIDDEN, HIDDEN, bias=False), RmsNorm(HIDDEN, False),
                                               RmsNorm(HIDDEN, False))
        self.kv_a = nn.Linear(HIDDEN, HIDDEN + half, bias=False)
        self.kv_b = nn.Linear(HIDDEN, HEADS * (half + HEAD), bias=False)
        self.cos, self.sin = self.cos[:, :half], self.sin[:, :half]

    def rotated(self, q, k, places):
        q, k = (t.view(*t.shape[:-1], t.shape[-1] // 2, 2).transpose(4, 3).reshape(t.shape) for t in (q, k))
        return Layer.rotated(self, q, k, places)

    def attend(self, y, mask, places):
        half = HEAD // 2
        q = self.heads(self.q_norm(self.q_a(y)) if self.low else y, self.q)
        q, q_rope = torch.split(q, [half, half], dim=-1)
        both, rope = torch.split(self.kv_a(y), [HIDDEN, half], dim=-1)
        both = self.kv_b(self.kv_norm(both)).view(BATCH, TOKENS, -1, half + HEAD).transpose(1, 2)
        k, v = torch.split(both, [half, HEAD], dim=-1)
        q_rope, rope = self.rotated(q_rope, rope.view(BATCH, 1, TOKENS, half), places)
        q, k = torch.cat((q, q_rope), -1), torch.cat((k, rope.expand(*k.shape[:-1], -1)), -1)
        return self.o(self.context(q, k, v, mask, lambda s: s * HEAD ** -0.5))


class GptJ(Plain):
    """`fused`: as CodeGen. Half of a head turns, by tables of sines and cosines in one."""

    def __init__(self, fused):
        super().__init__(qkv_bias=False)
        self.o, self.table = nn.Linear(HIDDEN, HIDDEN, bias=False), torch.randn(64, HEAD // 2)
        self.wide = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False) if fused else None

    def act(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))

    def turned(self, x, sin, cos):
        sin, cos = (t[:, :, None, :].repeat_interleave(2, 3) for t in (sin, cos))
        return x * cos + torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2) * sin

    def attend(self, y, mask, places):
        if self.wide:
            rows = self.wide(y).reshape(BATCH, TOKENS, 2, -1)
            q, v, k = (t.reshape(BATCH, TOKENS, HEADS, HEAD) for t in torch.split(rows, HIDDEN // 2, dim=-1))
        else:
            q, k, v = (linear(y).view(BATCH, TOKENS, HEADS, HEAD) for linear in (self.q, self.k, self.v))
        v, half = v.permute(0, 2, 1, 3), HEAD // 2
        table = torch.gather(self.table.repeat(BATCH, 1, 1), 1, places[..., None].repeat(BATCH, 1, half))
        sin, cos = torch.split(table, half // 2, dim=-1)
        q, k = (torch.cat((self.turned(t[..., :half], sin, cos), t[..., half:]), -1) for t in (q, k))
        q, k = q.permute(0, 2, 1, 3).float(), k.permute(0, 2, 1, 3).float()
        w = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(HEAD) + mask
        w = functional.softmax(w, dim=-1).to(v.dtype)
        return self.o(torch.matmul(w, v).permute(0, 2, 1, 3).contiguous().view(BATCH, TOKENS, HIDDEN))

    def forward(self, x, mask, places):
        y = self.norm1(x)
        return self.attend(y, mask, places) + self.down(self.act(self.up(y))) + x


class Bloom(Plain):
    def __init__(self):
        super().__init__()
        self.wide, self.alibi = nn.Linear(HIDDEN, 3 * HIDDEN), torch.randn(BATCH * HEADS, 1, TOKENS).bfloat16()

    def act(self, x):
        return x * 0.5 * (1.0 + torch.tanh(0.79788456 * x * (1 + 0.044715 * x * x)))

    def attend(self, y, mask, places):
        rows = self.wide(y).view(BATCH, TOKENS, HEADS, 3, HEAD)
        q, k, v = (rows[..., i, :].transpose(1, 2) for i in range(3))
        q, v = (t.reshape(BATCH * HEADS, TOKENS, HEAD) for t in (q, v))
        k = k.reshape(BATCH * HEADS, TOKENS, HEAD).transpose(-1, -2)
        w = self.alibi.baddbmm(q, k, beta=1.0, alpha=HEAD ** -0.5).view(BATCH, HEADS, TOKENS, TOKENS) + mask
        w = functional.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype).view(BATCH * HEADS, TOKENS, TOKENS)
        y = torch.bmm(w, v).view(BATCH, HEADS, TOKENS, HEAD).permute(0, 2, 1, 3)
        return self.o(y.reshape(BATCH, TOKENS, HIDDEN))


class Mpt(Plain):
    def __init__(self):
        super().__init__(bias=False, qkv_bias=False)
        self.wide, self.alibi = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False), torch.randn(HEADS, 1, 64).bfloat16()

    def act(self, x):
        return functional.gelu(x)

    def attend(self, y, mask, places):
        q, k, v = (t.reshape(BATCH, TOKENS, HEADS, HEAD).transpose(1, 2) for t in self.wide(y).chunk(3, dim=2))
        w = torch.matmul(q, k.transpose(-1, -2)) * HEAD ** -0.5 + self.alibi[:, :, -TOKENS:]
        w = w.masked_fill(~self.seen[:TOKENS, :TOKENS], torch.finfo(w.dtype).min)
        w = functional.softmax(w.float(), dim=-1).to(v.dtype)
        return self.o(torch.matmul(w, v).permute(0, 2, 1, 3).contiguous().view(BATCH, TOKENS, -1))


class Dbrx(Relative):
    """Queries, keys and values in one product, within limits."""

    def __init__(self):
        super().__init__(lambda: nn.LayerNorm(HIDDEN))
        for norm in self.norms:
            norm.bias = None
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False)

    def attend(self, y, mask, places):
        rows = self.qkv(y).clamp(min=-8.0, max=8.0).split((HIDDEN, HIDDEN, HIDDEN), dim=2)
        q, k, v = (t.view(BATCH, TOKENS, HEADS, HEAD).transpose(1, 2) for t in rows)
        q, k = self.rotated(q, k, places)
        return self.o(self.context(q, k, v, mask, lambda s: s / math.sqrt(HEAD)))


class Llama4(Relative):
    """Heads turned as complex numbers and normed without weights, in layers that turn; beside the experts one of all
    tokens."""

    def __init__(self, turns):
        super().__init__(lambda: RmsNorm(HIDDEN, False), shared=True)
        self.turns = turns

    def rotated(self, q, k, places):
        turns = torch.polar(torch.ones(TOKENS, HEAD // 2), places[0, :, None] * torch.ones(HEAD // 2))
        q, k = (torch.view_as_complex(t.float().reshape(*t.shape[:-1], -1, 2)) for t in (q, k))
        turns = turns[None, None]
        return tuple(torch.view_as_real(t * turns).flatten(3).bfloat16() for t in (q, k))

    def normed(self, x):
        return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)).type_as(x)

    def attend(self, y, mask, places):
        q, k, v = (self.heads(y, linear) for linear in (self.q, self.k, self.v))
        if self.turns:
            q, k = self.rotated(q, k, places)
            q, k = self.normed(q), self.normed(k)
        else:
            scales = torch.log(torch.floor((places.float() + 1.0) / 8192) + 1.0) * 0.1 + 1.0
            q = (q * scales.view(1, 1, -1, 1)).to(q.dtype)
        return self.o(self.context(q, k, v, mask, lambda s: s * HEAD ** -0.5))


class Packed(Relative):
    """Queries, keys and values of one product: InternLM2 has them by groups of heads, Baichuan in thirds, Qwen and
    ChatGLM one after the other."""

    def __init__(self, form, **traits):
        super().__init__(lambda: RmsNorm(HIDDEN, False), **traits)
        self.form, self.all = form, nn.Linear(HIDDEN, 3 * HIDDEN, bias=form == "split")

    def parts(self, y):
        rows = self.all(y)
        if self.form == "groups":
            rows = rows.view(BATCH, TOKENS, HEADS, 3, HEAD)
            return rows[..., :1, :].reshape(BATCH, TOKENS, HEADS, HEAD), rows[..., -2, :], rows[..., -1, :]
        if self.form == "thirds":
            rows = rows.view(BATCH, TOKENS, 3, HIDDEN).unsqueeze(0).transpose(0, -2).squeeze(-2)
            return tuple(rows[i].view(BATCH, TOKENS, HEADS, HEAD) for i in range(3))
        return tuple(t.view(BATCH, TOKENS, HEADS, HEAD) for t in rows.split(HIDDEN, dim=2))

    def attend(self, y, mask, places):
        q, k, v = (t.transpose(1, 2) for t in self.parts(y))
        if self.share < 1:
            size = int(HEAD * self.share)
            turned = self.rotated(q[..., :size], k[..., :size], places)
            q, k = (torch.cat((a, b[..., size:]), -1) for a, b in zip(turned, (q, k)))
        elif self.traits.get("turns", True):
            q, k = self.rotated(q, k, places)
        return self.o(self.context(q, k, v, mask, lambda s: s / math.sqrt(HEAD)))


class MiniCpm(Relative):
    """Outputs of parts are scaled."""

    def forward(self, x, mask, places):
        x = x + self.attend(self.norms[0](x), mask, places) * 0.3
        return x + self.mlp(self.norms[1](x)) * 0.3


class MiniCpm3(MiniCpm, DeepSeek):
    """DeepSeek's attention; pairs that turn are halves."""

    def __init__(self):
        DeepSeek.__init__(self, False)
        self.traits = {}

    def rotated(self, q, k, places):
        return Layer.rotated(self, q, k, places)


class MobileBert(nn.Module):
    """A layer with so many feed-forward parts."""

    def __init__(self, parts):
        super().__init__()
        wide, narrow = (lambda: nn.Linear(HIDDEN, FFN)), (lambda: nn.Linear(FFN, HIDDEN))
        self.inner = nn.ModuleList(nn.Linear(HIDDEN, HIDDEN) for _ in range(7))
        self.up, self.down = nn.ModuleList(wide() for _ in range(parts)), nn.ModuleList(narrow() for _ in range(parts))
        self.gains = nn.ParameterList(nn.Parameter(torch.ones(HIDDEN)) for _ in range(4 + parts))
        self.shifts = nn.ParameterList(nn.Parameter(torch.zeros(HIDDEN)) for _ in range(4 + parts))

    def scaled(self, x, i):
        return x * self.gains[i] + self.shifts[i]

    def forward(self, x, mask, places):
        narrow, read = self.scaled(self.inner[0](x), 0), self.scaled(self.inner[1](x), 1)
        q, k, v = (linear(y).view(BATCH, TOKENS, HEADS, HEAD).permute(0, 2, 1, 3)
                   for linear, y in ((self.inner[2], read), (self.inner[3], read), (self.inner[4], x)))
        w = functional.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(HEAD) + mask, dim=-1)
        context = torch.matmul(w, v).permute(0, 2, 1, 3).contiguous().view(BATCH, TOKENS, HIDDEN)
        y = self.scaled(self.inner[5](context) + narrow, 2)
        for i, (up, down) in enumerate(zip(self.up, self.down)):
            y = self.scaled(down(functional.relu(up(y))) + y, 4 + i)
        return self.scaled(self.inner[6](y) + x, 3)


class Factors(nn.Module):
    """Of the columns of a part's output, as DINOv2 has them; of queries by their positions, as Ministral 3 does."""

    def __init__(self, of_columns):
        super().__init__()
        self.factors = nn.Parameter(torch.ones(HIDDEN)) if of_columns else None

    def forward(self, x, mask, places):
        x = x * 1
        if self.factors is not None:
            return x * self.factors
        growth = 1 + 0.1 * torch.log(1 + torch.floor(places / 4))
        return x * growth.unsqueeze(-1).to(x.dtype)


class Gated(nn.Module):
    """The MLP of DINOv2, with a gate or not."""

    def __init__(self, gated):
        super().__init__()
        self.up, self.down = nn.Linear(HIDDEN, (2 if gated else 1) * FFN), nn.Linear(FFN, HIDDEN)
        self.gated = gated

    def forward(self, x, mask, places):
        y = self.up(x)
        if not self.gated:
            return self.down(functional.gelu(y))
        first, second = y.chunk(2, dim=-1)
        return self.down(functional.silu(first) * second)


class Apart(nn.Module):
    """The MLP of DINOv3: gate and up are layers of their own."""

    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(HIDDEN, FFN), nn.Linear(HIDDEN, FFN), nn.Linear(FFN, HIDDEN)

    def forward(self, x, mask, places):
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Patches(nn.Module):
    """Queries and keys of DINOv3, behind one token that does not turn; the key's layer has no bias."""

    def __init__(self, turn):
        super().__init__()
        self.query, self.key, self.turn = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN, bias=not turn), turn
        self.cos, self.sin = torch.ones(TOKENS - 1, HEAD).bfloat16(), torch.ones(TOKENS - 1, HEAD).bfloat16()

    def forward(self, x, mask, places):
        q, k = (layer(x).view(BATCH, TOKENS, HEADS, HEAD).transpose(1, 2) for layer in (self.query, self.key))
        if self.turn:
            (q0, q), (k0, k) = (t.split((1, TOKENS - 1), dim=-2) for t in (q, k))
            q, k = (q * self.cos) + (rotate_half(q) * self.sin), (k * self.cos) + (rotate_half(k) * self.sin)
            q, k = torch.cat((q0, q), dim=-2), torch.cat((k0, k), dim=-2)
        return torch.matmul(q, k.transpose(-1, -2))


class Xielu(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha_p, self.alpha_n = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
        self.register_buffer("beta", torch.tensor(0.5)), self.register_buffer("eps", torch.tensor(-1e-6))

    def forward(self, x):
        above, below = functional.softplus(self.alpha_p), self.beta + functional.softplus(self.alpha_n)
        return torch.where(x > 0, above * x * x + self.beta * x,
                           (torch.expm1(torch.min(x, self.eps)) - x) * below + self.beta * x)


class GainNorm(nn.Module):
    """LayerNorm without a bias."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return functional.layer_norm(x, x.shape[-1:], self.weight, None, 1e-5)


class ModernDecoder(Relative):
    """It turns in fp32."""

    def rotated(self, q, k, places):
        cos, sin = (table[:TOKENS][places].unsqueeze(1) for table in (self.cos, self.sin))
        return tuple((t.float() * cos + rotate_half(t.float()) * sin).to(t.dtype) for t in (q, k))


class Same(nn.Module):
    def forward(self, x, mask, places):
        return x * 1


RELATIVES = {
    "cohere": Relative(lambda: CohereNorm(HIDDEN), place="parallel", pairs="fp32"),
    "glm": Relative(lambda: RmsNorm(HIDDEN, False), share=0.5, pairs="spread", wide=True),
    "glm4": Relative(lambda: RmsNorm(HIDDEN, False), share=0.5, pairs="spread", wide=True, place="around"),
    "helium": Relative(lambda: RmsNorm(HIDDEN, False), pairs="spread"),
    "nemotron": Relative(lambda: OneNorm(HIDDEN), share=0.5, act=lambda x: torch.square(functional.relu(x)), plain=True),
    "arcee": Relative(lambda: RmsNorm(HIDDEN, False), act=lambda x: torch.square(functional.relu(x)), plain=True),
    "apertus": Relative(lambda: RmsNorm(HIDDEN, False), act=Xielu(), plain=True),
    "bailing_moe": Packed("split", shared=True), "bailing_moe_v2": Packed("split", shared=True, share=0.5),
    "modernbert-decoder": ModernDecoder(lambda: GainNorm(HIDDEN), act=functional.gelu, wide=True),
    "exaone4": Relative(lambda: RmsNorm(HIDDEN, False), place="behind", head_norms=True),
    "olmo": Relative(FixedNorm), "olmo with clip_qkv": Relative(FixedNorm, clip=True),
    "cohere with use_qk_norm": Relative(lambda: CohereNorm(HIDDEN), place="parallel", pairs="fp32", own=True),
    "a shared expert": Relative(lambda: RmsNorm(HIDDEN, False), shared=True),
    "glm4_moe": Relative(lambda: RmsNorm(HIDDEN, False), share=0.5, shared=True),
    "deepseek": DeepSeek(False), "deepseek with q_lora_rank": DeepSeek(True),
    "internlm2": Packed("groups"), "baichuan": Packed("thirds"), "baichuan without rotary": Packed("thirds", turns=False),
    "qwen": Packed("split"), "chatglm": Packed("split", share=0.5, pairs="spread", wide=True),
    "minicpm": MiniCpm(lambda: RmsNorm(HIDDEN, False)), "minicpm3": MiniCpm3(), "orion": Relative(lambda: nn.LayerNorm(HIDDEN)),
    "gptj": GptJ(False), "codegen": GptJ(True), "bloom": Bloom(), "mpt": Mpt(),
    "dbrx without experts": Dbrx(), "llama4": Llama4(True), "llama4, a layer that does not turn": Llama4(False),
}


def counted(layer):
    """Forward and backward, with the addition to gradients that are there."""
    layer = layer.bfloat16()
    x = torch.randn(BATCH, TOKENS, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
    mask, places = torch.zeros(BATCH, 1, TOKENS, TOKENS, dtype=torch.bfloat16), torch.arange(TOKENS)[None]
    for _ in range(2):
        with Count() as forward:
            y = layer(x, mask, places)
        gradient = torch.ones_like(y)
        with Count() as backward:
            y.backward(gradient)
    return forward.calls, backward.calls


def main():
    llama = counted(Llama())
    for name, layer in (("llama", Llama()), ("gemma", Llama(gemma=True)),
                        ("gemma2", Llama(gemma=True, around=True, cap=50.0)),
                        ("gemma3", Llama(gemma=True, around=True, head_norms=True)), ("stablelm", StableLm()),
                        ("phi", Phi()),
                        ("starcoder2", StarCoder2()), ("gpt_neo", GptNeo()), ("gpt_bigcode", GptBigCode()),
                        ("falcon", Falcon()), *RELATIVES.items()):
        forward, backward = counted(layer)
        print(f"{name}: forward {forward}, backward {backward}; "
              f"beyond a Llama {forward - llama[0]:+d}, {backward - llama[1]:+d}")
    bert = counted(Bert("bert"))
    for name in ("esm", "modernbert"):
        forward, backward = counted(Bert(name))
        print(f"{name}: beyond a BERT {forward - bert[0]:+d}, {backward - bert[1]:+d}")
    forward, backward = counted(Deberta())
    print(f"deberta: beyond a BERT {forward - bert[0]:+d}, {backward - bert[1]:+d}")
    print(f"mobilebert: with one feed-forward part {counted(MobileBert(1))}, with two {counted(MobileBert(2))}")
    for name, layer, without in (("dinov2's factors", Factors(True), Same()), ("queries that grow", Factors(False), Same()),
                                 ("dinov2's gate", Gated(True), Gated(False)), ("dinov3's gate", Apart(), Gated(False)),
                                 ("dinov3's places", Patches(True), Patches(False))):
        more, less = counted(layer), counted(without)
        print(f"{name}: {more[0] - less[0]:+d}, {more[1] - less[1]:+d}")
    print(f"bart: encoder {counted(BartLayer(False))}, decoder {counted(BartLayer(True))}")


if __name__ == "__main__":
    main()
