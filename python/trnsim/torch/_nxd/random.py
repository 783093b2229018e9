"""neuronx_distributed.parallel_layers.random: numbers that differ between the cores of a tensor-parallel group."""
import contextlib

import torch

from trnsim.torch._nxd import state

MODEL = "model-parallel-rng"
SEED_OFFSET = 2718  # of the cores' own numbers from those that they share; the documentation's


class XLARNGStatesTracker:
    """States of PyTorch's generator by name; fork() draws from one of them and leaves the usual one as it was."""

    def __init__(self):
        self.states_, self.seeds_ = {}, set()

    def reset(self):
        self.states_, self.seeds_ = {}, set()

    def get_states(self):
        return dict(self.states_)

    def set_states(self, states):
        self.states_ = states

    def add(self, name, seed):
        if seed in self.seeds_ or name in self.states_:
            raise Exception(f"the random numbers {name!r} or the seed {seed} already exist")
        self.seeds_.add(seed)
        with self.kept():
            torch.manual_seed(seed)
            self.states_[name] = torch.get_rng_state()

    @contextlib.contextmanager
    def kept(self):
        before = torch.get_rng_state()
        try:
            yield
        finally:
            torch.set_rng_state(before)

    @contextlib.contextmanager
    def fork(self, name=MODEL):
        if name not in self.states_:
            raise Exception(f"random numbers {name!r} do not exist: call model_parallel_xla_manual_seed() first")
        with self.kept():
            torch.set_rng_state(self.states_[name])
            try:
                yield
            finally:
                self.states_[name] = torch.get_rng_state()


TRACKER = XLARNGStatesTracker()


def get_xla_rng_tracker():
    return TRACKER


def model_parallel_xla_manual_seed(seed):
    """The usual numbers are the same on all cores of a group, those of fork() differ."""
    TRACKER.reset()
    torch.manual_seed(seed)
    TRACKER.add(MODEL, seed + SEED_OFFSET + state.get_tensor_model_parallel_rank())


def names():
    return dict(XLARNGStatesTracker=XLARNGStatesTracker, get_xla_rng_tracker=get_xla_rng_tracker,
                model_parallel_xla_manual_seed=model_parallel_xla_manual_seed)
