// top-k of numbers in f32
// expected: fine
func.func @main(%x: tensor<8xf32>) -> tensor<3xf32> {
  %v, %i = chlo.top_k(%x, k = 3) : tensor<8xf32> -> (tensor<3xf32>, tensor<3xi32>)
  return %v : tensor<3xf32>
}
