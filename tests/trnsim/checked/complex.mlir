// a product of complex numbers
// expected: EVRF004
func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %y = stablehlo.multiply %x, %x : tensor<8xcomplex<f32>>
  return %y : tensor<8xcomplex<f32>>
}
