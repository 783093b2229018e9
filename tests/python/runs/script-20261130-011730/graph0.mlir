module @graph0 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "41"} {
  func.func public @main(%arg0: tensor<3x8xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4x8xf32>, %arg3: tensor<f32>, %arg4: tensor<4xi64>, %arg5: tensor<i64>, %arg6: tensor<4x8xf32>, %arg7: tensor<4xi64>, %arg8: tensor<f32> {tf.aliasing_output = 3 : i32}) -> (tensor<f32>, tensor<1x3xf32>, tensor<3x8xf32>, tensor<f32>) {
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %2 = stablehlo.dot_general %arg2, %1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
    %3 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
    %4 = stablehlo.add %2, %3 : tensor<4x3xf32>
    %5 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %6 = stablehlo.divide %4, %5 : tensor<4x3xf32>
    %7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.reduce(%6 init: %7) applies stablehlo.maximum across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %10 = stablehlo.subtract %6, %9 : tensor<4x3xf32>
    %11 = stablehlo.exponential %10 : tensor<4x3xf32>
    %12 = stablehlo.constant dense<0.0> : tensor<f32>
    %13 = stablehlo.reduce(%11 init: %12) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %15 = stablehlo.log %14 : tensor<4x3xf32>
    %16 = stablehlo.subtract %10, %15 : tensor<4x3xf32>
    %17 = stablehlo.constant dense<-100> : tensor<4xi64>
    %18 = stablehlo.compare NE, %arg4, %17 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
    %19 = stablehlo.iota dim = 1 : tensor<4x3xi64>
    %20 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4xi64>) -> tensor<4x3xi64>
    %21 = stablehlo.compare EQ, %19, %20 : (tensor<4x3xi64>, tensor<4x3xi64>) -> tensor<4x3xi1>
    %22 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<4xi1>) -> tensor<4x3xi1>
    %23 = stablehlo.and %21, %22 : tensor<4x3xi1>
    %24 = stablehlo.constant dense<1.0> : tensor<4x3xf32>
    %25 = stablehlo.multiply %16, %24 : tensor<4x3xf32>
    %26 = stablehlo.constant dense<0.0> : tensor<4x3xf32>
    %27 = stablehlo.select %23, %25, %26 : tensor<4x3xi1>, tensor<4x3xf32>
    %28 = stablehlo.reduce(%27 init: %12) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %29 = stablehlo.negate %28 : tensor<4xf32>
    %30 = stablehlo.select %23, %24, %26 : tensor<4x3xi1>, tensor<4x3xf32>
    %31 = stablehlo.reduce(%30 init: %12) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %32 = stablehlo.reduce(%31 init: %12) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %33 = stablehlo.reduce(%29 init: %12) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %34 = stablehlo.divide %33, %32 : tensor<f32>
    %35 = stablehlo.convert %arg5 : (tensor<i64>) -> tensor<f32>
    %36 = stablehlo.divide %34, %35 : tensor<f32>
    %37 = stablehlo.constant dense<1.0> : tensor<f32>
    %38 = stablehlo.divide %37, %35 : tensor<f32>
    %39 = stablehlo.constant dense<1.0> : tensor<f32>
    %40 = stablehlo.constant dense<0.0> : tensor<f32>
    %41 = stablehlo.compare NE, %32, %40 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %42 = stablehlo.select %41, %32, %39 : tensor<i1>, tensor<f32>
    %43 = stablehlo.divide %38, %42 : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %45 = stablehlo.multiply %44, %24 : tensor<4x3xf32>
    %46 = stablehlo.negate %45 : tensor<4x3xf32>
    %47 = stablehlo.select %23, %46, %26 : tensor<4x3xi1>, tensor<4x3xf32>
    %48 = stablehlo.reduce(%47 init: %12) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %50 = stablehlo.exponential %16 : tensor<4x3xf32>
    %51 = stablehlo.multiply %50, %49 : tensor<4x3xf32>
    %52 = stablehlo.subtract %47, %51 : tensor<4x3xf32>
    %53 = stablehlo.divide %52, %5 : tensor<4x3xf32>
    %54 = stablehlo.reduce(%53 init: %12) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
    %55 = stablehlo.reshape %54 : (tensor<3xf32>) -> tensor<1x3xf32>
    %56 = stablehlo.reshape %55 : (tensor<1x3xf32>) -> tensor<3xf32>
    %57 = stablehlo.dot_general %arg6, %1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
    %58 = stablehlo.add %57, %3 : tensor<4x3xf32>
    %59 = stablehlo.divide %58, %5 : tensor<4x3xf32>
    %60 = stablehlo.reduce(%59 init: %7) applies stablehlo.maximum across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %62 = stablehlo.subtract %59, %61 : tensor<4x3xf32>
    %63 = stablehlo.exponential %62 : tensor<4x3xf32>
    %64 = stablehlo.reduce(%63 init: %12) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %66 = stablehlo.log %65 : tensor<4x3xf32>
    %67 = stablehlo.subtract %62, %66 : tensor<4x3xf32>
    %68 = stablehlo.compare NE, %arg7, %17 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
    %69 = stablehlo.broadcast_in_dim %arg7, dims = [0] : (tensor<4xi64>) -> tensor<4x3xi64>
    %70 = stablehlo.compare EQ, %19, %69 : (tensor<4x3xi64>, tensor<4x3xi64>) -> tensor<4x3xi1>
    %71 = stablehlo.broadcast_in_dim %68, dims = [0] : (tensor<4xi1>) -> tensor<4x3xi1>
    %72 = stablehlo.and %70, %71 : tensor<4x3xi1>
    %73 = stablehlo.multiply %67, %24 : tensor<4x3xf32>
    %74 = stablehlo.select %72, %73, %26 : tensor<4x3xi1>, tensor<4x3xf32>
    %75 = stablehlo.reduce(%74 init: %12) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %76 = stablehlo.negate %75 : tensor<4xf32>
    %77 = stablehlo.select %72, %24, %26 : tensor<4x3xi1>, tensor<4x3xf32>
    %78 = stablehlo.reduce(%77 init: %12) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %79 = stablehlo.reduce(%78 init: %12) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %80 = stablehlo.reduce(%76 init: %12) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %81 = stablehlo.divide %80, %79 : tensor<f32>
    %82 = stablehlo.divide %81, %35 : tensor<f32>
    %83 = stablehlo.compare NE, %79, %40 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %84 = stablehlo.select %83, %79, %39 : tensor<i1>, tensor<f32>
    %85 = stablehlo.divide %38, %84 : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %87 = stablehlo.multiply %86, %24 : tensor<4x3xf32>
    %88 = stablehlo.negate %87 : tensor<4x3xf32>
    %89 = stablehlo.select %72, %88, %26 : tensor<4x3xi1>, tensor<4x3xf32>
    %90 = stablehlo.reduce(%89 init: %12) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %92 = stablehlo.exponential %67 : tensor<4x3xf32>
    %93 = stablehlo.multiply %92, %91 : tensor<4x3xf32>
    %94 = stablehlo.subtract %89, %93 : tensor<4x3xf32>
    %95 = stablehlo.divide %94, %5 : tensor<4x3xf32>
    %96 = stablehlo.reduce(%95 init: %12) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
    %97 = stablehlo.reshape %96 : (tensor<3xf32>) -> tensor<1x3xf32>
    %98 = stablehlo.reshape %97 : (tensor<1x3xf32>) -> tensor<3xf32>
    %99 = stablehlo.add %98, %56 : tensor<3xf32>
    %100 = stablehlo.reshape %99 : (tensor<3xf32>) -> tensor<1x3xf32>
    %101 = stablehlo.transpose %53, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %102 = stablehlo.dot_general %101, %arg2, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
    %103 = stablehlo.transpose %102, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %104 = stablehlo.transpose %103, dims = [1, 0] : (tensor<8x3xf32>) -> tensor<3x8xf32>
    %105 = stablehlo.transpose %95, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %106 = stablehlo.dot_general %105, %arg6, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
    %107 = stablehlo.transpose %106, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %108 = stablehlo.transpose %107, dims = [1, 0] : (tensor<8x3xf32>) -> tensor<3x8xf32>
    %109 = stablehlo.add %108, %104 : tensor<3x8xf32>
    %110 = stablehlo.transpose %109, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %111 = stablehlo.transpose %110, dims = [1, 0] : (tensor<8x3xf32>) -> tensor<3x8xf32>
    %112 = stablehlo.add %arg8, %82 : tensor<f32>
    %113 = stablehlo.add %112, %36 : tensor<f32>
    return %36, %100, %111, %113 : tensor<f32>, tensor<1x3xf32>, tensor<3x8xf32>, tensor<f32>
  }
}
