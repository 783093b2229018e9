module @graph1 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "2"} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<3x8xf32>) {
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<8x3xf32>) -> tensor<3x8xf32>
    return %2 : tensor<3x8xf32>
  }
}
