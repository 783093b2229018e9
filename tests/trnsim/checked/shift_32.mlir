// an arithmetic shift of 32 bits
// expected: fine
func.func @main(%x: tensor<8xi32>) -> tensor<8xi32> {
  %y = stablehlo.shift_right_arithmetic %x, %x : tensor<8xi32>
  return %y : tensor<8xi32>
}
