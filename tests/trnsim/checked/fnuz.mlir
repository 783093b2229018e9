// fp8 of the FNUZ kind
// expected: EVRF005
func.func @main(%x: tensor<8xf8E4M3FNUZ>) -> tensor<8xf32> {
  %y = stablehlo.convert %x : (tensor<8xf8E4M3FNUZ>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
