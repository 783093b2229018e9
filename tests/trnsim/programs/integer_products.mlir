func.func @bool_dot() {
  %x = stablehlo.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  %y = stablehlo.constant dense<[[true, true], [true, false]]> : tensor<2x2xi1>
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>
  check.expect_eq_const %r, dense<[[true, true], [false, false]]> : tensor<2x2xi1>
  return
}

// -----
func.func @bytes() {
  %x = stablehlo.constant dense<[[100, -100, 3], [1, 2, 3]]> : tensor<2x3xi8>
  %y = stablehlo.constant dense<[[100, 1], [50, 1], [-128, 127]]> : tensor<3x2xi8>
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi32>
  check.expect_eq_const %r, dense<[[4616, 381], [-184, 384]]> : tensor<2x2xi32>
  %n = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi8>
  check.expect_eq_const %n, dense<[[8, 125], [72, -128]]> : tensor<2x2xi8>
  return
}

// -----
func.func @conv() {
  %x = stablehlo.constant dense<[[[1], [2], [-3], [4]]]> : tensor<1x4x1xi32>
  %k = stablehlo.constant dense<[[[2]], [[-1]]]> : tensor<2x1x1xi32>
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi32>, tensor<2x1x1xi32>) -> tensor<1x3x1xi32>
  check.expect_eq_const %r, dense<[[[0], [7], [-10]]]> : tensor<1x3x1xi32>
  return
}
