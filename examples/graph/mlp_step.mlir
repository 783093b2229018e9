// A training step of a small network, as JAX prints one: two layers, mean squared error, gradients, SGD in place.
module @mlp_step {
  func.func public @main(%w1: tensor<256x512xf32> {tf.aliasing_output = 0 : i32},
                         %w2: tensor<512x64xf32> {tf.aliasing_output = 1 : i32},
                         %x: tensor<128x256xf32>, %y: tensor<128x64xf32>)
      -> (tensor<256x512xf32>, tensor<512x64xf32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %a = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0]
        : (tensor<128x256xf32>, tensor<256x512xf32>) -> tensor<128x512xf32>
    %h = stablehlo.maximum %a, %zeros : tensor<128x512xf32>
    %p = stablehlo.dot_general %h, %w2, contracting_dims = [1] x [0]
        : (tensor<128x512xf32>, tensor<512x64xf32>) -> tensor<128x64xf32>
    %d = stablehlo.subtract %p, %y : tensor<128x64xf32>
    %squares = stablehlo.multiply %d, %d : tensor<128x64xf32>
    %sum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<128x64xf32>, tensor<f32>) -> tensor<f32>
    %count = stablehlo.constant dense<8192.0> : tensor<f32>
    %loss = stablehlo.divide %sum, %count : tensor<f32>
    %scale = stablehlo.constant dense<2.44140625e-04> : tensor<128x64xf32>
    %dp = stablehlo.multiply %d, %scale : tensor<128x64xf32>
    %dw2 = stablehlo.dot_general %h, %dp, contracting_dims = [0] x [0]
        : (tensor<128x512xf32>, tensor<128x64xf32>) -> tensor<512x64xf32>
    %dh = stablehlo.dot_general %dp, %w2, contracting_dims = [1] x [1]
        : (tensor<128x64xf32>, tensor<512x64xf32>) -> tensor<128x512xf32>
    %on = stablehlo.compare GT, %a, %zeros : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xi1>
    %da = stablehlo.select %on, %dh, %zeros : tensor<128x512xi1>, tensor<128x512xf32>
    %dw1 = stablehlo.dot_general %x, %da, contracting_dims = [0] x [0]
        : (tensor<128x256xf32>, tensor<128x512xf32>) -> tensor<256x512xf32>
    %rate1 = stablehlo.constant dense<0.1> : tensor<256x512xf32>
    %rate2 = stablehlo.constant dense<0.1> : tensor<512x64xf32>
    %u1 = stablehlo.multiply %dw1, %rate1 : tensor<256x512xf32>
    %u2 = stablehlo.multiply %dw2, %rate2 : tensor<512x64xf32>
    %n1 = stablehlo.subtract %w1, %u1 : tensor<256x512xf32>
    %n2 = stablehlo.subtract %w2, %u2 : tensor<512x64xf32>
    return %n1, %n2, %loss : tensor<256x512xf32>, tensor<512x64xf32>, tensor<f32>
  }
}
