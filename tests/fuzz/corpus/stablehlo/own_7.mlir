func.func @main() {
    %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
    %next, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>,
        tensor<2x2xui64>)
    check.expect_eq_const %next, dense<[1, 6]> : tensor<2xui64>
    check.expect_eq_const %bits, dense<[[9236835810183407956, 16087790271692313299], [18212823393184779219,
        2658481902456610144]]> : tensor<2x2xui64>
  func.return
}
