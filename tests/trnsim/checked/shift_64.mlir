// an arithmetic shift of 64 bits
// expected: EVRF022
func.func @main(%x: tensor<8xi64>) -> tensor<8xi64> {
  %y = stablehlo.shift_right_arithmetic %x, %x : tensor<8xi64>
  return %y : tensor<8xi64>
}
