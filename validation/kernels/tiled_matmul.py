"""result [M, N] = lhsT [K, M] transposed times rhs [K, N], tile by tile: for rows of published tables that vary the
tiles. naive_k64_n128 loads both operands for every product; hoist_k64_n128 keeps the tiles of lhsT that a row of results
needs. Tiles of M are 128 rows."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

TILE_M = 128


def piece(tensor, row, column, rows, columns):
    return nl.load(tensor[row * rows:(row + 1) * rows, column * columns:(column + 1) * columns])


def save(result, sums, m, n, tile_n):
    rounded = nl.copy(sums, dtype=result.dtype)
    nl.store(result[m * TILE_M:(m + 1) * TILE_M, n * tile_n:(n + 1) * tile_n], value=rounded)


def naive(tile_k, tile_n):
    @nki.jit
    def kernel(lhsT, rhs):
        (K, M), N = lhsT.shape, rhs.shape[1]
        result = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
        for m in nl.affine_range(M // TILE_M):
            for n in nl.affine_range(N // tile_n):
                sums = nl.zeros((TILE_M, tile_n), nl.float32, buffer=nl.psum)
                for k in nl.affine_range(K // tile_k):
                    left = piece(lhsT, k, m, tile_k, TILE_M)
                    sums += nl.matmul(left, piece(rhs, k, n, tile_k, tile_n), transpose_x=True)
                save(result, sums, m, n, tile_n)
        return result
    return kernel


def hoist(tile_k, tile_n):
    @nki.jit
    def kernel(lhsT, rhs):
        (K, M), N = lhsT.shape, rhs.shape[1]
        result = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
        for m in nl.affine_range(M // TILE_M):
            left = nl.ndarray((K // tile_k, nl.par_dim(tile_k), TILE_M), dtype=lhsT.dtype, buffer=nl.sbuf)
            for k in nl.affine_range(K // tile_k):
                left[k] = piece(lhsT, k, m, tile_k, TILE_M)
            for n in nl.affine_range(N // tile_n):
                sums = nl.zeros((TILE_M, tile_n), nl.float32, buffer=nl.psum)
                for k in nl.affine_range(K // tile_k):
                    sums += nl.matmul(left[k], piece(rhs, k, n, tile_k, tile_n), transpose_x=True)
                save(result, sums, m, n, tile_n)
        return result
    return kernel


for _k in (32, 64, 128):
    for _n in (64, 128, 256, 512):
        globals()[f"naive_k{_k}_n{_n}"] = naive(_k, _n)
        globals()[f"hoist_k{_k}_n{_n}"] = hoist(_k, _n)
