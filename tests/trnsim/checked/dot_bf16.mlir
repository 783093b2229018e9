// a product in bf16
// expected: fine
func.func @main(%x: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %y = stablehlo.dot %x, %x : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  return %y : tensor<8x8xbf16>
}
