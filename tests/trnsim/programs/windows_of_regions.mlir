func.func @order() {
  // The last number of a window that is not negative: a function that does not commute.
  %x = stablehlo.iota dim = 0 : tensor<20xf32>
  %m = stablehlo.reshape %x : (tensor<20xf32>) -> tensor<4x5xf32>
  %i = stablehlo.constant dense<-1.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%m, %i) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %c = stablehlo.compare LT, %b, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %0 = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) {window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<2x5xf32>
  check.expect_eq_const %r, dense<[[6.0, 7.0, 8.0, 9.0, 9.0], [16.0, 17.0, 18.0, 19.0, 19.0]]> : tensor<2x5xf32>
  return
}

// -----

func.func @twice() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.maximum %b, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %r, dense<3.0> : tensor<f32>
  return
}

// -----

// The number that a window begins with also surrounds the tensor.
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %i = stablehlo.constant dense<10.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, padding = dense<[[2, 0]]> : tensor<1x2xi64>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %r, dense<[31.0, 23.0, 16.0, 19.0]> : tensor<4xf32>
  return
}
