func.func @main() {
    %a = stablehlo.constant dense<[-128, 7, -7, 5]> : tensor<4xi8>
    %b = stablehlo.constant dense<[-1, -2, 2, 0]> : tensor<4xi8>
    %q = stablehlo.divide %a, %b : tensor<4xi8>
    check.expect_eq_const %q, dense<[-128, -3, -3, -1]> : tensor<4xi8>
    %r = stablehlo.remainder %a, %b : tensor<4xi8>
    check.expect_eq_const %r, dense<[0, 1, -1, 5]> : tensor<4xi8>
    %u = stablehlo.constant dense<[18446744073709551615, 2]> : tensor<2xui64>
    %w = stablehlo.constant dense<[2, 3]> : tensor<2xui64>
    %x = stablehlo.maximum %u, %w : tensor<2xui64>
    check.expect_eq_const %x, dense<[18446744073709551615, 3]> : tensor<2xui64>
    %y = stablehlo.divide %u, %w : tensor<2xui64>
    check.expect_eq_const %y, dense<[9223372036854775807, 0]> : tensor<2xui64>
    %p = stablehlo.power %a, %b : tensor<4xi8>
    check.expect_eq_const %p, dense<[0, 0, 49, 1]> : tensor<4xi8>
    %n = stablehlo.constant dense<[1, 9, -1, 3]> : tensor<4xi8>
    %s = stablehlo.shift_left %a, %n : tensor<4xi8>
    check.expect_eq_const %s, dense<[0, 0, 0, 40]> : tensor<4xi8>
    %t = stablehlo.shift_right_arithmetic %a, %n : tensor<4xi8>
    check.expect_eq_const %t, dense<[-64, 0, -1, 0]> : tensor<4xi8>
  func.return
}
