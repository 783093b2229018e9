// top-k of integers
// expected: EVRF013
func.func @main(%x: tensor<8xi32>) -> tensor<3xi32> {
  %v, %i = chlo.top_k(%x, k = 3) : tensor<8xi32> -> (tensor<3xi32>, tensor<3xi32>)
  return %v : tensor<3xi32>
}
