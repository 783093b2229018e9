func.func @main() {
    %a = stablehlo.constant dense<256.0> : tensor<bf16>
    %one = stablehlo.constant dense<1.0> : tensor<bf16>
    %s = stablehlo.add %a, %one : tensor<bf16>
    check.expect_eq_const %s, dense<256.0> : tensor<bf16>
    %w = stablehlo.convert %a : (tensor<bf16>) -> tensor<f32>
    %v = stablehlo.constant dense<1.0> : tensor<f32>
    %t = stablehlo.add %w, %v : tensor<f32>
    check.expect_eq_const %t, dense<257.0> : tensor<f32>
    %big = stablehlo.constant dense<9007199254740993> : tensor<i64>
    %f = stablehlo.convert %big : (tensor<i64>) -> tensor<f32>
    check.expect_eq_const %f, dense<9007199254740992.0> : tensor<f32>
    %n = stablehlo.constant dense<[300.7, -5.9, 0x7FC00000]> : tensor<3xf32>
    %i = stablehlo.convert %n : (tensor<3xf32>) -> tensor<3xi8>
    check.expect_eq_const %i, dense<[127, -5, 0]> : tensor<3xi8>
  func.return
}
