func.func @main() {
    %x = stablehlo.constant dense<[[3, 1, 2], [9, 7, 8]]> : tensor<2x3xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>,
        tensor<i32>) -> tensor<2xi32>
    check.expect_eq_const %r, dense<[6, 24]> : tensor<2xi32>
    %w = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>,
        window_dimensions = array<i64: 1, 2>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
    check.expect_eq_const %w, dense<[[3, 3, 2], [9, 9, 8]]> : tensor<2x3xi32>
    %n = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %s:2 = "stablehlo.sort"(%x, %n) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %e = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %e : tensor<i1>
    }) : (tensor<2x3xi32>, tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>)
    check.expect_eq_const %s#0, dense<[[1, 2, 3], [7, 8, 9]]> : tensor<2x3xi32>
    check.expect_eq_const %s#1, dense<[[1, 2, 0], [1, 2, 0]]> : tensor<2x3xi32>
  func.return
}
