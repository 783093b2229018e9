func.func @main() {
    %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %t, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
    %p = stablehlo.pad %x, %zero, low = [0, -1], high = [1, 0], interior = [0, 1] : (tensor<2x3xi32>,
        tensor<i32>) -> tensor<3x4xi32>
    check.expect_eq_const %p, dense<[[0, 2, 0, 3], [0, 5, 0, 6], [0, 0, 0, 0]]> : tensor<3x4xi32>
    %r = stablehlo.reverse %x, dims = [1] : tensor<2x3xi32>
    check.expect_eq_const %r, dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>
    %s = stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xi32>) -> tensor<2x2xi32>
    check.expect_eq_const %s, dense<[[1, 3], [4, 6]]> : tensor<2x2xi32>
    %c = stablehlo.concatenate %x, %r, dim = 1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x6xi32>
    check.expect_eq_const %c, dense<[[1, 2, 3, 3, 2, 1], [4, 5, 6, 6, 5, 4]]> : tensor<2x6xi32>
    %far = stablehlo.constant dense<9> : tensor<i32>
    %d = stablehlo.dynamic_slice %x, %far, %far, sizes = [1, 2] : (tensor<2x3xi32>, tensor<i32>, tensor<i32>)
        -> tensor<1x2xi32>
    check.expect_eq_const %d, dense<[[5, 6]]> : tensor<1x2xi32>
    %u = stablehlo.dynamic_update_slice %x, %d, %zero, %zero : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<i32>,
        tensor<i32>) -> tensor<2x3xi32>
    check.expect_eq_const %u, dense<[[5, 6, 3], [4, 5, 6]]> : tensor<2x3xi32>
  func.return
}
