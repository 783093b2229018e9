// f8E4M3FN on Trn1
// expected: EVRF051
func.func @main(%x: tensor<8xf32>) -> tensor<8xf8E4M3FN> {
  %y = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  return %y : tensor<8xf8E4M3FN>
}
