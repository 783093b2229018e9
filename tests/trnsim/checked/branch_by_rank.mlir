// a collective in a branch that one rank takes
// expected: wait
module @m attributes {mhlo.num_partitions = 2 : i32} {
func.func @main(%x: tensor<8xf32>, %p: tensor<ui32>) -> tensor<8xf32> {
  %z = stablehlo.constant dense<0> : tensor<ui32>
  %r = stablehlo.partition_id : tensor<ui32>
  %c = stablehlo.compare EQ, %r, %z : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %y = "stablehlo.if"(%c) ({
    %a = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%s: tensor<f32>, %t: tensor<f32>):
        %u = stablehlo.add %s, %t : tensor<f32>
        stablehlo.return %u : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %a : tensor<8xf32>
  }, {
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
}
