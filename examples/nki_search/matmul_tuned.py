"""A matmul whose blocks are keyword arguments: lhsT [K, M], rhs [K, N] in bf16, result [M, N]."""
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

TILE_K, TILE_M, TILE_N = 128, 128, 512


@nki.jit
def matmul(lhsT, rhs, TILES_IN_BLOCK_M=1, TILES_IN_BLOCK_N=1):
    K, M = lhsT.shape
    N = rhs.shape[1]
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    block_m, block_n = TILES_IN_BLOCK_M * TILE_M, TILES_IN_BLOCK_N * TILE_N
    assert M % block_m == 0 and N % block_n == 0, "the blocks do not divide the result"
    for m in nl.affine_range(M // block_m):
        for n in nl.affine_range(N // block_n):
            sums = nl.zeros((TILES_IN_BLOCK_M, TILES_IN_BLOCK_N, nl.par_dim(TILE_M), TILE_N), dtype=nl.float32,
                            buffer=nl.psum)
            for k in nl.affine_range(K // TILE_K):
                left = nl.load(lhsT[k * TILE_K:(k + 1) * TILE_K, m * block_m:(m + 1) * block_m])
                right = nl.load(rhs[k * TILE_K:(k + 1) * TILE_K, n * block_n:(n + 1) * block_n])
                for i in range(TILES_IN_BLOCK_M):
                    for j in range(TILES_IN_BLOCK_N):
                        sums[i, j] += nisa.nc_matmul(left[:, i * TILE_M:(i + 1) * TILE_M],
                                                     right[:, j * TILE_N:(j + 1) * TILE_N])
            for i in range(TILES_IN_BLOCK_M):
                for j in range(TILES_IN_BLOCK_N):
                    row, column = m * block_m + i * TILE_M, n * block_n + j * TILE_N
                    nl.store(out[row:row + TILE_M, column:column + TILE_N], nl.copy(sums[i, j], dtype=out.dtype))
    return out


def inputs(K=1024, M=1024, N=2048):
    rng = np.random.default_rng(0)
    return [(rng.standard_normal((K, size)) / 8).astype(nl.bfloat16) for size in (M, N)]


def reference(lhsT, rhs):
    return lhsT.astype(np.float32).T @ rhs.astype(np.float32)
