module @graph1 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "3"} {
  func.func public @main(%arg0: tensor<24xf32>) -> (tensor<3x4xf32>) {
    %1 = stablehlo.reshape %arg0 : (tensor<24xf32>) -> tensor<4x6xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %3 = stablehlo.slice %2 [1:4:1, 0:4:1] : (tensor<6x4xf32>) -> tensor<3x4xf32>
    return %3 : tensor<3x4xf32>
  }
}
