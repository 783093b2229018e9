module @m {
  func.func @f(%x : tensor<2xf32>, %y: tensor<2xf32>, %root: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %r:2 = "stablehlo.collective_reduce"(%x, %y, %root) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %0 = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %0 : tensor<f32>
    }) {replica_groups = dense<[[2, 0]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>)
    return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1.0, 20.0]> : tensor<2xf32>
    %b = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
    %c = stablehlo.constant dense<[10.0, 2.0]> : tensor<2xf32>
    %root = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
    %r:6 = "interpreter.run_parallel"(%a, %b, %root, %b, %b, %root, %c, %a, %root) { programs=[[@f], [@f], [@f]]
    } : (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %r#0, dense<[0.0, 0.0]> : tensor<2xf32>
    check.expect_eq_const %r#1, dense<[3.0, 20.0]> : tensor<2xf32>
    check.expect_eq_const %r#2, dense<[0.0, 0.0]> : tensor<2xf32>
    check.expect_eq_const %r#3, dense<[0.0, 0.0]> : tensor<2xf32>
    check.expect_eq_const %r#4, dense<[10.0, 20.0]> : tensor<2xf32>
    check.expect_eq_const %r#5, dense<[0.0, 0.0]> : tensor<2xf32>
    return
  }
}
