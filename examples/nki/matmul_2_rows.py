"""Matmul, second step: a row of tiles of the left operand is loaded once and meets every column."""
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

K_TILE, M_TILE, N_TILE = 128, 128, 512


@nki.jit
def matmul(lhs_t, rhs):
    (k, m), n = lhs_t.shape, rhs.shape[1]
    out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // M_TILE):
        row = nl.ndarray((k // K_TILE, nl.par_dim(K_TILE), M_TILE), dtype=lhs_t.dtype, buffer=nl.sbuf)
        for c in nl.affine_range(k // K_TILE):
            row[c] = nl.load(lhs_t[nl.ds(c * K_TILE, K_TILE), nl.ds(i * M_TILE, M_TILE)])
        for j in nl.affine_range(n // N_TILE):
            total = nl.zeros((M_TILE, N_TILE), nl.float32, buffer=nl.psum)
            for c in nl.affine_range(k // K_TILE):
                b = nl.load(rhs[nl.ds(c * K_TILE, K_TILE), nl.ds(j * N_TILE, N_TILE)])
                total += nl.matmul(row[c], b, transpose_x=True)
            nl.store(out[nl.ds(i * M_TILE, M_TILE), nl.ds(j * N_TILE, N_TILE)], nl.copy(total, dtype=out.dtype))
    return out


def inputs():
    rng = np.random.default_rng(0)
    return [(rng.standard_normal(s) / 32).astype(np.float32).astype(nl.bfloat16) for s in ((1024, 1024), (1024, 2048))]


def reference(lhs_t, rhs):
    return lhs_t.astype(np.float32).T @ rhs.astype(np.float32)


if __name__ == "__main__":
    arrays = inputs()
    print("largest difference", np.abs(matmul(*arrays).astype(np.float32) - reference(*arrays)).max())
