// Backwards along the last dimension, with a value of the function around it, another output than the carry, and a
// second carry.
func.func @main() {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %h = stablehlo.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %i = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %n = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = "chlo.scan"(%x, %i, %n) <{dimension = 1 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 2>, resultSegmentSizes = array<i32: 1, 2>}> ({
    ^bb0(%a: tensor<2xf32>, %c: tensor<2xf32>, %k: tensor<i32>):
      %s = stablehlo.multiply %c, %h : tensor<2xf32>
      %t = stablehlo.add %s, %a : tensor<2xf32>
      %o = stablehlo.negate %t : tensor<2xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %m = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %o, %t, %m : tensor<2xf32>, tensor<2xf32>, tensor<i32>
  }) : (tensor<2x3xf32>, tensor<2xf32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<i32>)
  check.expect_eq_const %r#0, dense<[[-2.75, -3.5, -3.0], [-46.0, -21.0, -8.0]]> : tensor<2x3xf32>
  check.expect_eq_const %r#1, dense<[2.75, 46.0]> : tensor<2xf32>
  check.expect_eq_const %r#2, dense<3> : tensor<i32>
  return
}
