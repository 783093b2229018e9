func.func @main() {
    %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %b = stablehlo.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
    %m = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>)
        -> tensor<2x2xf32>
    check.expect_eq_const %m, dense<[[19.0, 22.0], [43.0, 50.0]]> : tensor<2x2xf32>
    %v = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x2xf32>,
        tensor<2x2xf32>) -> tensor<2xf32>
    check.expect_eq_const %v, dense<[17.0, 53.0]> : tensor<2xf32>
    %x = stablehlo.constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
    %k = stablehlo.constant dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>
    %c = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2],
        pad = [[1, 1]], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1xf32>
    check.expect_eq_const %c, dense<[[[20.0], [42.0]]]> : tensor<1x2x1xf32>
    %e = "stablehlo.einsum"(%a, %b) {einsum_config = "ij,kj->ik"} : (tensor<2x2xf32>, tensor<2x2xf32>)
        -> tensor<2x2xf32>
    check.expect_eq_const %e, dense<[[17.0, 23.0], [39.0, 53.0]]> : tensor<2x2xf32>
  func.return
}
