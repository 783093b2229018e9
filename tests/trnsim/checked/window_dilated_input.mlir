// a pooling of a dilated input
// expected: EVRF017
func.func @main(%x: tensor<8xf32>, %z: tensor<f32>) -> tensor<14xf32> {
  %y = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 1>, base_dilations = array<i64: 2>, window_dilations = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<14xf32>
  return %y : tensor<14xf32>
}
