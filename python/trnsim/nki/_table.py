"""The documented names of SDK 2.26 (neuronxcc.nki): parameters, engines of instructions, the first chip if not v2."""

TEXT = """
nl.abs(x, *, dtype=None, mask=None)
nl.add(x, y, *, dtype=None, mask=None)
nl.affine_range(*args, **kwargs)
nl.all(x, axis, *, dtype=bool, mask=None)
nl.all_reduce(x, op, program_axes, *, dtype=None, mask=None, parallel_reduce=True, asynchronous=False)
nl.arange(*args)
nl.arctan(x, *, dtype=None, mask=None)
nl.atomic_rmw(dst, value, op, *, mask=None)
nl.bfloat16
nl.bool_
nl.float16
nl.float32
nl.int16
nl.int32
nl.int8
nl.uint16
nl.uint32
nl.uint8
nl.bitwise_and(x, y, *, dtype=None, mask=None)
nl.bitwise_or(x, y, *, dtype=None, mask=None)
nl.bitwise_xor(x, y, *, dtype=None, mask=None)
nl.broadcast_to(src, *, shape)
nl.ceil(x, *, dtype=None, mask=None)
nl.copy(src, *, mask=None, dtype=None)
nl.cos(x, *, dtype=None, mask=None)
nl.device_print
nl.divide(x, y, *, dtype=None, mask=None)
nl.dropout(x, rate, *, dtype=None, mask=None)
nl.ds(start, size)
nl.empty_like(a, dtype=None, *, buffer=None, name='')
nl.equal(x, y, *, dtype=bool, mask=None)
nl.erf(x, *, dtype=None, mask=None)
nl.erf_dx(x, *, dtype=None, mask=None)
nl.exp(x, *, dtype=None, mask=None)
nl.expand_dims(data, axis)
nl.float8_e4m3
nl.float8_e5m2
nl.floor(x, *, dtype=None, mask=None)
nl.fmod(x, y, dtype=None, mask=None)
nl.fp32
nl.full(shape, fill_value, dtype, *, buffer=None, name='')
nl.gather_flattened(data, indices, *, mask=None, dtype=None)
nl.gelu(x, *, dtype=None, mask=None)
nl.gelu_apprx_sigmoid(x, *, dtype=None, mask=None)
nl.gelu_apprx_tanh(x, *, dtype=None, mask=None)
nl.gelu_dx(x, *, dtype=None, mask=None)
nl.greater(x, y, *, dtype=bool, mask=None)
nl.greater_equal(x, y, *, dtype=bool, mask=None)
nl.hbm
nl.invert(x, *, dtype=None, mask=None)
nl.left_shift(x, y, *, dtype=None, mask=None)
nl.less(x, y, *, dtype=bool, mask=None)
nl.less_equal(x, y, *, dtype=bool, mask=None)
nl.load(src, *, mask=None, dtype=None, mode=None)
nl.load_transpose2d(src, *, mask=None, dtype=None)
nl.log(x, *, dtype=None, mask=None)
nl.logical_and(x, y, *, dtype=bool, mask=None)
nl.logical_not(x, *, dtype=bool, mask=None)
nl.logical_or(x, y, *, dtype=bool, mask=None)
nl.logical_xor(x, y, *, dtype=bool, mask=None)
nl.loop_reduce(x, op, loop_indices, *, dtype=None, mask=None)
nl.matmul(x, y, *, transpose_x=False, mask=None)
nl.max(x, axis, *, dtype=None, mask=None, keepdims=False)
nl.maximum(x, y, *, dtype=None, mask=None)
nl.mean(x, axis, *, dtype=None, mask=None, keepdims=False)
nl.mgrid
nl.min(x, axis, *, dtype=None, mask=None, keepdims=False)
nl.minimum(x, y, *, dtype=None, mask=None)
nl.mish(x, *, dtype=None, mask=None)
nl.mod(x, y, dtype=None, mask=None)
nl.multiply(x, y, *, dtype=None, mask=None)
nl.nc
nl.ndarray(shape, dtype, *, buffer=None, name='')
nl.negative(x, *, dtype=None, mask=None)
nl.not_equal(x, y, *, dtype=bool, mask=None)
nl.num_programs(axes=None)
nl.ones(shape, dtype, *, buffer=None, name='')
nl.par_dim
nl.power(x, y, *, dtype=None, mask=None)
nl.private_hbm
nl.prod(x, axis, *, dtype=None, mask=None, keepdims=False)
nl.program_id(axis)
nl.program_ndim()
nl.psum
nl.rand(shape, dtype=float32)
nl.random_seed(seed, *, mask=None)
nl.reciprocal(x, *, dtype=None, mask=None)
nl.relu(x, *, dtype=None, mask=None)
nl.right_shift(x, y, *, dtype=None, mask=None)
nl.rms_norm(x, w, axis, n, epsilon=1e-06, *, dtype=None, compute_dtype=None, mask=None)
nl.rsqrt(x, *, dtype=None, mask=None)
nl.sbuf
nl.sequential_range(*args, directives=None, **kwargs)
nl.shared_constant(constant, dtype=None)
nl.shared_hbm
nl.shared_identity_matrix(n, dtype=uint8)
nl.sigmoid(x, *, dtype=None, mask=None)
nl.sign(x, *, dtype=None, mask=None)
nl.silu(x, *, dtype=None, mask=None)
nl.silu_dx(x, *, dtype=None, mask=None)
nl.sin(x, *, dtype=None, mask=None)
nl.softmax(x, axis, *, dtype=None, compute_dtype=None, mask=None)
nl.softplus(x, *, dtype=None, mask=None)
nl.spmd_dim
nl.sqrt(x, *, dtype=None, mask=None)
nl.square(x, *, dtype=None, mask=None)
nl.static_range(*args)
nl.store(dst, value, *, mask=None, mode=None)
nl.subtract(x, y, *, dtype=None, mask=None)
nl.sum(x, axis, *, dtype=None, mask=None, keepdims=False)
nl.tan(x, *, dtype=None, mask=None)
nl.tanh(x, *, dtype=None, mask=None)
nl.tfloat32
nl.tile_size
nl.transpose(x, *, dtype=None, mask=None)
nl.trunc(x, *, dtype=None, mask=None)
nl.var(x, axis, *, dtype=None, mask=None)
nl.where(condition, x, y, *, dtype=None, mask=None)
nl.zeros(shape, dtype, *, buffer=None, name='')
nl.zeros_like(a, dtype=None, *, buffer=None, name='')
nisa.activation(op, data, *, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=reduce_cmd.idle,
  mask=None, dtype=None) | scalar
nisa.activation_reduce(op, data, *, reduce_op, reduce_res, bias=None, scale=1.0, mask=None, dtype=None) | scalar
nisa.affine_select(pred, on_true_tile, on_false_value, *, mask=None, dtype=None) | gpsimd
nisa.bn_aggr(data, *, mask=None, dtype=None) | vector
nisa.bn_stats(data, *, mask=None, dtype=None) | vector
nisa.dge_mode
nisa.dma_copy(*, dst, src, mask=None, dst_rmw_op=None, oob_mode=oob_mode.error, dge_mode=dge_mode.unknown) | dma
nisa.dma_transpose(src, *, axes=None, mask=None, dtype=None) | dma
nisa.dropout(data, prob, *, mask=None, dtype=None) | vector
nisa.engine
nisa.get_nc_version()
nisa.iota(expr, dtype, *, mask=None) | gpsimd
nisa.local_gather(src_buffer, index, num_elem_per_idx=1, num_valid_indices=None, *, mask=None) | gpsimd
nisa.max8(*, src, mask=None, dtype=None) | vector
nisa.memset(shape, value, dtype, *, mask=None, engine=engine.unknown) | vector gpsimd
nisa.nc_find_index8(*, data, vals, mask=None, dtype=None) | vector
nisa.nc_match_replace8(*, data, vals, imm, dst_idx=None, mask=None, dtype=None) | vector
nisa.nc_matmul(stationary, moving, *, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False,
  tile_position=(), tile_size=(), mask=None, perf_mode=None) | tensor
nisa.nc_stream_shuffle(src, dst, shuffle_mask, *, dtype=None, mask=None) | vector
nisa.nc_transpose(data, *, mask=None, dtype=None, engine=engine.unknown) | tensor vector
nisa.nc_version
nisa.range_select(*, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd=reduce_cmd.idle, reduce_res=None,
  reduce_op=amax, range_start=0, on_false_value=None, mask=None, dtype=None) | vector | v3
nisa.reciprocal(data, *, dtype=None, mask=None) | vector scalar
nisa.reduce_cmd
nisa.scalar_tensor_tensor(*, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, dtype=None,
  mask=None) | vector
nisa.select_reduce(*, dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd=reduce_cmd.idle,
  reduce_op=amax, reverse_pred=False, mask=None, dtype=None) | vector
nisa.sequence_bounds(*, segment_ids, dtype=None) | gpsimd
nisa.tensor_copy(src, *, mask=None, dtype=None, engine=engine.unknown) | vector scalar gpsimd
nisa.tensor_copy_dynamic_dst(*, dst, src, mask=None, dtype=None, engine=engine.unknown) | vector scalar gpsimd
nisa.tensor_copy_dynamic_src(src, *, mask=None, dtype=None, engine=engine.unknown) | vector scalar gpsimd
nisa.tensor_copy_predicated(*, src, dst, predicate, reverse_pred=False, mask=None, dtype=None) | vector
nisa.tensor_partition_reduce(op, data, *, mask=None, dtype=None) | gpsimd
nisa.tensor_reduce(op, data, axis, *, mask=None, dtype=None, negate=False, keepdims=False) | vector
nisa.tensor_scalar(data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False, *, dtype=None,
  mask=None, engine=engine.unknown) | vector scalar gpsimd
nisa.tensor_scalar_reduce(*, data, op0, operand0, reduce_op, reduce_res, reverse0=False, dtype=None, mask=None) |
  vector
nisa.tensor_tensor(data1, data2, op, *, dtype=None, mask=None, engine=engine.unknown) | vector gpsimd
nisa.tensor_tensor_scan(data0, data1, initial, op0, op1, reverse0=False, reverse1=False, *, dtype=None, mask=None) |
  vector
"""
