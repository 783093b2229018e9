// random bits of a named algorithm
// expected: EVRF006
func.func @main(%s: tensor<2xui64>) -> tensor<8xui32> {
  %t, %y = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  return %y : tensor<8xui32>
}
