"""nki.collectives: between ranks. A kernel runs as rank 0 of its own group here: where a group has other ranks, whose
data nobody gave, the call is refused; a group of one rank copies."""
from trnsim.nki import _emit as e
from trnsim.nki._newer.moves import dma_copy
from trnsim.nki._newer.tensors import NKIObject
from trnsim.nki._state import error


class ReplicaGroup(NKIObject):
    """Lists of ranks; a collective runs in each of them."""

    def __init__(self, rank_lists):
        self.rank_lists = [list(ranks) for ranks in rank_lists]
        seen = [rank for ranks in self.rank_lists for rank in ranks]
        if not seen or len(set(seen)) != len(seen) or not all(isinstance(r, int) and r >= 0 for r in seen):
            raise error(f"a replica group of {rank_lists}", "give lists of ranks, each rank in one of them")

    def others(self):
        """How many ranks are in the group of rank 0 beside it."""
        return sum(len(ranks) - 1 for ranks in self.rank_lists if 0 in ranks)


def _alone(name, others):
    if others:
        raise error(f"nki.collectives.{name} with {others} other ranks: one core is simulated, so their data does "
                    "not exist",
                    "give a replica group of one rank, or time the collective with trnsim run")


def _copied(name, sources, targets):
    if not isinstance(sources, (list, tuple)) or not isinstance(targets, (list, tuple)) or len(sources) != len(targets):
        raise error(f"nki.collectives.{name} takes lists of as many sources as destinations",
                    "give [source] and [destination]")
    for source, target in zip(sources, targets):
        if e.is_tile(source) or e.is_tile(target):
            dma_copy(target, source)
        else:  # a list for each channel
            _copied(name, source, target)


def all_reduce(srcs, dsts, replica_group, op, priority=None, name=None):
    _alone("all_reduce", replica_group.others())
    _copied("all_reduce", srcs, dsts)


def all_gather(srcs, dsts, replica_group, collective_dim, priority=None, name=None):
    _alone("all_gather", replica_group.others())
    _copied("all_gather", srcs, dsts)


def reduce_scatter(srcs, dsts, replica_group, collective_dim, op, priority=None, name=None):
    _alone("reduce_scatter", replica_group.others())
    _copied("reduce_scatter", srcs, dsts)


def all_to_all(srcs, dsts, replica_group, collective_dim, priority=None, name=None):
    _alone("all_to_all", replica_group.others())
    _copied("all_to_all", srcs, dsts)


def collective_permute(srcs, dsts, source_target_pairs, priority=None, name=None):
    """To explicit targets: with one rank, to itself."""
    _alone("collective_permute", len({rank for pair in source_target_pairs for rank in pair} - {0}))
    _copied("collective_permute", srcs, dsts)


def collective_permute_implicit(srcs_by_channel, dsts_by_channel, replica_group, channel_ids=(0,), name=None):
    _alone("collective_permute_implicit", replica_group.others())
    _copied("collective_permute_implicit", srcs_by_channel, dsts_by_channel)


def rank_id():
    """The rank of the core that is simulated."""
    return 0


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(*_, **__):
        raise error(f"nki.collectives.{name} is not modelled: one core is simulated", "use one core")
    return refuse
