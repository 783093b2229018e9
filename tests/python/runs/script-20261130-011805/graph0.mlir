module @graph0 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "4"} {
  func.func public @main(%arg0: tensor<5x2xf32>, %arg1: tensor<1xi64>) -> (tensor<f32>, tensor<f32>, tensor<1x1xi64>) {
    %1 = stablehlo.constant dense<0> : tensor<1xi64>
    %2 = stablehlo.compare LT, %arg1, %1 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %3 = stablehlo.constant dense<4> : tensor<1xi64>
    %4 = stablehlo.select %2, %3, %arg1 : tensor<1xi1>, tensor<1xi64>
    %5 = stablehlo.reshape %4 : (tensor<1xi64>) -> tensor<1x1xi64>
    %6 = "stablehlo.gather"(%arg0, %5) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>, indices_are_sorted = false} : (tensor<5x2xf32>, tensor<1x1xi64>) -> tensor<1x2xf32>
    %7 = stablehlo.constant dense<0.0> : tensor<f32>
    %8 = stablehlo.reduce(%6 init: %7) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x2xf32>, tensor<f32>) -> tensor<f32>
    %9 = stablehlo.constant dense<1.0> : tensor<f32>
    %10 = stablehlo.reshape %arg1 : (tensor<1xi64>) -> tensor<1x1xi64>
    return %8, %9, %10 : tensor<f32>, tensor<f32>, tensor<1x1xi64>
  }
}
