module @graph2 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "3"} {
  func.func public @main(%arg0: tensor<4x6xf32>) -> (tensor<4xf32>) {
    %1 = stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<1x4x6xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x4x6xf32>) -> tensor<2x4x6xf32>
    %3 = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.reduce(%2 init: %3) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<4xf32>
    return %4 : tensor<4xf32>
  }
}
