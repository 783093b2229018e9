module @graph0 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "43"} {
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<24xf32> {tf.aliasing_output = 0 : i32}, %arg2: tensor<i64>, %arg3: tensor<i64>) -> (tensor<24xf32>, tensor<4x6xf32>, tensor<24xf32>) {
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.reshape %arg1 : (tensor<24xf32>) -> tensor<4x6xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %4 = stablehlo.slice %3 [1:4:1, 0:4:1] : (tensor<6x4xf32>) -> tensor<3x4xf32>
    %5 = stablehlo.convert %arg2 : (tensor<i64>) -> tensor<f32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %7 = stablehlo.multiply %4, %6 : tensor<3x4xf32>
    %8 = stablehlo.constant dense<0.0> : tensor<f32>
    %9 = stablehlo.pad %7, %8, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<6x4xf32>
    %10 = stablehlo.constant dense<true> : tensor<3x4xi1>
    %11 = stablehlo.constant dense<false> : tensor<i1>
    %12 = stablehlo.pad %10, %11, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<3x4xi1>, tensor<i1>) -> tensor<6x4xi1>
    %13 = stablehlo.select %12, %9, %3 : tensor<6x4xi1>, tensor<6x4xf32>
    %14 = stablehlo.transpose %13, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
    %15 = stablehlo.reshape %14 : (tensor<4x6xf32>) -> tensor<24xf32>
    %16 = stablehlo.reshape %15 : (tensor<24xf32>) -> tensor<4x6xf32>
    %17 = stablehlo.slice %16 [0:4:1, 5:6:1] : (tensor<4x6xf32>) -> tensor<4x1xf32>
    %18 = stablehlo.reshape %17 : (tensor<4x1xf32>) -> tensor<4xf32>
    %19 = stablehlo.transpose %16, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %20 = stablehlo.slice %19 [1:4:1, 0:4:1] : (tensor<6x4xf32>) -> tensor<3x4xf32>
    %21 = stablehlo.slice %20 [0:1:1, 0:4:1] : (tensor<3x4xf32>) -> tensor<1x4xf32>
    %22 = stablehlo.reshape %21 : (tensor<1x4xf32>) -> tensor<4xf32>
    %23 = stablehlo.add %22, %18 : tensor<4xf32>
    %24 = stablehlo.reshape %23 : (tensor<4xf32>) -> tensor<1x4xf32>
    %25 = stablehlo.pad %24, %8, low = [0, 0], high = [2, 0], interior = [0, 0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %26 = stablehlo.constant dense<true> : tensor<1x4xi1>
    %27 = stablehlo.pad %26, %11, low = [0, 0], high = [2, 0], interior = [0, 0] : (tensor<1x4xi1>, tensor<i1>) -> tensor<3x4xi1>
    %28 = stablehlo.select %27, %25, %20 : tensor<3x4xi1>, tensor<3x4xf32>
    %29 = stablehlo.pad %28, %8, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<6x4xf32>
    %30 = stablehlo.select %12, %29, %19 : tensor<6x4xi1>, tensor<6x4xf32>
    %31 = stablehlo.transpose %30, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
    %32 = stablehlo.reshape %31 : (tensor<4x6xf32>) -> tensor<24xf32>
    %33 = stablehlo.reshape %32 : (tensor<24xf32>) -> tensor<4x6xf32>
    %34 = stablehlo.slice %33 [1:2:1, 0:6:1] : (tensor<4x6xf32>) -> tensor<1x6xf32>
    %35 = stablehlo.reshape %34 : (tensor<1x6xf32>) -> tensor<6xf32>
    %36 = stablehlo.pad %1, %8, low = [0], high = [1], interior = [1] : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
    %37 = stablehlo.constant dense<true> : tensor<3xi1>
    %38 = stablehlo.pad %37, %11, low = [0], high = [1], interior = [1] : (tensor<3xi1>, tensor<i1>) -> tensor<6xi1>
    %39 = stablehlo.select %38, %36, %35 : tensor<6xi1>, tensor<6xf32>
    %40 = stablehlo.reshape %39 : (tensor<6xf32>) -> tensor<1x6xf32>
    %41 = stablehlo.pad %40, %8, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<1x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    %42 = stablehlo.constant dense<true> : tensor<1x6xi1>
    %43 = stablehlo.pad %42, %11, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<1x6xi1>, tensor<i1>) -> tensor<4x6xi1>
    %44 = stablehlo.select %43, %41, %33 : tensor<4x6xi1>, tensor<4x6xf32>
    %45 = stablehlo.reshape %44 : (tensor<4x6xf32>) -> tensor<24xf32>
    %46 = stablehlo.reshape %45 : (tensor<24xf32>) -> tensor<4x6xf32>
    %47 = stablehlo.convert %arg3 : (tensor<i64>) -> tensor<f32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %49 = stablehlo.compare GT, %46, %48 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %50 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %51 = stablehlo.select %49, %50, %46 : tensor<4x6xi1>, tensor<4x6xf32>
    %52 = stablehlo.reshape %51 : (tensor<4x6xf32>) -> tensor<24xf32>
    %53 = stablehlo.reshape %52 : (tensor<24xf32>) -> tensor<4x6xf32>
    %54 = stablehlo.reshape %53 : (tensor<4x6xf32>) -> tensor<24xf32>
    return %52, %53, %54 : tensor<24xf32>, tensor<4x6xf32>, tensor<24xf32>
  }
}
