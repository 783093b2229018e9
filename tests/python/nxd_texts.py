"""Scripts that torch_nxd_test.py runs on simulated cores: each ends with an error where numbers are others."""
HEAD = """
import os, sys, torch, torch.nn as nn, torch.nn.functional as F
import torch_xla.core.xla_model as xm, torch_xla.distributed.xla_multiprocessing as xmp
import neuronx_distributed as nxd
from neuronx_distributed.parallel_layers import parallel_state, layers, mappings, grads, checkpointing, random
from neuronx_distributed.parallel_layers.loss_functions import parallel_cross_entropy, from_parallel_logits_to_logprobs
def start(tp):
    torch.distributed.init_process_group("xla")
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=tp)
def same(name, a, b, tolerance=1e-5):
    a, b = a.detach().cpu(), b.detach().cpu()
    if a.shape != b.shape or not torch.allclose(a, b, rtol=tolerance, atol=tolerance):
        sys.exit(f"{name}: {a} and {b}")
"""
MAPPINGS = """
def f(rank):
    start(2)
    tp, rows = parallel_state.get_tensor_model_parallel_rank(), parallel_state.get_tensor_model_parallel_group(True)
    assert rows == [[0, 1], [2, 3]] and parallel_state.get_data_parallel_group(as_list=True) == [[0, 2], [1, 3]]
    assert (parallel_state.get_data_parallel_rank(), parallel_state.get_data_parallel_size()) == (rank // 2, 2)
    assert parallel_state.get_tensor_model_parallel_src_rank() == rank // 2 * 2
    assert parallel_state.get_pipeline_model_parallel_size() == 1 and parallel_state.model_parallel_is_initialized()
    every = [torch.arange(24.0).view(4, 3, 2) * (r + 1) for r in range(4)][rank // 2 * 2:rank // 2 * 2 + 2]
    mine, total, pair = every[tp], sum(every), lambda x, dim: x.chunk(2, dim)[tp]
    for name, forward, backward in (
            ("copy_to_tensor_model_parallel_region", mine, total),
            ("reduce_from_tensor_model_parallel_region", total, mine),
            ("scatter_to_tensor_model_parallel_region", pair(mine, -1),
             torch.cat([x.chunk(2, -1)[i] for i, x in enumerate(every)], -1)),
            ("gather_from_tensor_model_parallel_region", torch.cat(every, -1), None),
            ("scatter_to_sequence_parallel_region", pair(mine, 0),
             torch.cat([x.chunk(2)[i] for i, x in enumerate(every)])),
            ("gather_from_sequence_parallel_region", torch.cat(every), None),
            ("reduce_scatter_to_sequence_parallel_region", pair(total, 0), None)):
        x = mine.to("xla").requires_grad_()
        y = getattr(mappings, name)(x)
        same(name, y, forward)
        given = mine if y.shape == mine.shape else pair(mine, -1 if "tensor" in name else 0)
        y.backward(y.detach() if backward is None else given.to("xla"))
        if backward is not None:
            same(name + " gradient", x.grad, backward)
        elif "gather_from_tensor" in name:
            same(name + " gradient", x.grad, mine)
        elif "gather_from" in name:
            same(name + " gradient", x.grad, mine * 2)
        else:
            same(name + " gradient", x.grad, total)
    x = mine.to("xla")
    mappings.reduce_from_tensor_model_parallel_region(x)  # in place, where no gradient follows
    same("in place", x, total)
    xm.master_print("all is well")
xmp.spawn(f)
"""
CONVOLUTIONS = """
class Block(nn.Module):
    def __init__(self, first, second, apart={}, parts={}):
        super().__init__()
        self.a, self.b, self.c = first(4, 6, 3, padding=1), second(6, 8, (3, 2), (2, 1)), first(8, 4, 1, bias=False)
        self.d, self.e = first(4, 6, 2, 2, **apart), second(6, 2, 3, **parts)
    def forward(self, x):
        return self.e(self.d(self.c(self.b(self.a(x).relu()))).relu())
def f(rank):
    start(2)
    torch.manual_seed(0)
    model = Block(layers.OutputChannelParallelConv2d, layers.InputChannelParallelConv2d,
                  dict(gather_output=False), dict(input_is_parallel=True)).to("xla")
    torch.manual_seed(0)
    plain = Block(nn.Conv2d, nn.Conv2d)
    own = dict(model.named_parameters())
    assert [p.partition_dim for p in (own["a.weight"], own["a.bias"], own["b.weight"])] == [0, 0, 1]
    assert not hasattr(own["b.bias"], "partition_dim")
    whole = {name: t.clone() for name, t in plain.state_dict().items()}
    model.load_state_dict({name: t.to("xla") for name, t in checkpointing.get_sharded_model_dict(model, whole).items()})
    x = torch.randn(2, 4, 16, 17)
    a, b = x.to("xla").requires_grad_(), x.clone().requires_grad_()
    y, z = model(a), plain(b)
    same("values", y, z)
    y.square().sum().backward(); z.square().sum().backward()
    same("input's gradient", a.grad, b.grad)
    for name, p in plain.named_parameters():
        dim = getattr(own[name], "partition_dim", None)
        same(name, own[name].grad, p.grad if dim is None else p.grad.chunk(2, dim)[rank], 1e-4)
    random.model_parallel_xla_manual_seed(3)
    for kind in (layers.OutputChannelParallelConv2d, layers.InputChannelParallelConv2d):
        torch.manual_seed(0); host = kind(4, 6, 3, keep_master_weight=True)
        torch.manual_seed(0); other = nn.Conv2d(4, 6, 3)
        same("drawn", host.weight, other.weight.chunk(2, host.partition_dim)[rank])
        same("kept", host.master_weight, other.weight)
        assert kind(4, 6, 3, device=torch.device("xla")).to("cpu").weight.shape == host.weight.shape
xmp.spawn(f)
"""
LOSSES = """
def f(rank):
    start(4)
    logits, labels = torch.randn(3, 5, 16, generator=torch.Generator().manual_seed(0)) * 3, torch.arange(15).view(3, 5)
    part = lambda x: x.chunk(4, -1)[rank]
    for smoothing in (0.0, 0.2):
        whole = logits.clone().requires_grad_()
        nll = F.cross_entropy(whole.flatten(0, 1), labels.flatten(), reduction="none").view(3, 5)
        share = smoothing * 16 / 15
        want = (1 - share) * nll - share * whole.log_softmax(-1).mean(-1)
        want.square().sum().backward()
        own = part(logits).to("xla").requires_grad_()
        loss = parallel_cross_entropy(own, labels.to("xla"), label_smoothing=smoothing)
        same("loss", loss, want)
        loss.square().sum().backward()
        same("gradient", own.grad, part(whole.grad))
    whole = logits.clone().requires_grad_()
    want = whole.log_softmax(-1).gather(-1, labels.roll(-1, -1)[..., None])[..., 0][:, :-1]
    want.square().sum().backward()
    own = part(logits).to("xla").requires_grad_()
    found = from_parallel_logits_to_logprobs(own, labels.to("xla"), inference=False)
    same("log probabilities", found, want)
    found.square().sum().backward()
    same("their gradient", own.grad, part(whole.grad))
xmp.spawn(f)
"""
LAYERS = """
from neuronx_distributed.modules.qkv_linear import GQAQKVColumnParallelLinear
def f(rank):
    start(2)
    x = torch.randn(4, 6, 8, generator=torch.Generator().manual_seed(1))
    def check(name, make, plain, inputs=x):
        torch.manual_seed(0); layer = make()
        torch.manual_seed(0); other = plain()
        if getattr(layer, "bias", None) is not None:
            layer.bias.data.zero_(); other.bias.data.zero_()
        layer.to("xla")
        a = inputs.to("xla") if inputs.dtype is torch.int64 else inputs.to("xla").requires_grad_()
        b = inputs if inputs.dtype is torch.int64 else inputs.clone().requires_grad_()
        y, z = layer(a), other(b)
        same(name, y, z)
        y.square().sum().backward(); z.square().sum().backward()
        if a.grad is not None:
            same(name + " input's gradient", a.grad, b.grad)
        p = layer.weight
        assert p.tensor_model_parallel and p.partition_dim in (0, 1), vars(p)
        same(name + " gradient", p.grad, other.weight.grad.chunk(2, p.partition_dim)[rank], 1e-4)
    check("column", lambda: layers.ColumnParallelLinear(8, 10), lambda: nn.Linear(8, 10))
    check("row", lambda: layers.RowParallelLinear(8, 10), lambda: nn.Linear(8, 10))
    check("column of one core's inputs", lambda: nn.Sequential(layers.ColumnParallelLinear(8, 10, bias=False))[0],
          lambda: nn.Linear(8, 10, bias=False))
    tokens = torch.tensor([[0, 3, 11, 6], [5, 9, 3, 2]])
    check("words", lambda: layers.ParallelEmbedding(12, 6), lambda: nn.Embedding(12, 6), tokens)
    def padded():
        out = nn.Embedding(12, 6)
        out.padding_idx = 3  # its vector is drawn, and never changed
        return out
    check("words with padding", lambda: layers.ParallelEmbedding(12, 6, padding_idx=3), padded, tokens)
    check("features", lambda: layers.ParallelEmbedding(12, 6, shard_across_embedding=True),
          lambda: nn.Embedding(12, 6), tokens)
    random.model_parallel_xla_manual_seed(3)
    assert random.get_xla_rng_tracker().get_states()
    drawn = layers.ColumnParallelLinear(8, 4, bias=False, device=torch.device("xla"))
    parts = xm.all_gather(drawn.weight.detach()).cpu()
    assert not torch.equal(parts[:2], parts[2:])  # each core draws its own
    torch.manual_seed(0)
    for fused in (True, False):
        torch.manual_seed(0)
        qkv = GQAQKVColumnParallelLinear(8, [16, 8], bias=False, gather_output=False, fuse_qkv=fused).to("xla")
        torch.manual_seed(0)
        plain = [nn.Linear(8, n, bias=False) for n in (16, 8, 8)]
        for y, other in zip(qkv(x.to("xla")), plain):
            same("qkv", y, other(x).chunk(2, -1)[rank])
    torch.manual_seed(0)
    qkv = GQAQKVColumnParallelLinear(8, [16, 4], bias=False, gather_output=False, fuse_qkv=False,
                                     kv_size_multiplier=2).to("xla")
    torch.manual_seed(0)
    plain = [nn.Linear(8, n, bias=False) for n in (16, 4, 4)]
    q, k, v = qkv(x.to("xla"))
    same("shared keys", k, plain[1](x))
    (k * torch.tensor(rank + 1.0).to("xla")).sum().backward()
    want = 3 * torch.autograd.grad(plain[1](x).sum(), plain[1].weight)[0]
    same("gradient of shared keys", qkv.weight_k.grad, want, 1e-4)
    norm = grads.get_grad_norm(list(qkv.parameters()))
    same("norm", norm, want.norm().reshape(1), 1e-4)
xmp.spawn(f)
"""
CHECKPOINTS = """
def make():
    return nn.Sequential(layers.ColumnParallelLinear(6, 8, gather_output=False),
                         layers.RowParallelLinear(8, 6, input_is_parallel=True))
def f(rank):
    torch.distributed.init_process_group("xla")
    config = nxd.neuronx_distributed_config(tensor_parallel_size=2, optimizer_config={"zero_one_enabled": True})
    def begin(seed):
        torch.manual_seed(seed)
        model = nxd.initialize_parallel_model(config, make)
        optimizer = nxd.initialize_parallel_optimizer(config, torch.optim.AdamW, model.parameters(), lr=0.1)
        return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    def step(model, optimizer, scheduler, number):
        x = torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(number + 10 * rank // 2)).to("xla")
        optimizer.zero_grad()
        loss = model(x).square().mean(); loss.backward(); optimizer.step(); scheduler.step(); xm.mark_step()
        return loss.item()
    first = begin(0)
    for number in range(2):
        step(*first, number)
    for tag in ("one", "two"):
        nxd.save_checkpoint("ckpts", tag, *first, user_content={"steps": 2}, use_xser=True, num_kept_ckpts=1)
    want = [step(*first, number) for number in (2, 3)]
    second = begin(1)
    assert nxd.has_checkpoint("ckpts") and os.listdir("ckpts") == ["two"]
    content = nxd.load_checkpoint("ckpts", None, *second)
    assert content == {"steps": 2}, content
    found = [step(*second, number) for number in (2, 3)]
    assert all(abs(a - b) < 1e-6 for a, b in zip(want, found)), (want, found)
    groups = parallel_state.get_tensor_model_parallel_group(True)
    weights = {name: xm.all_gather(p.detach(), p.partition_dim, groups).cpu()
               if getattr(p, "tensor_model_parallel", False) else p.detach().cpu()
               for name, p in first[0].named_parameters()}
    if rank == 0:
        torch.save({"model": weights}, "whole.pt")
    xm.rendezvous("written")
    checkpointing.load("whole.pt", model_or_optimizer=second[0], sharded=False)
    for p, q in zip(first[0].parameters(), second[0].parameters()):
        same("divided again", p, q)
    checkpointing.save({"model": second[0].state_dict(), "more": 5}, "parts")
    third = begin(2)
    assert checkpointing.load("parts", third[0]) == {"more": 5}
    for p, q in zip(third[0].parameters(), second[0].parameters()):
        same("parts", p, q)
xmp.spawn(f)
"""
LOOPS = """
from neuronx_distributed.optimizer import NeuronZero1Optimizer
from neuronx_distributed.utils.adamw_fp32_optim_params import AdamW_FP32OptimParams
from neuronx_distributed.utils.model_utils import move_model_to_device
def optimizer_of(way, model):
    groups = [{"params": [p for p in model.parameters() if p.dim() > 1]},
              {"params": [p for p in model.parameters() if p.dim() < 2]}]
    if way == "zero":
        return NeuronZero1Optimizer(groups, torch.optim.AdamW, lr=0.05, weight_decay=0.0, eps=1e-10, max_norm=0.3,
                                    pin_layout=False,
                                    sharding_groups=parallel_state.get_data_parallel_group(as_list=True),
                                    grad_norm_groups=parallel_state.get_tensor_model_parallel_group(as_list=True))
    kind = AdamW_FP32OptimParams if way == "fp32" else torch.optim.AdamW
    return kind(groups, lr=0.05, weight_decay=0.0, eps=1e-10)
def f(rank):
    start(2)
    copy, tp = parallel_state.get_data_parallel_rank(), parallel_state.get_tensor_model_parallel_rank()
    groups = parallel_state.get_data_parallel_group(as_list=True)
    for way in ("plain", "buckets", "zero", "fp32"):
        torch.manual_seed(0)
        model = nn.Sequential(layers.ColumnParallelLinear(6, 8, bias=False, gather_output=False), nn.Tanh(),
                              layers.RowParallelLinear(8, 5, bias=False, input_is_parallel=True), nn.LayerNorm(5))
        torch.manual_seed(0)
        whole = nn.Sequential(nn.Linear(6, 8, bias=False), nn.Tanh(), nn.Linear(8, 5, bias=False), nn.LayerNorm(5))
        move_model_to_device(model, xm.xla_device())
        one, optimizer = optimizer_of("plain", whole), optimizer_of(way, model)
        schedule = [torch.optim.lr_scheduler.LambdaLR(o, lambda step: 1 / (step + 1)) for o in (one, optimizer)]
        for step in range(4):
            x = torch.randn(4, 3, 6, generator=torch.Generator().manual_seed(step))
            one.zero_grad(); optimizer.zero_grad()
            (whole(x) - torch.arange(5.0)).square().mean().backward()
            (model(x[copy::2].to("xla")) - torch.arange(5.0).to("xla")).square().mean().backward()
            norm = nn.utils.clip_grad_norm_(whole.parameters(), 0.3)
            if way == "buckets":
                grads.bucket_allreduce_gradients([p.grad for p in model.parameters()])
            elif way != "zero":
                xm.reduce_gradients(optimizer, groups=groups)
            own = None if way == "zero" else grads.clip_grad_norm(model.parameters(), 0.3)
            one.step(); optimizer.step()
            same(way + " norm", (optimizer.grad_norm if own is None else own).reshape(()), norm, 1e-4)
            [s.step() for s in schedule]
            if way == "zero" and step == 1:
                optimizer.save_sharded_state_dict("states")
                optimizer.load_sharded_state_dict("states")
        for p, q in zip(model.parameters(), whole.parameters()):
            q = q.chunk(2, p.partition_dim)[tp] if getattr(p, "tensor_model_parallel", False) else q
            same(way + " weight", p, q, 1e-4)
    inf = grads.get_grad_norm(list(model.parameters()), norm_type=float("inf"))
    assert inf.shape == (1,) and inf.item() > 0
xmp.spawn(f)
"""
LORA = """
from neuronx_distributed.modules.lora import LoraConfig, LoraModel, get_lora_model
from neuronx_distributed.modules.qkv_linear import GQAQKVColumnParallelLinear
PLAIN = dict(bias=False, gather_output=False)
class Net(nn.Module):
    def __init__(self, sp):
        super().__init__()
        self.up_proj = layers.ColumnParallelLinear(6, 8, sequence_parallel_enabled=sp, **PLAIN)
        self.down_proj = layers.RowParallelLinear(8, 6, input_is_parallel=True, sequence_parallel_enabled=sp)
        self.head = nn.Linear(6, 5)
    def forward(self, input_ids=None, **_):
        return self.head(self.down_proj(self.up_proj(input_ids)))
def wide(x, parameter):
    parallel = getattr(parameter, "tensor_model_parallel", False)
    return (xm.all_gather(x.detach(), parameter.partition_dim) if parallel else x.detach()).cpu()
def draw(model):
    torch.manual_seed(7)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.randn(parameter.shape) * (1 + 0.25 * xm.get_ordinal() * hasattr(parameter, "copies")))
def computed(w, x, how):
    layer = lambda name, x: F.linear(x, w[name + ".base_layer.weight"] + how * w[name + ".lora_B.weight"] @
                                     w[name + ".lora_A.weight"], w.get(name + ".base_layer.bias"))
    return layer("head", layer("down_proj", layer("up_proj", x)))
def f(rank):
    start(2)
    x = torch.randn(4, 3, 6, generator=torch.Generator().manual_seed(0))
    for sp in (False, True):
        part = lambda x: x.chunk(2)[rank] if sp else x
        config = LoraConfig(enable_lora=True, lora_rank=4, lora_alpha=6, bias="lora_only", use_rslora=sp,
                            target_modules=["up_proj", "head", "down_proj"], save_lora_base=True, merge_lora=True)
        torch.manual_seed(3)
        model = get_lora_model(Net(sp).to("xla"), config)
        base = {name: wide(p, p) for name, p in model.named_parameters()}
        same("adapters begin with nothing", model(input_ids=part(x).to("xla")), part(computed(base, x, 0)))
        draw(model)
        w = {name: wide(p, p).requires_grad_() for name, p in model.named_parameters()}
        want = computed(w, x, 3 if sp else 1.5)
        got = model(input_ids=part(x).to("xla"))
        same("outputs", got, part(want), 1e-4)
        want.square().sum().backward(); got.square().sum().backward()
        if sp:
            trained = [p for p in model.parameters() if p.requires_grad]
            head = model.module.head
            for p in (head.lora_A.weight, head.lora_B.weight, head.base_layer.bias):
                p.sequence_parallel_enabled = True
            grads.allreduce_sequence_parallel_gradients(torch.optim.SGD(trained, lr=0.1))
        for name, p in model.named_parameters():
            assert p.requires_grad == ("lora_" in name or "bias" in name) == (p.grad is not None), name
            if p.requires_grad:
                same(f"gradient of {name} {sp}", wide(p.grad, p), w[name].grad, 1e-3)
        merged = model.state_dict()
        assert set(merged) == {*Net(sp).state_dict(), "lora_config"}
        model.merge_lora()
        same("merged", model.module(part(x).to("xla")), part(want), 1e-4)
        same("and back", model(input_ids=part(x).to("xla")), part(want), 1e-4)
        other = Net(sp).to("xla")
        other.load_state_dict({name: value for name, value in merged.items() if name != "lora_config"})
        same("a model of merged weights", other(part(x).to("xla")), part(want), 1e-4)
    for fused, copies in ((True, 1), (False, 1), (False, 2)):
        torch.manual_seed(5)
        model = nn.Module()
        model.qkv = GQAQKVColumnParallelLinear(6, [8, 4], kv_size_multiplier=copies, fuse_qkv=fused, **PLAIN)
        model.forward = lambda input_ids=None, **_: torch.cat(model.qkv(input_ids), -1)
        model = LoraModel(model.to("xla"), LoraConfig(lora_rank=2, target_modules="q.v", init_lora_weights="gaussian"))
        draw(model)
        got = model(input_ids=x.to("xla"))
        assert (got - torch.cat(model.module.qkv.base_layer(x.to("xla")), -1)).abs().max().item() > 1
        model.merge_lora()
        same("queries, keys and values", model.module(x.to("xla")), got.cpu(), 1e-4)
    config = LoraConfig(enable_lora=True, lora_rank=2, target_modules={"head", "down_proj"}, lora_verbose=True)
    model = get_lora_model(Net(False).to("xla"), config)
    base = {name.replace(".base_layer", ""): p.detach().cpu() for name, p in model.named_parameters()}
    with torch.no_grad():
        [p.add_(0.5) for p in model.parameters() if p.requires_grad]
    nxd.save_checkpoint("adapters", tag="one", model=model)
    again = get_lora_model(Net(False).to("xla"), LoraConfig(enable_lora=True, load_lora_from_ckpt=True,
                                                            lora_save_dir="adapters", lora_load_tag="one"))
    again.load_state_dict(base)
    assert [name for name, _ in again.named_parameters()] == [name for name, _ in model.named_parameters()]
    same("a stored adapter", again(input_ids=x.to("xla")), model(input_ids=x.to("xla")).cpu())
    try:
        LoraModel(Net(False), LoraConfig(target_modules=["q_proj"]))
        sys.exit("no error")
    except ValueError as error:
        assert "target_modules" in str(error)
xmp.spawn(f)
"""
