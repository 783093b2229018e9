"""A small decoder of parallel layers, trained on some cores; with --plain the same of PyTorch's own layers by one
process on the CPU, which tensor and data parallelism are held against: `nxd_models.py --out FILE [--tp N] [--sp]`."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

WORDS, SIZE, HEADS, WIDE, TOKENS, BATCH = 48, 32, 8, 64, 16, 4


class Plain:
    """PyTorch's layers under the parallel ones' names."""
    tp = dp = 1
    rank = 0

    def start(self, args):
        self.device = "cpu"

    def column(self, inputs, outputs, bias=False, **_):
        return nn.Linear(inputs, outputs, bias)

    row = column

    def embedding(self, words, size, **_):
        return nn.Embedding(words, size)

    def loss(self, logits, labels):
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")

    def whole(self, tensor, parameter):
        return tensor

    def mean(self, loss):
        return loss

    def prepare(self, make, args):
        return make(), lambda parameters: torch.optim.AdamW(parameters, lr=args.lr)

    def clip(self, model, optimizer, args):
        return nn.utils.clip_grad_norm_(model.parameters(), 1.0)

    def done(self):
        pass


class Parallel(Plain):
    def start(self, args):
        import neuronx_distributed as nxd
        import torch_xla.core.xla_model as xm
        from neuronx_distributed.parallel_layers import layers, loss_functions, mappings, parallel_state
        self.nxd, self.xm, self.layers, self.mappings, self.state = nxd, xm, layers, mappings, parallel_state
        torch.distributed.init_process_group("xla")
        self.config = nxd.neuronx_distributed_config(
            tensor_parallel_size=args.tp, sequence_parallel=args.sp,
            optimizer_config={"zero_one_enabled": args.zero, "grad_clipping": True, "max_grad_norm": 1.0},
            activation_checkpoint_config=Block if args.checkpoint else None)
        self.tp, self.dp = parallel_state.get_tensor_model_parallel_size(), parallel_state.get_data_parallel_size()
        self.rank, self.device, self.loss = parallel_state.get_data_parallel_rank(), xm.xla_device(), \
            loss_functions.parallel_cross_entropy

    def column(self, inputs, outputs, bias=False, **named):
        return self.layers.ColumnParallelLinear(inputs, outputs, bias=bias, **named)

    def row(self, inputs, outputs, bias=False, **named):
        return self.layers.RowParallelLinear(inputs, outputs, bias=bias, **named)

    def embedding(self, words, size, **named):
        return self.layers.ParallelEmbedding(words, size, **named)

    def whole(self, tensor, parameter):
        if not getattr(parameter, "tensor_model_parallel", False):
            return tensor
        dim, stride = parameter.partition_dim, parameter.partition_stride
        groups = self.state.get_tensor_model_parallel_group(as_list=True)
        parts = self.xm.all_gather(tensor, dim, groups).chunk(self.tp * stride, dim)
        return torch.cat([parts[core * stride + i] for i in range(stride) for core in range(self.tp)], dim)

    def mean(self, loss):
        return self.xm.all_reduce("sum", loss, 1 / self.dp, self.state.get_data_parallel_group(as_list=True))

    def prepare(self, make, args):
        model = self.nxd.initialize_parallel_model(self.config, make)
        return model, lambda parameters: self.nxd.initialize_parallel_optimizer(
            self.config, torch.optim.AdamW, parameters, lr=args.lr)

    def clip(self, model, optimizer, args):
        """The optimizer's step does it, and the sums of the data-parallel groups."""

    def done(self):
        self.xm.mark_step()


class Norm(nn.Module):
    def __init__(self, size, divided):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.weight.sequence_parallel_enabled = divided

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


class Block(nn.Module):
    def __init__(self, kit, divided):
        super().__init__()
        self.heads, self.divided, own = HEADS // kit.tp, divided, dict(sequence_parallel_enabled=divided)
        self.first, self.second = Norm(SIZE, divided), Norm(SIZE, divided)
        self.qkv = kit.column(SIZE, 3 * SIZE, stride=3, gather_output=False, **own)
        self.out = kit.row(SIZE, SIZE, bias=True, input_is_parallel=True, **own)
        self.up = kit.column(SIZE, 2 * WIDE, stride=2, gather_output=False, **own)
        self.down = kit.row(WIDE, SIZE, input_is_parallel=True, **own)
        nn.init.zeros_(self.out.bias)

    def attend(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        if self.divided:  # [sequence, batch, features]
            q, k, v = (t.transpose(0, 1) for t in (q, k, v))
        q, k, v = (t.unflatten(-1, (self.heads, SIZE // HEADS)).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(SIZE // HEADS)
        later = torch.ones(TOKENS, TOKENS, device=x.device).triu(1).bool()
        y = (scores.masked_fill(later, -10000.0).softmax(-1) @ v).transpose(1, 2).flatten(2)
        return self.out(y.transpose(0, 1) if self.divided else y)

    def forward(self, x):
        x = x + self.attend(self.first(x))
        gate, up = self.up(self.second(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Decoder(nn.Module):
    def __init__(self, kit, divided):
        super().__init__()
        self.kit, self.divided = kit, divided
        self.words = kit.embedding(WORDS, SIZE, sequence_parallel_enabled=divided)
        self.blocks = nn.ModuleList(Block(kit, divided) for _ in range(2))
        self.norm = Norm(SIZE, divided)
        self.head = kit.column(SIZE, WORDS, gather_output=False, sequence_parallel_enabled=divided)

    def forward(self, tokens, labels):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        logits = logits.transpose(0, 1) if self.divided else logits
        return self.kit.loss(logits, labels).mean()


def batch(kit, step):
    tokens = torch.randint(0, WORDS, (BATCH, TOKENS + 1), generator=torch.Generator().manual_seed(step))
    rows = tokens[kit.rank::kit.dp]
    return rows[:, :-1].to(kit.device), rows[:, 1:].to(kit.device)


def train(rank, args):
    kit = Plain() if args.plain else Parallel()
    kit.start(args)
    torch.manual_seed(0)
    model, optimizer_of = kit.prepare(lambda: Decoder(kit, args.sp), args)
    optimizer = optimizer_of(list(model.parameters()))
    found = {}
    for step in range(args.steps):
        optimizer.zero_grad()
        loss = model(*batch(kit, step))
        loss.backward()
        if step == 0 and kit.dp == 1 and not args.sp:
            found.update({f"{name}.grad": kit.whole(p.grad, p).cpu().clone() for name, p in model.named_parameters()})
        norm = kit.clip(model, optimizer, args)
        optimizer.step()
        kit.done()
        norm = optimizer.grad_norm if norm is None else norm
        total, norm = kit.mean(loss.detach()).item(), norm.item()
        if rank == 0:
            print(f"loss {total!r} norm {norm!r}", flush=True)
    found.update({name: kit.whole(p.detach(), p).cpu() for name, p in model.named_parameters()})
    if rank == 0:
        torch.save(found, args.out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    parser.add_argument("--tp", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-2)
    for flag in ("sp", "zero", "plain", "checkpoint"):
        parser.add_argument(f"--{flag}", action="store_true")
    given = parser.parse_args()
    if given.plain:
        train(0, given)
    else:
        import torch_xla.distributed.xla_multiprocessing as xmp
        xmp.spawn(train, args=(given,))
