"""Kernels with mistakes: each ends with one error, its line and code 2, or, where the chip would be wrong without a
word, runs and has one warning with its line. The line is the one that says HERE."""
import contextlib
import io
import os
import sys
import tempfile

from trnsim.nki import __main__ as command

OLDER = """
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.compiler as ncc

@nki.jit
def kernel(x, y):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    p, f = nl.arange(128)[:, None], nl.arange(512)[None, :]
{body}
    return out

x = np.random.default_rng(0).random((128, 512)).astype(np.float32)
print(float(np.sum(kernel(x, x))))
"""
NEWER = """
import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl

def loaded(tensor):
    tile = nl.ndarray(tensor.shape, dtype=tensor.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=tensor)
    return tile

@nki.jit
def kernel(x, y):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    a, b = loaded(x), loaded(y)
    c = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
{body}
    return out

x = np.random.default_rng(0).random((128, 512)).astype(np.float32)
print(float(np.sum(kernel(x, x))))
"""
NOTHING = NEWER.replace("    return out\n", "").replace("print(float(np.sum(kernel(x, x))))", "kernel(x, x)")
# What is wrong, the dialect, words of the message ("warning:" in front where the kernel runs), lines of the kernel.
CASES = [
    ("index out of bounds", OLDER, "out of bounds", """
    nl.store(out[p, f], nl.load(x[p + 1, f]))  # HERE"""),
    ("index out of bounds that the mask does not leave out", OLDER, "", """
    nl.store(out[p, f], nl.load(x[p, f + 8], mask=f < 505))  # HERE"""),
    ("an index as an operand", OLDER, "data2 is an index, not a tile", """
    nl.store(out[p, f], nisa.tensor_tensor(nl.load(x[p, f]), f, nl.multiply))  # HERE"""),
    ("a name of the other dialect", NEWER, "nl.mgrid is not supported: it is of the other dialect, neuronxcc.nki", """
    i, j = nl.mgrid[0:128, 0:512]  # HERE"""),
    ("a destination of the newer dialect", OLDER, "a destination (dst) is of the newer dialect", """
    nisa.nc_transpose(nl.zeros((128, 128), x.dtype, buffer=nl.psum), nl.load(x[0:128, 0:128]))  # HERE"""),
    ("nothing as an operand", OLDER, "nl.add: y is None, not a tile or a number", """
    nl.store(out[p, f], nl.add(nl.load(x[p, f]), None))  # HERE"""),
    ("a transpose as NumPy has it", NEWER, "a tensor has no attribute 'T'", """
    nisa.tensor_copy(c, a.T)  # HERE"""),
    ("a product as NumPy has it", NEWER, "for @: a tensor and a tensor", """
    nisa.tensor_copy(c, a @ b)  # HERE"""),
    ("a comparison of indices as an operand", OLDER, "y is a comparison of indices", """
    nl.store(out[p, f], nl.multiply(nl.load(x[p, f]), p >= f))  # HERE"""),
    ("slice behind the end", OLDER, "", """
    nl.store(out[p, f], nl.load(x[0:128, 8:520]))  # HERE"""),
    ("more partitions than there are", OLDER, "partition", """
    t = nl.ndarray((256, 4), dtype=nl.float32, buffer=nl.sbuf)  # HERE
    nl.store(out[p, f], nl.load(x))"""),
    ("tile larger than SBUF", OLDER, "exceed SBUF", """
    t = nl.ndarray((128, 60000), dtype=nl.float32, buffer=nl.sbuf)  # HERE
    nl.store(out[p, f], nl.load(x))"""),
    ("tile larger than PSUM", OLDER, "exceed PSUM", """
    t = nl.ndarray((128, 8192), dtype=nl.float32, buffer=nl.psum)  # HERE
    nl.store(out[p, f], nl.load(x))"""),
    ("an unknown keyword", OLDER, "dst", """
    t = nisa.tensor_copy(nl.load(x), dst=out)  # HERE"""),
    ("an unknown name", OLDER, "not supported", """
    nl.store(out[p, f], nl.sinhh(nl.load(x)))  # HERE"""),
    ("a tile in HBM as an operand", OLDER, "HBM", """
    nl.store(out[p, f], nl.add(x, y))  # HERE"""),
    ("stored to the chip", OLDER, "HBM", """
    nl.store(nl.ndarray((128, 512), dtype=nl.float32), nl.load(x))  # HERE"""),
    ("shapes that do not broadcast", OLDER, "", """
    nl.store(out[p, f], nl.add(nl.load(x), nl.load(y[0:128, 0:3])))  # HERE"""),
    ("contraction of different lengths", OLDER, "", """
    nl.store(out[p, f], nisa.nc_matmul(nl.load(x[0:64, 0:128]), nl.load(y)))  # HERE"""),
    ("too many columns of the stationary operand", OLDER, "", """
    nl.store(out[p, f], nisa.nc_matmul(nl.load(x[0:128, 0:256]), nl.load(y)))  # HERE"""),
    ("a reduction over partitions", OLDER, "partitions", """
    nl.store(out[p, f], nl.max(nl.load(x), axis=0))  # HERE"""),
    ("an axis that the tile lacks", OLDER, "axis", """
    nl.store(out[p, f], nl.max(nl.load(x), axis=3))  # HERE"""),
    ("a type of 64 bits", OLDER, "not a type", """
    t = nl.ndarray((128, 4), dtype=np.float64, buffer=nl.sbuf)  # HERE"""),
    ("an operand by an index of the run", OLDER, "known only at run time", """
    i = nl.load(y[p, 0:1], dtype=nl.int32)
    nl.store(out[p, f], nisa.dma_transpose(x[i, nl.arange(128)[None, :]]))  # HERE"""),
    ("partitions that hardware cannot begin at", OLDER, "", """
    t = nl.load(x)
    t[16:48, 0:512] = nl.exp(t[8:40, 0:512])  # HERE
    nl.store(out[p, f], t)"""),
    ("a tile placed where no tile can begin", OLDER, "cannot begin", """
    t = nl.ndarray((32, 512), dtype=nl.float32, buffer=ncc.sbuf.alloc(lambda idx, pdim_size, fdim_size: (16, 0)))  # HERE
    nl.store(out[p, f], nl.load(x))"""),
    ("tensors that the kernel places and others", OLDER, "leaves to the compiler", """
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    u = nl.ndarray((128, 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0))  # HERE
    nl.store(out[p, f], nl.load(x))"""),
    ("a tensor of PSUM that the compiler places beside one of SBUF", OLDER, "leaves to the compiler", """
    u = nl.ndarray((128, 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0))
    t = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)  # HERE
    nl.store(out[p, f], nl.load(x))"""),
    ("an operand that is no tile", OLDER, "not a tile", """
    nl.store(out[p, f], nisa.activation(np.exp, data=3.0))  # HERE"""),
    ("no operation of the engines", OLDER, "not an operation", """
    nl.store(out[p, f], nisa.tensor_tensor(nl.load(x), nl.load(y), op=np.sinh))  # HERE"""),
    ("Python decides by a value of the run", OLDER, "", """
    t = nl.load(x)
    if t[0, 0] > 0:  # HERE
        nl.store(out[p, f], t)"""),
    ("a loop as long as a tile says", OLDER, "run time", """
    t = nl.load(x)
    for i in nl.affine_range(t):  # HERE
        nl.store(out[p, f], t)"""),
    ("a kernel of the SDK's own", OLDER, "the SDK's own kernels", """
    from neuronxcc.nki.kernels.attention import flash_fwd  # HERE"""),
    ("a kernel of the SDK's own by its other name", OLDER, "the SDK's own kernels", """
    from neuronxcc.nki._private_kernels.attention import attention_isa_kernel  # HERE"""),
    ("an assertion of the kernel", OLDER, "AssertionError", """
    assert x.shape[0] == 64, "rows"  # HERE"""),
    ("a function of NumPy of a tile", OLDER, "NumPy computes on the host", """
    nl.store(out[p, f], np.exp(nl.load(x)))  # HERE"""),
    ("a loop of a fraction", OLDER, "not a whole number", """
    for i in nl.affine_range(x.shape[0] / 3):  # HERE
        nl.store(out[p, f], nl.load(x))"""),
    ("an axis that there is not", OLDER, "axis 7", """
    t = nl.expand_dims(nl.load(x), 7)  # HERE"""),
    ("a shuffle of a partition that there is not", OLDER, "partition 40", """
    t = nl.load(x)
    nisa.nc_stream_shuffle(src=t, dst=t, shuffle_mask=[40] * 32)  # HERE"""),
    ("an assertion on numbers of the run", NEWER, "AssertionError", """
    assert nl.equal(a, b)
    assert nl.equal(nl.add(a, 1.0), b)  # HERE"""),
    ("a product added to what a memset wrote", NEWER, "warning: no earlier product has overwritten", """
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.memset(t, 1.0)
    nisa.nc_matmul(t, a[:, :128], b, accumulate=True)  # HERE
    nisa.tensor_copy(c, t)
    nisa.dma_copy(out, c)"""),
    ("a quotient of VectorE", NEWER, "warning: no divide", """
    nisa.tensor_scalar(dst=c, data=a, op0=nl.divide, operand0=2.0)  # HERE
    nisa.dma_copy(out, c)"""),
    ("a quotient of tiles", NEWER, "warning: no divide", """
    nisa.tensor_copy(c, nl.divide(a, b))  # HERE
    nisa.dma_copy(out, c)"""),
    ("a column for each element", NEWER, "warning: 512 and 1 elements", """
    nisa.tensor_tensor(c, a, b[:, 0:1], nl.add)  # HERE
    nisa.dma_copy(out, c)"""),
    ("a row for each partition", NEWER, "warning: 128 and 1 partitions", """
    nisa.tensor_tensor(c, a, b[0:1], nl.add)  # HERE
    nisa.dma_copy(out, c)"""),
    ("nl.rms_norm", NEWER, "warning: a tile and a column by tensor_tensor", """
    nisa.tensor_copy(c, nl.rms_norm(a, b, axis=1, n=512))  # HERE
    nisa.dma_copy(out, c)"""),
    ("a transpose that converts", NEWER, "warning: one type for both", """
    t, half = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum), nl.ndarray((128, 128), dtype=nl.bfloat16)
    nisa.tensor_copy(half, a[:, 0:128])
    nisa.nc_transpose(t, half)  # HERE
    nisa.tensor_copy(c[:, 0:128], t)
    nisa.dma_copy(out[:, 0:128], c[:, 0:128])"""),
    ("a small tile of the array on NeuronCore-v2", NEWER, "NeuronCore-v3 on", """
    t = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(t, a[0:32, :64], b[0:32], tile_position=(32, 0), tile_size=(32, 128))  # HERE"""),
    ("a DMA transpose that converts", NEWER, "float32 to bfloat16", """
    t = nl.ndarray((64, 16), dtype=nl.bfloat16)
    nisa.dma_transpose(t, x[0:16, 0:64])  # HERE"""),
    ("software descriptors of a DMA transpose", NEWER, "swdge does not transpose", """
    t = nl.ndarray((64, 16), dtype=nl.float32)
    nisa.dma_transpose(t, x[0:16, 0:64], dge_mode=nisa.dge_mode.swdge)  # HERE"""),
    ("a power of what is in PSUM", NEWER, "does not reach PSUM", """
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(t, a[:, :128], b)
    nisa.tensor_tensor(c, t, a, nl.power)  # HERE"""),
    ("a selection of what is in PSUM", NEWER, "does not reach PSUM", """
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(t, a[:, :128], b)
    nisa.affine_select(c, [[1, 512]], 1, t, 0.0)  # HERE"""),
    ("one operand for all elements of two operations", NEWER, "operand1 has 1 elements", """
    nisa.scalar_tensor_tensor(c, a, nl.multiply, 2.0, nl.add, b[:, 0:1])  # HERE"""),
    ("bits in two operations", NEWER, "not on bits", """
    t = nl.ndarray((128, 4), dtype=nl.int32)
    nisa.memset(t, 1)
    nisa.scalar_tensor_tensor(t, t, nl.bitwise_and, 2, nl.bitwise_or, t)  # HERE"""),
    ("an engine that starts no descriptors", NEWER, "without dge_mode.hwdge", """
    nisa.dma_copy(c, x, engine=nisa.engine.sync)  # HERE"""),
    ("an address behind SBUF", NEWER, "exceed SBUF", """
    t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf, address=(0, 300000))  # HERE"""),
    ("partitions that no tensor has", NEWER, "cannot begin at 32", """
    t = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.sbuf, address=(32, 0))  # HERE"""),
    ("a loop of registers in a fixed order", NEWER, "no_reorder", """
    with nl.no_reorder():
        nl.fori_loop(0, 3, lambda i: None)  # HERE"""),
    ("an operation without its operand", NEWER, "no operand1", """
    nisa.tensor_scalar(c, a, nl.add, 1.0, op1=nl.multiply)  # HERE"""),
    ("two operands in PSUM", NEWER, "both in PSUM", """
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(t, a[:, 0:128], b)
    nisa.tensor_tensor(c, t, t, nl.add)  # HERE"""),
    ("a number that the type does not have", NEWER, "300 is not a number of type uint8", """
    t = nl.ndarray((128, 4), dtype=nl.uint8)
    nisa.memset(t, 300)  # HERE"""),
    ("a predicate of floats", NEWER, "the predicate is float32", """
    nisa.tensor_copy_predicated(c, a, b)  # HERE"""),
    ("bytes that would be converted", NEWER, "moves bytes", """
    t = nl.ndarray((128, 512), dtype=nl.bfloat16)
    nisa.dma_copy(t, x, dge_mode=nisa.dge_mode.hwdge)  # HERE"""),
    ("a tensor in HBM that nothing was written to", OLDER, "warning: in HBM is read", """
    nl.store(out[p, f], nl.load(out[p, f]))  # HERE"""),
    ("a tile on the chip as a result", NEWER, "in SBUF or PSUM", """
    nisa.tensor_tensor(c, a, b, nl.add)
    return c"""),
    ("a call of the older dialect", NEWER, "dst", """
    nisa.tensor_tensor(data1=a, data2=b, op=nl.add)  # HERE"""),
    ("a destination of another shape", NEWER, "dst is", """
    nisa.tensor_tensor(c[:, 0:256], a, b, nl.add)  # HERE"""),
    ("an indirect transpose of what Trn1 lacks", NEWER, "NeuronCore-v3", """
    i = nl.ndarray((128, 1), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.memset(i, 3)
    nisa.dma_transpose(c[0:128, 0:128], x.ap([[512, 128], [1, 128]], vector_offset=i))  # HERE"""),
    ("descriptors that the chip does not make", NEWER, "NeuronCore-v3", """
    nisa.dma_copy(c, x, dge_mode=nisa.dge_mode.hwdge)  # HERE"""),
    ("a gather without descriptors of its own", NEWER, "does not gather", """
    rows = nl.zeros((128, 1), nl.int32)
    nisa.dma_copy(c, x.vector_select(0, rows), dge_mode=nisa.dge_mode.none)  # HERE"""),
    ("a copy that ScalarE lacks", NEWER, "no tensor_copy", """
    nisa.tensor_copy(c, a, engine=nisa.engine.scalar)  # HERE"""),
    ("an engine that computes nothing", NEWER, "DMA computes nothing", """
    nisa.tensor_copy(c, a, engine=nisa.engine.dma)  # HERE"""),
    ("a maximum of ScalarE's accumulators", NEWER, "add only", """
    most = nl.ndarray((128, 1), dtype=nl.float32)
    nisa.activation(c, nl.exp, a, reduce_op=nl.maximum, reduce_res=most)  # HERE"""),
    ("a tile of the array without its size", NEWER, "together", """
    sums = nl.ndarray((32, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(sums, a[:32, :32], b[:32], tile_position=(32, 0))  # HERE"""),
    ("dropout to another type", NEWER, "dropout of", """
    narrow = nl.ndarray((128, 512), dtype=nl.bfloat16)
    nisa.dropout(narrow, a, 0.5)  # HERE"""),
    ("more tensors than DMA adds", NEWER, "17 sources", """
    nisa.dma_compute(c, [a] * 17, nl.add)  # HERE"""),
    ("bytes that are no whole numbers", NEWER, "not a whole number", """
    odd = nl.ndarray((128, 7), dtype=nl.uint8).view(nl.float32)  # HERE"""),
    ("an axis that an index names, cut", NEWER, "is sliced", """
    rows = nl.zeros((128, 1), nl.int32)
    half = x.vector_select(0, rows)[0:64]  # HERE"""),
    ("a start of the accumulators that is not read", NEWER, "reduce_init is given", """
    total = nl.zeros((128, 1), nl.float32)
    nisa.tensor_scalar_reduce(c, a, nl.add, 1.0, nl.add, total, reduce_init=1.0)  # HERE"""),
    ("a collective with other ranks", NEWER, "3 other ranks", """
    group = nki.collectives.ReplicaGroup([[0, 1, 2, 3], [4, 5]])
    nki.collectives.all_reduce([x], [out], group, nl.add)  # HERE"""),
    ("DMA into PSUM", NEWER, "PSUM", """
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.dma_copy(t, x)  # HERE"""),
    ("TensorE reads PSUM", NEWER, "SBUF", """
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(t, a[:, 0:128], b)
    u = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(u, a[:, 0:128], t)  # HERE"""),
    ("TensorE writes SBUF", NEWER, "PSUM", """
    nisa.nc_matmul(c, a[:, 0:128], b)  # HERE"""),
    ("a PSUM address between two banks", NEWER, "bank", """
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum, address=(0, 512))  # HERE"""),
    ("copies of different sizes", NEWER, "copied", """
    nisa.dma_copy(out[:, 0:256], a)  # HERE"""),
    ("a view of other elements", NEWER, "", """
    nisa.dma_copy(out, a.reshape((128, 500)))  # HERE"""),
    ("an access pattern behind the end", NEWER, "", """
    nisa.tensor_copy(c, a.ap([[512, 128], [2, 512]]))  # HERE"""),
    ("an instruction of a later chip", NEWER, "NeuronCore-v4", """
    nisa.exponential(c, a)  # HERE"""),
    ("a function of a later chip", NEWER, "NeuronCore-v4", """
    nl.store(out, nl.abs_max(a, b))  # HERE"""),
    ("a mask of rows or of the contraction", OLDER, "both have the same length", """
    nl.store(out[p, f], nl.matmul(nl.load(x[0:128, 0:128]), nl.load(y), mask=p < 100))  # HERE"""),
    ("a number format of a later chip", NEWER, "NeuronCore-v4", """
    t = nl.ndarray((128, 4), dtype=nl.float8_e8m0fnu)  # HERE"""),
    ("a fraction in whole numbers", NEWER, "whole number", """
    t = nl.ndarray((128, 4), dtype=nl.int32)
    nisa.memset(t, 0.5)  # HERE"""),
    ("a mean of the rows without a loop's end", NEWER, "never", """
    while True: nisa.tensor_copy(c, a)  # HERE"""),
    ("a mask that Python decides by", OLDER, "`or`", """
    nl.store(out[p, f], nl.load(x), mask=(p < 5) or (f < 3))  # HERE"""),
    ("a mask that is turned round", OLDER, "`not`", """
    nl.store(out[p, f], nl.load(x), mask=not p < 5)  # HERE"""),
    ("a branch by a mask", OLDER, "a mask is used as a Python condition", """
    if p < 64:  # HERE
        nl.store(out[p, f], nl.load(x))"""),
    ("a mask of two ranges", OLDER, "two ranges", """
    nl.store(out[p, f], nl.load(x), mask=p != 5)  # HERE"""),
    ("a mask of another length", OLDER, "64 elements", """
    nl.store(out[p, f], nl.load(x), mask=nl.arange(64)[:, None] < 5)  # HERE"""),
    ("a predicate of another shape", OLDER, "the predicate has the shape", """
    t = nisa.affine_select(pred=nl.arange(64)[None, :] < 5, on_true_tile=nl.load(x), on_false_value=0.0)  # HERE"""),
    ("a slice in front of the axis", OLDER, "begins at -4", """
    nl.store(out[:, 0:4], nl.load(x[:, nl.ds(-4, 4)]))  # HERE"""),
    ("two axes of partitions", OLDER, "2 axes", """
    t = nl.zeros((nl.par_dim(128), nl.par_dim(5)), dtype=nl.float32)  # HERE"""),
    ("a number that the tensor's type has not", OLDER, "300 is not a number of type uint8", """
    t = nl.full((128, 4), 300, dtype=nl.uint8)  # HERE"""),
    ("a reduction to as many elements", NEWER, "the reduction has (128, 1)", """
    nisa.tensor_reduce(c, nl.add, a, axis=1)  # HERE"""),
    ("a function of NumPy's in Python of a tile", NEWER, "NumPy computes on the host", """
    nisa.tensor_scalar(c, a, nl.add, np.max(a))  # HERE"""),
    ("a pattern of half steps", NEWER, "0.5 in an affine number", """
    nisa.iota(c, [[0.5, 512]])  # HERE"""),
    ("bits of a fraction", OLDER, "works on bits", """
    t = nisa.tensor_scalar(nl.load(x, dtype=nl.int32), np.bitwise_or, 1.5)  # HERE"""),
    ("numbers that iota's type has not", OLDER, "765 is not a number of type uint8", """
    t = nisa.iota(p * 2 + f, dtype=nl.uint8)  # HERE"""),
    ("a shuffle to more elements", OLDER, "10 elements", """
    t = nl.load(x)
    nisa.nc_stream_shuffle(t[0:32, 0:10], t[0:32, 0:11], [0] * 32)  # HERE"""),
    ("a selection that adds", OLDER, "greatest number only", """
    t, m, r = nl.load(x), nl.ones((128, 512), dtype=nl.uint8), nl.ndarray((128, 1), dtype=nl.float32)
    nisa.select_reduce(dst=t, predicate=m, on_true=t, on_false=0.0, reduce_res=r, reduce_op=np.add)  # HERE"""),
    ("a selection of words", OLDER, "select_reduce of int32", """
    t, m = nl.load(x, dtype=nl.int32), nl.ones((128, 512), dtype=nl.uint8)
    nisa.select_reduce(dst=t, predicate=m, on_true=t, on_false=0.0)  # HERE"""),
    ("an index of fractions", OLDER, "an index tile of float32", """
    i = nl.load(y[p, 0:1])
    nl.store(out[i, f], nl.load(x))  # HERE"""),
    ("an axis in front of the partitions", OLDER, "before the partitions", """
    t = nl.expand_dims(nl.load(x), 0)  # HERE"""),
    ("a tile that nothing was written to", NEWER, "warning: before anything is written", """
    nisa.dma_copy(out, c)  # HERE"""),
    ("an operand without its operation", NEWER, "there is an operand1, but no op1", """
    nisa.tensor_scalar(c, a, nl.add, 1.0, operand1=2.0)  # HERE"""),
    ("an operand of another shape, by its own name", NEWER, "operand0 is [128, 2] but must be [128, 1]", """
    nisa.tensor_scalar(c, a, nl.multiply, b[:, 0:2])  # HERE"""),
    ("an operand that ScalarE takes as its bias", NEWER, "operand0 is [128, 2] but must be [128, 1]", """
    nisa.tensor_scalar(c, a, nl.add, b[:, 0:2])  # HERE"""),
    ("operands of other partitions, by their own names", NEWER, "stationary has K = 128, moving has K = 64", """
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(t, a[:, 0:128], a[0:64])  # HERE"""),
    ("an operation that does not reduce", NEWER, "op cannot be pow", """
    nisa.tensor_reduce(c[:, 0:1], nl.power, a, 1)  # HERE"""),
    ("an operation of a later chip", NEWER, "abs_max is an operation of NeuronCore-v4", """
    nisa.tensor_tensor(c, a, b, nl.abs_max)  # HERE"""),
    ("a shape that a tile cannot be repeated to", NEWER, "[128, 512] does not broadcast to [128, 600]", """
    nl.broadcast_to(a, (128, 600))  # HERE"""),
    ("no mode where one belongs", NEWER, "oob_mode is None", """
    nisa.dma_copy(out, a, oob_mode=None)  # HERE"""),
    ("an index behind its partition", NEWER, "index 600 of partitions 0 to 15 takes 2 elements", """
    t = nl.full((128, 4), 600, dtype=nl.uint16)
    nisa.local_gather(nl.ndarray((128, 64, 2), dtype=nl.float32), a, t, num_elem_per_idx=2)  # HERE
    nisa.dma_copy(out, a)"""),
    ("an angle that ScalarE does not take", NEWER, "warning: of sin are outside of -3.1416 to 3.1416", """
    nisa.activation(c, nl.sin, a, scale=7.0)  # HERE
    nisa.dma_copy(out, c)"""),
    ("a root of a number below 0", OLDER, "warning: of sqrt are outside of 2^-116 to 2^118, and 0", """
    nl.store(out, nl.sqrt(nl.subtract(nl.load(x), 0.5)))  # HERE"""),
    ("a row that is added to twice", NEWER, "warning: 126 indices name a row that an earlier one names", """
    nisa.dma_copy(out, a)
    rows = nl.full((128, 1), 3, dtype=nl.uint32)
    nisa.memset(rows[0:1], 5)
    place = out.ap(pattern=[[512, 128], [1, 512]], vector_offset=rows, indirect_dim=0)
    nisa.dma_compute(place, [place, b], nl.add)  # HERE"""),
    ("a tile that is moved onto itself", NEWER, "warning: that it reads later on", """
    nisa.tensor_copy(a[:, 1:512], a[:, 0:511])  # HERE
    nisa.dma_copy(out, a)"""),
    ("a kernel that returns nothing", NOTHING, "warning: returns nothing and writes to no argument", """
    nisa.dma_copy(out, a)"""),
    ("a result that nothing is written to", NEWER, "warning: returns a tensor", """
    nisa.tensor_tensor(c, a, b, nl.add)"""),
    ("a sum that begins with what PSUM holds", NEWER, "warning: is added to PSUM", """
    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(t, a[:, 0:128], b, accumulate=True)  # HERE
    nisa.tensor_copy(c, t)
    nisa.dma_copy(out, c)"""),
    ("an affine loop that needs its earlier results", OLDER, "warning: affine_range", """
    t = nl.load(x)
    for i in nl.affine_range(1, 4):
        t[0:128, nl.ds(i * 128, 128)] = nl.exp(t[0:128, nl.ds(i * 128 - 128, 128)])  # HERE
    nl.store(out[p, f], t)"""),
    ("an affine loop around others that needs its earlier results", OLDER, "warning: affine_range", """
    t = nl.load(x)
    for i in nl.affine_range(2):
        for j in nl.affine_range(1, 4):
            t[0:128, nl.ds(512 - j * 128, 128)] = nl.exp(t[0:128, nl.ds(384 - j * 128, 128)])  # HERE
    nl.store(out[p, f], t)"""),
    ("an affine loop that needs its earlier results in HBM", OLDER, "warning: affine_range", """
    nl.store(out, nl.load(x))
    for i in nl.affine_range(1, 4):
        nl.store(out[:, nl.ds(i * 4, 4)], nl.load(out[:, nl.ds(i * 4 - 4, 4)]))  # HERE"""),
    ("a tile read after another one was written to its place", NEWER, "warning: written over it", """
    t = nl.ndarray((128, 512), dtype=nl.float32, address=(0, 65536))
    u = nl.ndarray((128, 512), dtype=nl.float32, address=(0, 65536))
    nisa.tensor_copy(t, a)
    nisa.tensor_copy(u, b)
    nisa.tensor_copy(c, t)  # HERE
    nisa.dma_copy(out, c)"""),
]


