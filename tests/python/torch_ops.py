"""PyTorch's database of operators on the simulated device against the CPU, over all samples of each in fp32:
`python3 -m trnsim.torch --numeric torch_ops.py [--gradients] [--part I/N] [--only NAME,...] [--samples N]
[--list FILE]`. `torch_ops_left.txt` has those that do not agree, with their reasons."""
import argparse
import collections
import itertools
import os
import signal
import sys
import time
import types
import unittest
import warnings

import torch

if "expecttest" not in sys.modules:  # the database's module asks for it, its samples do not
    try:
        import expecttest  # noqa
    except ImportError:
        sys.modules["expecttest"] = types.ModuleType("expecttest")
        sys.modules["expecttest"].TestCase = unittest.TestCase
        sys.modules["expecttest"].ACCEPT = True
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402


def moved(item, to):
    if isinstance(item, torch.Tensor):
        return to(item)
    if isinstance(item, (list, tuple)):
        kind = type(item)
        return kind(*(moved(x, to) for x in item)) if hasattr(item, "_fields") else kind(moved(x, to) for x in item)
    if isinstance(item, dict):
        return {key: moved(x, to) for key, x in item.items()}
    return item


def leaf(tensor, device, grads):
    out = tensor.detach().clone().to(device)
    return out.requires_grad_() if grads and tensor.requires_grad else out


def tensors(item):
    if isinstance(item, torch.Tensor):
        return [item]
    if isinstance(item, dict):
        item = list(item.values())
    return [t for x in item for t in tensors(x)] if isinstance(item, (list, tuple)) else []


def computed(op, sample, device, grads):
    """Results, and gradients of the inputs, on the host."""
    torch.manual_seed(1)
    inputs = [moved(x, lambda t: leaf(t, device, grads)) for x in (sample.input, sample.args, sample.kwargs)]
    given, args, kwargs = inputs
    out = op(given, *args, **kwargs)
    if sample.output_process_fn_grad is not None and grads:
        out = sample.output_process_fn_grad(out)
    results = tensors(out)
    if grads:
        leaves = [t for t in tensors(inputs) if t.requires_grad]
        floats = [t for t in results if t.requires_grad and t.is_floating_point()]
        if floats and leaves:
            loss = sum(((t * torch.arange(1, t.numel() + 1, dtype=t.dtype).reshape(t.shape).to(device)) / max(
                t.numel(), 1)).sum() for t in floats)
            results = list(torch.autograd.grad(loss, leaves, allow_unused=True))
        else:
            results = []
    return [None if t is None else t.detach().cpu() for t in results]


def agree(a, b):
    if a is None or b is None:
        return a is None and b is None or (a if a is not None else b).abs().sum().item() == 0
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if not a.is_floating_point():
        return bool((a == b).all())
    a, b = a.double(), b.double()
    scale = b[b.isfinite()].abs().max().item() if b.isfinite().any() else 1.0
    return torch.allclose(a, b, rtol=2e-4, atol=2e-5 * max(scale, 1e-3) + 1e-6, equal_nan=True)


def full_name(op):
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def judged(op, grads, most_samples):
    """("right", samples), or ("wrong" or "refused", why)."""
    samples = itertools.islice(op.sample_inputs("cpu", torch.float32, requires_grad=grads), most_samples)
    count = 0
    for sample in samples:
        try:
            want = computed(op, sample, "cpu", grads)
        except Exception:  # noqa: the CPU does not have it either
            continue
        try:
            got = computed(op, sample, "xla", grads)
        except Exception as error:  # noqa
            return "refused", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300]
        for i, (a, b) in enumerate(zip(got, want)):
            if not agree(a, b):
                shape = tuple(b.shape) if b is not None else None
                words = f"{sample}"[:200].replace("\n", " ")
                return "wrong", f"result {i} of {shape} {words}"
        if len(got) != len(want):
            return "wrong", "another number of results"
        count += bool(want)
    return ("right", count) if count else ("none", "no sample that has a result")


def apart(op, grads, most_samples):
    """judged() in a process of its own: one operator may end it, and keeps no memory."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(40 if most_samples <= 60 else 900)
        try:
            words = judged(op, grads, most_samples)
        except BaseException as error:  # noqa
            words = ("refused", f"{type(error).__name__}: {error}")
        os.write(into, "\t".join(str(w) for w in words).encode()[:4000])
        os._exit(0)
    os.close(into)
    _, status = os.waitpid(child, 0)
    words = os.read(out, 4096).decode()
    os.close(out)
    return tuple(words.split("\t", 1)) if words else ("ended", f"signal {status & 127}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", default="")
    parser.add_argument("--samples", type=int, default=60, help="of an operator at most; 42 have more than 60")
    parser.add_argument("--seconds", type=float, default=1e9)
    given = parser.parse_args()
    part, parts = (int(x) for x in given.part.split("/"))
    warnings.simplefilter("ignore")
    found, begin, lines = collections.Counter(), time.time(), []
    wanted = [op for op in op_db if torch.float32 in op.dtypes and (op.supports_autograd or not given.gradients)]
    only = set(given.only.split(",")) if given.only else set()
    wanted = [op for op in wanted if not only or only & {op.name, full_name(op)}]
    for op in wanted[part::parts]:
        if time.time() - begin > given.seconds:
            break
        verdict, why = apart(op, given.gradients, given.samples)
        found[verdict] += 1
        lines.append(f"{verdict:<8} {full_name(op)}: {why}")
        if given.list:
            with open(given.list, "a", encoding="utf-8") as file:
                file.write(lines[-1] + "\n")
        elif verdict != "right":
            print(lines[-1], flush=True)
    print("operators", dict(found), f"{time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
