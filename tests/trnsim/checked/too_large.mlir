// a tensor of 16 GiB and its negative on a core with 16 GiB
// expected: EOOM001
func.func @main(%x: tensor<4096x1024x1024xf32>) -> tensor<4096x1024x1024xf32> {
  %y = stablehlo.negate %x : tensor<4096x1024x1024xf32>
  return %y : tensor<4096x1024x1024xf32>
}
