"""The documented names of SDK 2.32 (nki): parameters, engines of instructions, the first chip if not v2."""

TEXT = """
nl.abs(x, dtype=None)
nl.abs_max(x, y, dtype=None) | v4
nl.abs_min(x, y, dtype=None) | v4
nl.add(x, y, dtype=None)
nl.affine_range(start, stop=None, step=1)
nl.all(x, axis, dtype=None)
nl.arctan(x, dtype=None)
nl.bfloat16
nl.bitwise_and(x, y, dtype=None)
nl.bitwise_or(x, y, dtype=None)
nl.bitwise_xor(x, y, dtype=None)
nl.bool_
nl.broadcast_to(x, shape, dtype=None)
nl.bypass
nl.ceil(x, dtype=None)
nl.copy(x, dtype=None)
nl.cos(x, dtype=None)
nl.device_print(print_prefix, tensor)
nl.divide(x, y, dtype=None)
nl.dropout(x, rate, dtype=None)
nl.ds(start, size)
nl.dynamic_range(start, stop=None, step=1)
nl.empty_like(x, dtype=None, buffer=None, name='')
nl.equal(x, y, dtype=None)
nl.erf(x, dtype=None)
nl.erf_dx(x, dtype=None)
nl.exp(x, dtype=None)
nl.expand_dims(x, axis)
nl.float16
nl.float32
nl.float4_e2m1fn_x4 | v4
nl.float8_e4m3
nl.float8_e4m3fn | v4
nl.float8_e4m3fn_x4 | v4
nl.float8_e5m2
nl.float8_e5m2_x4 | v4
nl.float8_e8m0fnu | v4
nl.floor(x, dtype=None)
nl.fmod(x, y, dtype=None)
nl.fori_loop(lower, upper, body_fun, step=1)
nl.full(shape, fill_value, dtype, buffer=sbuf, name='')
nl.gather_flattened(data, indices, axis=0, dtype=None)
nl.gelu(x, dtype=None)
nl.gelu_apprx_sigmoid(x, dtype=None)
nl.gelu_apprx_sigmoid_dx(x, dtype=None)
nl.gelu_apprx_tanh(x, dtype=None)
nl.gelu_dx(x, dtype=None)
nl.greater(x, y, dtype=None)
nl.greater_equal(x, y, dtype=None)
nl.hbm
nl.int16
nl.int32
nl.int8
nl.invert(x, dtype=None)
nl.is_hbm(buffer)
nl.is_on_chip(buffer)
nl.is_psum(buffer)
nl.is_sbuf(buffer)
nl.left_shift(x, y, dtype=None)
nl.less(x, y, dtype=None)
nl.less_equal(x, y, dtype=None)
nl.load(src, dtype=None)
nl.load_transpose2d(src, dtype=None)
nl.log(x, dtype=None)
nl.logical_and(x, y, dtype=None)
nl.logical_not(x, dtype=None)
nl.logical_or(x, y, dtype=None)
nl.logical_xor(x, y, dtype=None)
nl.matmul(x, y, transpose_x=False)
nl.max(x, axis, dtype=None, keepdims=False)
nl.maximum(x, y, dtype=None)
nl.mean(x, axis, dtype=None, keepdims=False)
nl.min(x, axis, dtype=None, keepdims=False)
nl.minimum(x, y, dtype=None)
nl.mish(x, dtype=None)
nl.mod(x, y, dtype=None)
nl.multiply(x, y, dtype=None)
nl.ndarray(shape, dtype, buffer=sbuf, name='', address=None)
nl.negative(x, dtype=None)
nl.no_reorder()
nl.not_equal(x, y, dtype=None)
nl.num_programs(axes=0)
nl.ones(shape, dtype, buffer=sbuf, name='')
nl.power(x, y, dtype=None)
nl.prelu | v4
nl.private_hbm
nl.prod(x, axis, dtype=None, keepdims=False)
nl.program_id(axis=0)
nl.program_ndim()
nl.psum
nl.rand(shape, dtype, buffer=sbuf, name='')
nl.random_seed(seed)
nl.reciprocal(x, dtype=None)
nl.relu(x, dtype=None)
nl.right_shift(x, y, dtype=None)
nl.rms_norm(x, w, axis, n, epsilon=1e-06, dtype=None, compute_dtype=None)
nl.rsqrt(x, dtype=None)
nl.sbuf
nl.sequential_range(start, stop=None, step=1)
nl.shared_constant(constant)
nl.shared_hbm
nl.shared_identity_matrix(n, dtype=uint8, dst=None)
nl.sigmoid(x, dtype=None)
nl.sign(x, dtype=None)
nl.silu(x, dtype=None)
nl.silu_dx(x, dtype=None)
nl.sin(x, dtype=None)
nl.softmax(x, axis=-1, dtype=None)
nl.softplus(x, dtype=None)
nl.sqrt(x, dtype=None)
nl.square(x, dtype=None)
nl.static_range(start, stop=None, step=1)
nl.store(dst, value)
nl.subtract(x, y, dtype=None)
nl.sum(x, axis, dtype=None, keepdims=False)
nl.tan(x, dtype=None)
nl.tanh(x, dtype=None)
nl.tfloat32
nl.tile_size
nl.transpose(x, dtype=None)
nl.trunc(x, dtype=None)
nl.uint16
nl.uint32
nl.uint8
nl.var(x, axis, dtype=None, keepdims=False)
nl.where(condition, x, y, dtype=None)
nl.while_loop(init, body_fun)
nl.zeros(shape, dtype, buffer=sbuf, name='')
nl.zeros_like(x, dtype=None, buffer=None, name='')
nisa.activate2(dst, op, data, imm0, imm1, op0, op1, relu_param=0.0, reverse0=False, reverse1=False, reduce_op=None,
  reduce_res=None, reduce_cmd=reduce_cmd.idle, name=None) | scalar | v4
nisa.activation(dst, op, data, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=reduce_cmd.idle,
  name=None) | scalar
nisa.activation_reduce(dst, op, data, reduce_op, reduce_res, bias=None, scale=1.0, name=None) | scalar
nisa.affine_select(dst, pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op=equal, offset=0,
  name=None) | gpsimd
nisa.bn_aggr(dst, data, name=None) | vector
nisa.bn_stats(dst, data, name=None) | vector
nisa.core_barrier(data, cores, engine=engine.gpsimd, name=None) | gpsimd
nisa.dge_mode
nisa.dma_compute(dst, srcs, reduce_op, scales=None, unique_indices=True, oob_mode=oob_mode.error, name=None) | dma
nisa.dma_copy(dst, src, priority=None, oob_mode=oob_mode.error, dge_mode=dge_mode.unknown, engine=engine.unknown,
  name=None) | dma
nisa.dma_engine
nisa.dma_transpose(dst, src, axes=None, priority=None, dge_mode=dge_mode.unknown, oob_mode=oob_mode.error,
  name=None) | dma
nisa.dropout(dst, data, prob, name=None) | vector
nisa.engine
nisa.exponential(dst, src, max_value=0.0, reduce_res=None, reduce_cmd=reduce_cmd.idle, reduce_init=0.0, name=None) |
  vector | v4
nisa.get_nc_sub_version()
nisa.get_nc_version()
nisa.iota(dst, pattern, offset=0, channel_multiplier=0, name=None) | gpsimd
nisa.local_gather(dst, src_buffer, index, num_elem_per_idx=1, num_valid_indices=None, name=None) | gpsimd
nisa.matmul_perf_mode
nisa.max8(dst, src, name=None) | vector
nisa.memset(dst, value, engine=engine.unknown, name=None) | vector gpsimd
nisa.nc_find_index8(dst, data, vals, name=None) | vector
nisa.nc_match_replace8(dst, data, vals, imm, dst_idx=None, name=None) | vector
nisa.nc_matmul(dst, stationary, moving, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False,
  accumulate=None, tile_position=(), tile_size=(), perf_mode=matmul_perf_mode.none, name=None) | tensor
nisa.nc_matmul_mx(dst, stationary, moving, stationary_scale, moving_scale, tile_position=None, tile_size=None,
  accumulate=None, name=None) | tensor | v4
nisa.nc_n_gather(dst, data, indices, name=None) | gpsimd
nisa.nc_stream_shuffle(dst, src, shuffle_mask, name=None) | vector
nisa.nc_transpose(dst, data, engine=engine.unknown, name=None) | tensor vector
nisa.nc_version
nisa.nonzero_with_count(dst, src, index_offset=0, padding_val=-1, name=None) | gpsimd | v3
nisa.oob_mode
nisa.quantize_mx(dst, src, dst_scale, name=None) | vector | v4
nisa.rand2(dst, min, max, name=None) | vector | v4
nisa.rand_get_state(dst, engine=engine.gpsimd, name=None) | gpsimd | v3
nisa.rand_set_state(src_seeds, engine=engine.gpsimd, name=None) | gpsimd | v3
nisa.range_select(dst, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd=reduce_cmd.reset_reduce,
  reduce_res=None, reduce_op=maximum, range_start=0, on_false_value=None, name=None) | vector | v3
nisa.reciprocal(dst, data, name=None) | vector scalar
nisa.reduce_cmd
nisa.register_alloc(x=None)
nisa.register_load(dst, src)
nisa.register_move(dst, src)
nisa.register_store(dst, src)
nisa.rng(dst, engine=engine.vector, name=None) | vector gpsimd
nisa.scalar_tensor_tensor(dst, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, name=None) |
  vector
nisa.select_reduce(dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd=reduce_cmd.idle,
  reduce_op=maximum, reverse_pred=False, name=None) | vector
nisa.sendrecv(src, dst, send_to_rank, recv_from_rank, pipe_id, dma_engine=dma_engine.dma, name=None) | dma
nisa.sequence_bounds(dst, segment_ids, name=None) | gpsimd
nisa.set_rng_seed(src_seeds, name=None) | vector
nisa.tensor_copy(dst, src, engine=engine.unknown, name=None) | vector scalar gpsimd
nisa.tensor_copy_predicated(dst, src, predicate, reverse_pred=False, name=None) | vector
nisa.tensor_partition_reduce(dst, op, data, name=None) | gpsimd
nisa.tensor_reduce(dst, op, data, axis, negate=False, keepdims=False, name=None) | vector
nisa.tensor_scalar(dst, data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False,
  engine=engine.unknown, name=None) | vector scalar gpsimd
nisa.tensor_scalar_cumulative(dst, src, op0, op1, imm0, imm1=None, reduce_cmd=reduce_cmd.reset_reduce, name=None) |
  vector
nisa.tensor_scalar_reduce(dst, data, op0, operand0, reduce_op, reduce_res=None, reverse0=False,
  reduce_cmd=reduce_cmd.reset_reduce, reduce_init=None, reduce_res_negate=False, name=None) | vector
nisa.tensor_tensor(dst, data1, data2, op, engine=engine.unknown, name=None) | vector gpsimd
nisa.tensor_tensor_scan(dst, data0, data1, initial, op0, op1, reverse0=False, reverse1=False, name=None) | vector
nisa.topk(val_dst, idx_dst, src, n, sorted=False, name=None) | gpsimd
"""
