// a tensor of 4 GiB and its negative
// expected: fine
func.func @main(%x: tensor<1024x1024x1024xf32>) -> tensor<1024x1024x1024xf32> {
  %y = stablehlo.negate %x : tensor<1024x1024x1024xf32>
  return %y : tensor<1024x1024x1024xf32>
}
