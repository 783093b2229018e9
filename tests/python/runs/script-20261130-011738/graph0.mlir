module @graph0 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "1"} {
  func.func public @main() -> (tensor<2xf32>) {
    %1 = stablehlo.constant dense<1.0> : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
