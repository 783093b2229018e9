// a Cholesky factorization
// expected: EVRF001
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = "stablehlo.cholesky"(%x) <{lower = true}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
