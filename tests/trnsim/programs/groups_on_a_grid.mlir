module @m {
  func.func @f(%x : tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<2xf32>, tensor<2xf32>) {
    %r = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %0 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %0 : tensor<f32>
    }) {replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<2xf32>) -> tensor<2xf32>
    %g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    %s = "stablehlo.reduce_scatter"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %0 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %0 : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids} : (tensor<2xf32>) -> tensor<1xf32>
    %p = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    %t = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>} : (tensor<2xf32>) -> tensor<2xf32>
    return %r, %g, %s, %p, %t : tensor<2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<2xf32>, tensor<2xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
    %c = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
    %d = stablehlo.constant dense<[30.0, 40.0]> : tensor<2xf32>
    %r:20 = "interpreter.run_parallel"(%a, %b, %c, %d) { programs=[[@f, @f], [@f, @f]]
    } : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %r#0, dense<[4.0, 6.0]> : tensor<2xf32>
    check.expect_eq_const %r#15, dense<[40.0, 60.0]> : tensor<2xf32>
    check.expect_eq_const %r#1, dense<[10.0, 20.0, 1.0, 2.0]> : tensor<4xf32>
    check.expect_eq_const %r#6, dense<[30.0, 40.0, 3.0, 4.0]> : tensor<4xf32>
    check.expect_eq_const %r#2, dense<[31.0]> : tensor<1xf32>
    check.expect_eq_const %r#17, dense<[42.0]> : tensor<1xf32>
    check.expect_eq_const %r#12, dense<[24.0]> : tensor<1xf32>
    check.expect_eq_const %r#3, dense<[0.0, 0.0]> : tensor<2xf32>
    check.expect_eq_const %r#13, dense<[1.0, 2.0]> : tensor<2xf32>
    check.expect_eq_const %r#18, dense<[3.0, 4.0]> : tensor<2xf32>
    check.expect_eq_const %r#4, dense<[1.0, 3.0]> : tensor<2xf32>
    check.expect_eq_const %r#14, dense<[10.0, 30.0]> : tensor<2xf32>
    check.expect_eq_const %r#19, dense<[20.0, 40.0]> : tensor<2xf32>
    return
  }
}
