"""Matmul, fourth step: four rows of tiles meet two columns, which fills PSUM; TensorE is what is left to wait for."""
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

K_TILE, M_TILE, N_TILE, ROWS, COLUMNS = 128, 128, 512, 4, 2


@nki.jit
def matmul(lhs_t, rhs):
    (k, m), n = lhs_t.shape, rhs.shape[1]
    out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // (ROWS * M_TILE)):
        for j in nl.affine_range(n // (COLUMNS * N_TILE)):
            total = nl.zeros((ROWS, COLUMNS, nl.par_dim(M_TILE), N_TILE), nl.float32, buffer=nl.psum)
            for c in nl.affine_range(k // K_TILE):
                deep = nl.ds(c * K_TILE, K_TILE)
                a = nl.load(lhs_t[deep, nl.ds(i * ROWS * M_TILE, ROWS * M_TILE)])
                b = nl.load(rhs[deep, nl.ds(j * COLUMNS * N_TILE, COLUMNS * N_TILE)])
                for x in nl.affine_range(ROWS):
                    for y in nl.affine_range(COLUMNS):
                        total[x, y] += nisa.nc_matmul(a[:, nl.ds(x * M_TILE, M_TILE)], b[:, nl.ds(y * N_TILE, N_TILE)])
            for x in nl.affine_range(ROWS):
                for y in nl.affine_range(COLUMNS):
                    nl.store(out[nl.ds((i * ROWS + x) * M_TILE, M_TILE), nl.ds((j * COLUMNS + y) * N_TILE, N_TILE)],
                             nl.copy(total[x, y], dtype=out.dtype))
    return out


def inputs():
    rng = np.random.default_rng(0)
    return [(rng.standard_normal(s) / 32).astype(np.float32).astype(nl.bfloat16) for s in ((1024, 1024), (1024, 2048))]


def reference(lhs_t, rhs):
    return lhs_t.astype(np.float32).T @ rhs.astype(np.float32)


if __name__ == "__main__":
    arrays = inputs()
    print("largest difference", np.abs(matmul(*arrays).astype(np.float32) - reference(*arrays)).max())
