func.func @main() {
    %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
     reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %c = stablehlo.multiply %b, %three : tensor<i32>
      %d = stablehlo.add %a, %c : tensor<i32>
      stablehlo.return %d : tensor<i32>
    }
    check.expect_eq_const %r, dense<30> : tensor<i32>
  func.return
}
