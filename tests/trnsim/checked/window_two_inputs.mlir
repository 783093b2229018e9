// a pooling of two tensors at once
// expected: EVRF019
func.func @main(%x: tensor<8xf32>, %w: tensor<8xf32>, %z: tensor<f32>) -> tensor<7xf32> {
  %y, %v = "stablehlo.reduce_window"(%x, %w, %z, %z) <{window_dimensions = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
      %e = stablehlo.maximum %a, %c : tensor<f32>
      %f = stablehlo.add %b, %d : tensor<f32>
      stablehlo.return %e, %f : tensor<f32>, tensor<f32>
  }) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<7xf32>, tensor<7xf32>)
  return %y : tensor<7xf32>
}
