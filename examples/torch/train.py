"""Two layers learn which of ten sums is the largest: on one simulated core, or on as many as spawn() starts."""
import argparse

import torch
import torch.nn.functional as F
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_multiprocessing as xmp


def batch(step, rank, size):
    generator = torch.Generator().manual_seed(1000 * step + rank)
    x = torch.randn(size, 40, generator=generator)
    return x, x.view(size, 10, 4).sum(2).argmax(1)


def train(rank, args):
    torch.manual_seed(0)  # each core begins with the same weights
    device = xm.xla_device()
    model = torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.GELU(), torch.nn.Linear(64, 10)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        x, y = batch(step, xm.get_ordinal(), args.batch)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        xm.optimizer_step(optimizer)  # gradients averaged over the cores
        xm.mark_step()
        xm.master_print(f"step {step} loss {loss.item():.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--one", action="store_true", help="one core, without spawn()")
    args = parser.parse_args()
    train(0, args) if args.one else xmp.spawn(train, args=(args,))
