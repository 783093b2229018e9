"""nki.compiler: where the kernel puts its own tensors, and directives."""
import inspect

from trnsim.nki import language as nl
from trnsim.nki._state import PSUM, SBUF, error, state


def _linear(shape, indices, scale, base):
    shape = shape or (1,) * len(indices)
    if len(shape) != len(indices):
        raise error(f"{len(shape)} numbers of tiles for {len(indices)} block axes", "give one for each, or none")
    place = 0
    for size, index in zip(shape, indices):
        place = place * size + index % size
    return place * scale + base


def _called(func, index, partitions, size):
    """What a kernel's function of places says. Its documented parameters are given by name: some may be bound."""
    named = {"idx": index, "pdim_size": partitions, "fdim_size": size}
    try:
        inspect.signature(func).bind(**named)
    except TypeError:
        return func(index, partitions, size)
    return func(**named)


def check_partitions(start, size):
    steps = 128 if size > 64 else 64 if size > 32 else 32
    if start % steps or start + size > 128:
        raise error(f"{size} partitions cannot begin at {start}",
                    "use 0, or a multiple of 32 or 64 for fewer partitions")


class _Sbuf(nl.Buffer):
    def __init__(self):
        super().__init__("sbuf", SBUF)

    def auto_alloc(self):
        return nl.sbuf

    def alloc(self, func):
        """Where `func(block, partitions, bytes)` says: (first partition, byte)."""
        def place(index, partitions, size):
            start, byte = _called(func, index, partitions, size)
            check_partitions(int(start), int(partitions))
            most = state.machine().sbuf_bytes
            if byte < 0 or byte + size > most:
                raise error(f"bytes {byte} to {byte + size} of a partition exceed SBUF, which has {most} for kernels",
                            "place it lower, or use smaller tiles")
            return start, byte
        return nl.Buffer("sbuf", SBUF, place=place)

    def mod_alloc(self, *, base_addr, base_partition=0, num_par_tiles=(), num_free_tiles=()):
        return self.alloc(lambda i, p, f: (_linear(num_par_tiles, i, p, base_partition),
                                           _linear(num_free_tiles, i, f, base_addr)))


class _Psum(nl.Buffer):
    def __init__(self):
        super().__init__("psum", PSUM)

    def auto_alloc(self):
        return nl.psum

    def alloc(self, func):
        """Where `func(block, partitions, bytes)` says: (bank, first partition, byte)."""
        def place(index, partitions, size):
            bank, start, byte = _called(func, index, partitions, size)
            check_partitions(int(start), int(partitions))
            if size + byte > BANK_BYTES or not 0 <= bank < BANKS:
                raise error(f"{size} bytes at byte {byte} of bank {bank} exceed PSUM: {BANKS} banks of {BANK_BYTES}",
                            "use another bank, or smaller tiles")
            return start, bank * BANK_BYTES + byte
        return nl.Buffer("psum", PSUM, place=place)

    def mod_alloc(self, *, base_bank, base_addr=0, base_partition=0, num_bank_tiles=(), num_par_tiles=(),
                  num_free_tiles=()):
        return self.alloc(lambda i, p, f: (_linear(num_bank_tiles, i, 1, base_bank),
                                           _linear(num_par_tiles, i, p, base_partition),
                                           _linear(num_free_tiles, i, f, base_addr)))


BANK_BYTES, BANKS = 2048, 8  # nki.compiler.psum.alloc
sbuf, psum = _Sbuf(), _Psum()
hbm = nl.hbm


def enable_stack_allocator(func=None, log_level=None):
    """A directive of the compiler's allocator: places follow the same rules here."""
    return func if func is not None else (lambda f: f)


def skip_middle_end_transformations(func=None):
    """A directive: only passes that `--passes` names run here."""
    return func if func is not None else (lambda f: f)


def multi_buffer(count):
    """A directive of loops: so many iterations have tiles of their own. Tiles are apart here as far as they fit."""
    return ("multi_buffer", int(count))


def force_auto_alloc(func=None):
    """Tensors that the kernel places itself are placed by the compiler."""
    def wrap(f):
        setattr(getattr(f, "__wrapped__", f), "_nki_auto_alloc", True)
        return f
    return wrap(func) if func is not None else wrap
