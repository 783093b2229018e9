// replica groups with each rank once
// expected: fine
module @m attributes {mhlo.num_replicas = 4 : i32} {
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%s: tensor<f32>, %t: tensor<f32>):
      %u = stablehlo.add %s, %t : tensor<f32>
      stablehlo.return %u : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
}
