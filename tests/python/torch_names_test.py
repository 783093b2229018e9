"""Names that public scripts import: neuronx_distributed's norm and chips, and those of PyTorch 2."""
import unittest

import device_scripts

try:
    import torch  # noqa: whether it is there
except ImportError:
    torch = None

CHIPS = """
from neuronx_distributed.modules.rms_norm import RMSNorm
from neuronx_distributed.utils.utils import hardware
from torch_neuronx.utils import get_platform_target
assert get_platform_target() == "trn2" and hardware(get_platform_target()) == hardware.TRN2
norm, x = RMSNorm(6, eps=1e-6, sequence_parallel_enabled=True).to(d), torch.randn(3, 6)
assert torch.allclose(norm(x.to(d)).cpu(), x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6), atol=1e-6)
assert norm(x.bfloat16().to(d)).dtype is torch.bfloat16 and norm.weight.sequence_parallel_enabled
refused(lambda: RMSNorm(6, elementwise_affine=False), RuntimeError, "elementwise_affine")
"""
NEWER = """
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.amp import custom_bwd, custom_fwd
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
class Scaled(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="xla", cast_inputs=torch.float32)
    def forward(ctx, x, factor):
        ctx.factor, ctx.seen = factor, x.dtype
        Scaled.seen = x.dtype
        return x * factor
    @staticmethod
    @custom_bwd(device_type="xla")
    def backward(ctx, grad):
        return grad * ctx.factor, None
x = torch.randn(2, 3).bfloat16().to(d).requires_grad_()
with torch.autocast("xla", dtype=torch.bfloat16):
    out = Scaled.apply(x, 2.0)
out.sum().backward()
assert Scaled.seen is torch.float32 and x.grad.tolist() == [[2.0] * 3] * 2
assert Scaled.apply(x, 3.0).dtype is torch.bfloat16
q = torch.randn(1, 2, 4, 8)
with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
    got = nn.functional.scaled_dot_product_attention(q.to(d), q.to(d), q.to(d), is_causal=True)
mask = torch.full((4, 4), float("-inf")).triu(1)
assert torch.allclose(got.cpu(), torch.softmax(q @ q.mT / 8**0.5 + mask, -1) @ q, atol=1e-5)
assert x.nbytes == 12 and x.itemsize == 2 and torch.ones(3).nbytes == 12
places = torch.unravel_index(torch.tensor([0, 5, 11]).to(d), (3, 4))
assert [p.tolist() for p in places] == [[0, 1, 2], [0, 1, 3]]
means, news = [torch.zeros(3).to(d)], [torch.ones(3).to(d)]
get_ema_multi_avg_fn(0.75)(means, news, 1)
assert means[0].tolist() == [0.25] * 3
"""

ARGUMENTS = """
import inspect
from torch.nn.utils import clip_grad_norm_, clip_grads_with_norm_, get_total_norm, parametrizations
def trained(place, keywords, clip):
    torch.manual_seed(0)
    model = nn.Sequential(parametrizations.weight_norm(nn.Linear(4, 6)), nn.LayerNorm(6, bias=False), nn.Linear(6, 2))
    model.to(place)
    opt, norms = torch.optim.AdamW(model.parameters(), 0.1, **keywords), []
    for i in range(3):
        opt.zero_grad()
        model(torch.linspace(-1, 2, 12).view(3, 4).to(place)).pow(2).sum().backward()
        norms.append(clip(list(model.parameters())).item())
        opt.step()
    return norms, model
def in_two(parameters):
    norm = get_total_norm(p.grad for p in parameters)
    clip_grads_with_norm_(parameters, 0.5, norm)
    return norm
want, plain = trained("cpu", {}, lambda p: clip_grad_norm_(p, 0.5))
for clip in (lambda p: clip_grad_norm_(p, 0.5, foreach=True), in_two):
    got, model = trained(d, {"fused": False}, clip)
    assert torch.allclose(torch.tensor(got), torch.tensor(want), rtol=1e-4), (got, want)
assert sorted(model.state_dict()) == sorted(plain.state_dict()) and "1.bias" not in plain.state_dict()
assert "0.parametrizations.weight.original0" in plain.state_dict()
assert "fused" in inspect.signature(torch.optim.AdamW).parameters
for kind in (torch.optim.Adam, torch.optim.SGD):
    kind(nn.Linear(2, 2).parameters(), lr=0.1, fused=True)
    refused(lambda: kind(model.parameters(), lr=0.1, fused=True), RuntimeError, "fused=True")
torch.save(plain.state_dict(), "plain.pt")
empty = nn.Sequential(parametrizations.weight_norm(nn.Linear(4, 6)), nn.LayerNorm(6, bias=False), nn.Linear(6, 2))
empty.to(torch.float64).load_state_dict(torch.load("plain.pt", map_location="cpu", mmap=True), assign=True)
assert all(torch.equal(a, b) and a.dtype is b.dtype for a, b in zip(empty.state_dict().values(),
                                                                     plain.state_dict().values()))
refused(lambda: empty.load_state_dict({}, assign=True), RuntimeError, "Missing key")
mask, x = nn.Transformer.generate_square_subsequent_mask(5), torch.randn(5, 2, 4)
layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 1)
want = layer(x, mask)
assert torch.allclose(layer.to(d)(x.to(d), mask.to(d), is_causal=True).cpu(), want, atol=1e-5)
refused(lambda: nn.MultiheadAttention(4, 2)(x, x, x, is_causal=True), RuntimeError, "mask")
w, seen = torch.ones(3, device=d, requires_grad=True), []
w.register_post_accumulate_grad_hook(lambda p: (seen.append(p.grad.tolist()), p.data.sub_(p.grad)))
for i in range(2):
    (w * w).sum().backward()
assert seen == [[2.0] * 3, [0.0] * 3] and w.tolist() == [-1.0] * 3, (seen, w)
"""


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Names(device_scripts.Scripts):
    def test_norms_and_chips_of_the_parallel_library(self):
        self.runs(CHIPS, "--instance_type", "trn2.3xlarge")

    def test_names_of_a_newer_pytorch(self):
        self.runs(NEWER)

    def test_arguments_of_a_newer_pytorch(self):
        self.runs(ARGUMENTS)


if __name__ == "__main__":
    unittest.main()
