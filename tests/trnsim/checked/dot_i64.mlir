// a product of 64-bit integers
// expected: EVRF035
func.func @main(%x: tensor<8x8xi64>) -> tensor<8x8xi64> {
  %y = stablehlo.dot %x, %x : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi64>
  return %y : tensor<8x8xi64>
}
