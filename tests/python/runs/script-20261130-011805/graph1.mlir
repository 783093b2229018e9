module @graph1 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "2"} {
  func.func public @main(%arg0: tensor<f32>) -> (tensor<1x2xf32>) {
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1x2xf32>
    return %1 : tensor<1x2xf32>
  }
}
