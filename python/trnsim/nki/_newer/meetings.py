"""nki.isa: where the programs of a launch grid meet: the cores of a logical core on Trn2."""
from trnsim.nki import _programs
from trnsim.nki import _emit as e
from trnsim.nki._isa.modes import engine_code
from trnsim.nki._language.moves import transfer
from trnsim.nki._newer.emit import DONE
from trnsim.nki._newer.modes import dma_engine as dma_engines
from trnsim.nki._newer.modes import engine as engines
from trnsim.nki._state import HBM, SBUF, error, state

_GPSIMD_BYTES = {4: 1024, 2: 512, 1: 256}  # of a partition, by the bytes of a number (nki.isa.sendrecv)


def core_barrier(data, cores, engine=engines.gpsimd, name=None):
    """Every program has come here before one goes on."""
    if not e.is_tile(data) or data.space != HBM:
        raise error("the data of a barrier are in shared HBM", "name the tensor that the programs share")
    named = (cores,) if isinstance(cores, int) else tuple(cores)
    if named == (0,):  # one core waits for none
        return DONE
    if named != (0, 1):
        raise error(f"cores {named} meet", "give (0, 1)")
    _programs.meet("barrier", None, lambda _: None, lambda: _barrier(data, data, engine))
    return DONE


def sendrecv(src, dst, send_to_rank, recv_from_rank, pipe_id, dma_engine=dma_engines.dma, name=None):
    """Each program's `src` goes to the `dst` of another."""
    src, dst = e.tile(src), e.tile(dst)
    if src.space != SBUF or dst.space != SBUF:
        raise error("sendrecv is between tiles in SBUF", "copy them there first")
    if src.code != dst.code or tuple(src.shape) != tuple(dst.shape):
        raise error(f"{tuple(src.shape)} of {src.dtype} is sent to {tuple(dst.shape)} of {dst.dtype}",
                    "give both the same shape and type")
    for rank in (send_to_rank, recv_from_rank):
        if int(rank) not in (0, 1):
            raise error(f"rank {rank}", "give 0 or 1")
    size = src.dtype.itemsize
    if dma_engine is dma_engines.gpsimd_dma and src.cols * size > _GPSIMD_BYTES[size]:
        raise error(f"{src.cols * size} bytes of a partition by GpSimdE's DMA, which moves {_GPSIMD_BYTES[size]}",
                    "use dma_engine.dma, or send less at a time")
    _programs.meet(("pipe", int(pipe_id)), (src, dst, int(send_to_rank), int(recv_from_rank)), _exchange,
                   lambda: _own_side(src, dst))
    return DONE


def _barrier(dst, src, engine=engines.gpsimd):
    """The core waits until the other one is at this meeting too: `src` is ready before it, `dst` after it."""
    dst, src = (view._from_there()[0] if view.by_values else view for view in (dst, src))
    named = engine_code(engine)
    e.put("core_barrier", e.GPSIMD if named == e.ANY else named, dst, src, float(state.turns.met))


def _own_side(src, dst):
    """The transfer from the other core begins when both have their source ready and their destination free. It takes
    as long as this core's own, which brings as many bytes: that one is timed in its place."""
    _barrier(dst, src)
    transfer(dst, src)


def _exchange(given):
    for number, (_, _, to, _) in given.items():
        if given[to][3] != number:
            raise error(f"program {number} sends to {to}, which receives from {given[to][3]}", "make the ranks agree")
    sources = {n: src for n, (src, _, _, _) in given.items()}
    if any(src.place == dst.place for src, dst, _, _ in given.values()):  # each is read before it is written
        sources = {n: _kept(src) for n, src in sources.items()}
    for number, (_, _, to, _) in given.items():
        transfer(given[to][1], sources[number])


def _kept(src):
    out = e.temp(src.shape, src.code)
    e.current().copy(out, src)
    return out