def ends(source, folder, number):
    """The code of the command, its lines on stderr, and the place where the mistake is."""
    path = os.path.join(folder, f"kernel{number}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    line = next((n for n, text in enumerate(source.split("\n"), 1) if "# HERE" in text), None)
    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
        code = command.main([path])
    return code, err.getvalue().strip().split("\n"), f"kernel{number}.py:{line}:" if line else f"kernel{number}.py"


def wrong(case, folder, number):
    """Why the case does not end as it should; None when it does."""
    name, dialect, words, body = case
    from trnsim.nki import _jit
    _jit.settings.seconds = 2
    code, said, place = ends(dialect.format(body=body.rstrip()), folder, number)
    warns, words = words.startswith("warning:"), words.removeprefix("warning:").strip()
    kind = "warning: " if warns else "error: "
    about = [line for line in said if line.startswith(("error: ", "warning: "))]
    if code != (0 if warns else 2):
        return f"{name}: code {code}: {said}"
    if len(about) != 1 or not about[0].startswith(kind) or place not in about[0] or words not in about[0]:
        return f"{name}: {said}, not one {kind}with {place} and {words!r}"
    return None


def main(arguments):
    with tempfile.TemporaryDirectory() as folder:
        picked = [(n, c) for n, c in enumerate(CASES) if not arguments or any(a in c[0] for a in arguments)]
        failed = [w for w in (wrong(c, folder, n) for n, c in picked) if w]
    print(f"{len(picked)} kernels with mistakes, {len(failed)} wrong")
    if failed:
        sys.exit("\n".join(failed))


main(sys.argv[1:])
