"""A small decoder that learns to continue counting; neuronx_distributed divides its layers among cores. Each copy of it
has its own part of the data, and each core its part of the optimizer."""
import argparse

import neuronx_distributed as nxd
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_multiprocessing as xmp
from neuronx_distributed.parallel_layers import parallel_state
from neuronx_distributed.parallel_layers.layers import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear
from neuronx_distributed.parallel_layers.loss_functions import parallel_cross_entropy

WORDS, SIZE, HEADS, TOKENS = 64, 64, 4, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = HEADS // parallel_state.get_tensor_model_parallel_size()
        self.first, self.second = nn.LayerNorm(SIZE), nn.LayerNorm(SIZE)
        self.qkv = ColumnParallelLinear(SIZE, 3 * SIZE, bias=False, gather_output=False, stride=3)
        self.out = RowParallelLinear(SIZE, SIZE, bias=False, input_is_parallel=True)
        self.up = ColumnParallelLinear(SIZE, 4 * SIZE, bias=False, gather_output=False)
        self.down = RowParallelLinear(4 * SIZE, SIZE, bias=False, input_is_parallel=True)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.first(x)).chunk(3, -1))
        later = torch.ones(TOKENS, TOKENS, device=x.device).triu(1).bool()
        scores = (q @ k.transpose(-1, -2) / (SIZE // HEADS) ** 0.5).masked_fill(later, -10000.0)
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.second(x))))


class Decoder(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.words, self.places = ParallelEmbedding(WORDS, SIZE), nn.Embedding(TOKENS, SIZE)
        self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(SIZE), ColumnParallelLinear(SIZE, WORDS, bias=False, gather_output=False)

    def forward(self, tokens, labels):
        x = self.words(tokens) + self.places(torch.arange(TOKENS, device=tokens.device))
        return parallel_cross_entropy(self.head(self.norm(self.blocks(x))), labels).mean()


def batch(step, copy, size):
    first = torch.randint(0, WORDS, (size, 1), generator=torch.Generator().manual_seed(1000 * step + copy))
    tokens = (first + torch.arange(TOKENS + 1)) % WORDS
    return tokens[:, :-1], tokens[:, 1:]


def train(rank, args):
    torch.distributed.init_process_group("xla")
    config = nxd.neuronx_distributed_config(
        tensor_parallel_size=args.tp,
        optimizer_config={"zero_one_enabled": True, "grad_clipping": True, "max_grad_norm": 1.0})
    torch.manual_seed(0)
    model = nxd.initialize_parallel_model(config, Decoder, args.layers)
    optimizer = nxd.initialize_parallel_optimizer(config, torch.optim.AdamW, model.parameters(), lr=args.lr)
    device, copies = xm.xla_device(), parallel_state.get_data_parallel_group(as_list=True)
    for step in range(args.steps):
        tokens, labels = batch(step, parallel_state.get_data_parallel_rank(), args.batch)
        optimizer.zero_grad()
        loss = model.run_train(tokens.to(device), labels.to(device))
        optimizer.step()  # sums of gradients over copies, clipping, and the update of this core's part
        mean = xm.all_reduce("sum", loss.detach(), 1 / len(copies[0]), copies)
        xm.mark_step()
        xm.master_print(f"step {step} loss {mean.item():.6f} norm {optimizer.grad_norm.item():.4f}")
    if args.save:
        nxd.save_checkpoint(args.save, f"step_{args.steps}", model, optimizer)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tp", type=int, default=2, help="cores that share a model")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--batch", type=int, default=4, help="sequences of a copy of the model")
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--save", metavar="FOLDER", help="of a checkpoint at the end")
    xmp.spawn(train, args=(parser.parse_args(),))
