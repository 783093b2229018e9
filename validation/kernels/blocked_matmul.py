"""result [M, N] = lhsT [K, M] transposed times rhs [K, N] in blocks of all three axes, in the dialect of SDK 2.27 and
later: for rows of published tables that vary the tiles in a block. Results are added up in SBUF over the blocks of K."""
import nki
import nki.isa as nisa
import nki.language as nl

TILE_M, TILE_K, TILE_N = nl.tile_size.gemm_stationary_fmax, nl.tile_size.pmax, nl.tile_size.gemm_moving_fmax


def block_of(tensor, first_row, column, count, width):
    """`count` tiles below each other, of so many columns from `column` on."""
    tiles = []
    for i in range(count):
        tile = nl.ndarray((TILE_K, width), dtype=tensor.dtype, buffer=nl.sbuf)
        row = (first_row + i) * TILE_K
        nisa.dma_copy(dst=tile, src=tensor[row:row + TILE_K, column:column + width])
        tiles.append(tile)
    return tiles


def sums_of(rows, width, dtype):
    """Tiles of zeros, in which the results are added up."""
    out = []
    for _ in range(rows):
        tile = nl.ndarray((TILE_M, width), dtype=dtype, buffer=nl.sbuf)
        nisa.memset(dst=tile, value=0.0)
        out.append(tile)
    return out


@nki.jit
def blocked(lhsT, rhs, TILES_IN_BLOCK_M=4, TILES_IN_BLOCK_N=2, TILES_IN_BLOCK_K=8):
    (K, M), N = lhsT.shape, rhs.shape[1]
    block_m, block_n = TILE_M * TILES_IN_BLOCK_M, TILE_N * TILES_IN_BLOCK_N
    assert M % block_m == 0 and N % block_n == 0 and K % (TILE_K * TILES_IN_BLOCK_K) == 0
    result = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    for n in range(N // block_n):
        sums = sums_of(M // TILE_M, block_n, lhsT.dtype)
        for k in range(K // TILE_K // TILES_IN_BLOCK_K):
            moving = block_of(rhs, k * TILES_IN_BLOCK_K, n * block_n, TILES_IN_BLOCK_K, block_n)
            for m in range(M // block_m):
                fixed = block_of(lhsT, k * TILES_IN_BLOCK_K, m * block_m, TILES_IN_BLOCK_K, block_m)
                for bn in range(TILES_IN_BLOCK_N):
                    for bm in range(TILES_IN_BLOCK_M):
                        add_product(sums[m * TILES_IN_BLOCK_M + bm], fixed, moving, bm, bn)
        for m, tile in enumerate(sums):
            packed = nl.ndarray((TILE_M, block_n), dtype=result.dtype, buffer=nl.sbuf)
            for bn in range(TILES_IN_BLOCK_N):
                columns = nl.ds(bn * TILE_N, TILE_N)
                nisa.tensor_copy(dst=packed[:, columns], src=tile[:, columns])
            nisa.dma_copy(dst=result[m * TILE_M:(m + 1) * TILE_M, n * block_n:(n + 1) * block_n], src=packed)
    return result


def add_product(sums, fixed, moving, bm, bn):
    columns = nl.ds(bn * TILE_N, TILE_N)
    product = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
    for left, right in zip(fixed, moving):
        nisa.nc_matmul(dst=product, stationary=left[:, nl.ds(bm * TILE_M, TILE_M)], moving=right[:, columns])
    nisa.tensor_tensor(dst=sums[:, columns], data1=sums[:, columns], data2=product, op=nl.add)
