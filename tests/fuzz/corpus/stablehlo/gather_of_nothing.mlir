func.func @main() {
    %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
    %i = stablehlo.constant dense<[[3], [0]]> : tensor<2x1xi32>
    %g = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 0,
        2>}> : (tensor<3x2xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    check.expect_eq_const %g, dense<[[5, 6], [1, 2]]> : tensor<2x2xi32>
    %j = stablehlo.constant dense<[[2], [7], [1]]> : tensor<3x1xi32>
    %u = stablehlo.constant dense<[[10, 20], [30, 40], [50, 60]]> : tensor<3x2xi32>
    %s = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<3x2xi32>, tensor<3x1xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %s, dense<[[1, 2], [63, 84], [5, 6]]> : tensor<3x2xi32>
  func.return
}
