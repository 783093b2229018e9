// a loop whose trips data decides
// expected: refused
func.func @main(%n: tensor<i32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %o : tensor<i32>
      %w = stablehlo.negate %v : tensor<8xf32>
      stablehlo.return %j, %w : tensor<i32>, tensor<8xf32>
    }
  return %r#1 : tensor<8xf32>
}
