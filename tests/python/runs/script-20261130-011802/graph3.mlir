module @graph3 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "3"} {
  func.func public @main(%arg0: tensor<24xf32>, %arg1: tensor<i64>) -> (tensor<i1>) {
    %1 = stablehlo.reshape %arg0 : (tensor<24xf32>) -> tensor<4x6xf32>
    %2 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %4 = stablehlo.compare GT, %1, %3 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %5 = stablehlo.constant dense<false> : tensor<i1>
    %6 = stablehlo.reduce(%4 init: %5) applies stablehlo.or across dimensions = [0, 1] : (tensor<4x6xi1>, tensor<i1>) -> tensor<i1>
    return %6 : tensor<i1>
  }
}
