// a constant of 64 bits without a sign
// expected: ESFH002
func.func @main() -> tensor<ui64> {
  %y = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  return %y : tensor<ui64>
}
