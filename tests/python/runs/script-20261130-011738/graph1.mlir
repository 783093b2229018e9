module @graph1 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "1"} {
  func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xi32>) {
    %1 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xi32>
    return %1 : tensor<2xi32>
  }
}
