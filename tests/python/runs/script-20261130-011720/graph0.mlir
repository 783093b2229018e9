module @graph0 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "141"} {
  func.func public @main(%arg0: tensor<i64> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4x1x14x14xf32>, %arg2: tensor<8x1x3x3xf32> {tf.aliasing_output = 14 : i32}, %arg3: tensor<8xf32> {tf.aliasing_output = 17 : i32}, %arg4: tensor<16x8x3x3xf32> {tf.aliasing_output = 20 : i32}, %arg5: tensor<16xf32> {tf.aliasing_output = 23 : i32}, %arg6: tensor<16xf32> {tf.aliasing_output = 26 : i32}, %arg7: tensor<16xf32> {tf.aliasing_output = 29 : i32}, %arg8: tensor<16xf32> {tf.aliasing_output = 1 : i32}, %arg9: tensor<f32>, %arg10: tensor<f32>, %arg11: tensor<16xf32> {tf.aliasing_output = 2 : i32}, %arg12: tensor<10x400xf32> {tf.aliasing_output = 32 : i32}, %arg13: tensor<4x16x5x5xf32>, %arg14: tensor<f32>, %arg15: tensor<10xf32> {tf.aliasing_output = 35 : i32}, %arg16: tensor<4xi64>, %arg17: tensor<f32>, %arg18: tensor<f32>, %arg19: tensor<f32>) -> (tensor<i64>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<10x400xf32>, tensor<1x10xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<8x1x3x3xf32>, tensor<8x1x3x3xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<10x400xf32>, tensor<10x400xf32>, tensor<10x400xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) {
    %1 = stablehlo.constant dense<1> : tensor<i64>
    %2 = stablehlo.add %arg0, %1 : tensor<i64>
    %3 = stablehlo.convolution(%arg1, %arg2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x1x14x14xf32>, tensor<8x1x3x3xf32>) -> tensor<4x8x12x12xf32>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<8xf32>) -> tensor<4x8x12x12xf32>
    %5 = stablehlo.add %3, %4 : tensor<4x8x12x12xf32>
    %6 = stablehlo.constant dense<0.0> : tensor<4x8x12x12xf32>
    %7 = stablehlo.maximum %5, %6 : tensor<4x8x12x12xf32>
    %8 = stablehlo.convolution(%7, %arg4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x12x12xf32>, tensor<16x8x3x3xf32>) -> tensor<4x16x10x10xf32>
    %9 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<16xf32>) -> tensor<4x16x10x10xf32>
    %10 = stablehlo.add %8, %9 : tensor<4x16x10x10xf32>
    %11 = stablehlo.constant dense<1e-05> : tensor<f32>
    %12 = stablehlo.reshape %arg7 : (tensor<16xf32>) -> tensor<16x1xf32>
    %13 = stablehlo.reshape %12 : (tensor<16x1xf32>) -> tensor<16x1x1xf32>
    %14 = stablehlo.reshape %arg6 : (tensor<16xf32>) -> tensor<16x1xf32>
    %15 = stablehlo.reshape %14 : (tensor<16x1xf32>) -> tensor<16x1x1xf32>
    %16 = stablehlo.constant dense<400.0> : tensor<4x16x10x10xf32>
    %17 = stablehlo.constant dense<0.0> : tensor<f32>
    %18 = stablehlo.reduce(%10 init: %17) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x16x10x10xf32>, tensor<f32>) -> tensor<16xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [1] : (tensor<16xf32>) -> tensor<4x16x10x10xf32>
    %20 = stablehlo.divide %19, %16 : tensor<4x16x10x10xf32>
    %21 = stablehlo.subtract %10, %20 : tensor<4x16x10x10xf32>
    %22 = stablehlo.multiply %21, %21 : tensor<4x16x10x10xf32>
    %23 = stablehlo.reduce(%22 init: %17) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x16x10x10xf32>, tensor<f32>) -> tensor<16xf32>
    %24 = stablehlo.constant dense<400.0> : tensor<16xf32>
    %25 = stablehlo.divide %18, %24 : tensor<16xf32>
    %26 = stablehlo.divide %23, %24 : tensor<16xf32>
    %27 = stablehlo.reshape %26 : (tensor<16xf32>) -> tensor<1x16x1x1xf32>
    %28 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<1x16x1x1xf32>
    %29 = stablehlo.add %27, %28 : tensor<1x16x1x1xf32>
    %30 = stablehlo.rsqrt %29 : tensor<1x16x1x1xf32>
    %31 = stablehlo.reshape %25 : (tensor<16xf32>) -> tensor<1x16x1x1xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %33 = stablehlo.subtract %10, %32 : tensor<4x16x10x10xf32>
    %34 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %35 = stablehlo.multiply %33, %34 : tensor<4x16x10x10xf32>
    %36 = stablehlo.broadcast_in_dim %15, dims = [1, 2, 3] : (tensor<16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %37 = stablehlo.multiply %35, %36 : tensor<4x16x10x10xf32>
    %38 = stablehlo.broadcast_in_dim %13, dims = [1, 2, 3] : (tensor<16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %39 = stablehlo.add %37, %38 : tensor<4x16x10x10xf32>
    %40 = stablehlo.reshape %31 : (tensor<1x16x1x1xf32>) -> tensor<1x16x1xf32>
    %41 = stablehlo.reshape %40 : (tensor<1x16x1xf32>) -> tensor<1x16xf32>
    %42 = stablehlo.reshape %41 : (tensor<1x16xf32>) -> tensor<16xf32>
    %43 = stablehlo.reshape %30 : (tensor<1x16x1x1xf32>) -> tensor<1x16x1xf32>
    %44 = stablehlo.reshape %43 : (tensor<1x16x1xf32>) -> tensor<1x16xf32>
    %45 = stablehlo.reshape %44 : (tensor<1x16xf32>) -> tensor<16xf32>
    %46 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %47 = stablehlo.multiply %arg8, %46 : tensor<16xf32>
    %48 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %49 = stablehlo.multiply %42, %48 : tensor<16xf32>
    %50 = stablehlo.add %47, %49 : tensor<16xf32>
    %51 = stablehlo.constant dense<399.0> : tensor<16xf32>
    %52 = stablehlo.divide %23, %51 : tensor<16xf32>
    %53 = stablehlo.multiply %arg11, %46 : tensor<16xf32>
    %54 = stablehlo.multiply %52, %48 : tensor<16xf32>
    %55 = stablehlo.add %53, %54 : tensor<16xf32>
    %56 = stablehlo.transpose %arg12, dims = [1, 0] : (tensor<10x400xf32>) -> tensor<400x10xf32>
    %57 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<4x16x5x5xf32>
    %58 = stablehlo.divide %arg13, %57 : tensor<4x16x5x5xf32>
    %59 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %63 = "stablehlo.reduce_window"(%39, %59) ({
      ^bb0(%60: tensor<f32>, %61: tensor<f32>):
      %62 = stablehlo.maximum %60, %61 : tensor<f32>
      stablehlo.return %62 : tensor<f32>
    }) {window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>, padding = dense<[[0, 0], [0, 0], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>} : (tensor<4x16x10x10xf32>, tensor<f32>) -> tensor<4x16x5x5xf32>
    %64 = stablehlo.iota dim = 0 : tensor<100xi64>
    %65 = stablehlo.reshape %64 : (tensor<100xi64>) -> tensor<10x10xi64>
    %66 = stablehlo.broadcast_in_dim %65, dims = [2, 3] : (tensor<10x10xi64>) -> tensor<4x16x10x10xi64>
    %67 = stablehlo.pad %39, %59, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<4x16x10x10xf32>, tensor<f32>) -> tensor<4x16x10x10xf32>
    %68 = stablehlo.constant dense<0> : tensor<i64>
    %69 = stablehlo.pad %66, %68, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<4x16x10x10xi64>, tensor<i64>) -> tensor<4x16x10x10xi64>
    %70 = stablehlo.slice %67 [0:4:1, 0:16:1, 0:9:2, 0:9:2] : (tensor<4x16x10x10xf32>) -> tensor<4x16x5x5xf32>
    %71 = stablehlo.slice %69 [0:4:1, 0:16:1, 0:9:2, 0:9:2] : (tensor<4x16x10x10xi64>) -> tensor<4x16x5x5xi64>
    %72 = stablehlo.slice %67 [0:4:1, 0:16:1, 0:9:2, 1:10:2] : (tensor<4x16x10x10xf32>) -> tensor<4x16x5x5xf32>
    %73 = stablehlo.slice %69 [0:4:1, 0:16:1, 0:9:2, 1:10:2] : (tensor<4x16x10x10xi64>) -> tensor<4x16x5x5xi64>
    %74 = stablehlo.compare GT, %72, %70 : (tensor<4x16x5x5xf32>, tensor<4x16x5x5xf32>) -> tensor<4x16x5x5xi1>
    %75 = stablehlo.select %74, %72, %70 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %76 = stablehlo.select %74, %73, %71 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xi64>
    %77 = stablehlo.slice %67 [0:4:1, 0:16:1, 1:10:2, 0:9:2] : (tensor<4x16x10x10xf32>) -> tensor<4x16x5x5xf32>
    %78 = stablehlo.slice %69 [0:4:1, 0:16:1, 1:10:2, 0:9:2] : (tensor<4x16x10x10xi64>) -> tensor<4x16x5x5xi64>
    %79 = stablehlo.compare GT, %77, %75 : (tensor<4x16x5x5xf32>, tensor<4x16x5x5xf32>) -> tensor<4x16x5x5xi1>
    %80 = stablehlo.select %79, %77, %75 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %81 = stablehlo.select %79, %78, %76 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xi64>
    %82 = stablehlo.slice %67 [0:4:1, 0:16:1, 1:10:2, 1:10:2] : (tensor<4x16x10x10xf32>) -> tensor<4x16x5x5xf32>
    %83 = stablehlo.slice %69 [0:4:1, 0:16:1, 1:10:2, 1:10:2] : (tensor<4x16x10x10xi64>) -> tensor<4x16x5x5xi64>
    %84 = stablehlo.compare GT, %82, %80 : (tensor<4x16x5x5xf32>, tensor<4x16x5x5xf32>) -> tensor<4x16x5x5xi1>
    %85 = stablehlo.select %84, %82, %80 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %86 = stablehlo.select %84, %83, %81 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xi64>
    %87 = stablehlo.multiply %63, %58 : tensor<4x16x5x5xf32>
    %88 = stablehlo.reshape %87 : (tensor<4x16x5x5xf32>) -> tensor<4x400xf32>
    %89 = stablehlo.dot_general %88, %56, contracting_dims = [1] x [0] : (tensor<4x400xf32>, tensor<400x10xf32>) -> tensor<4x10xf32>
    %90 = stablehlo.broadcast_in_dim %arg15, dims = [1] : (tensor<10xf32>) -> tensor<4x10xf32>
    %91 = stablehlo.add %89, %90 : tensor<4x10xf32>
    %92 = stablehlo.reduce(%91 init: %59) applies stablehlo.maximum across dimensions = [1] : (tensor<4x10xf32>, tensor<f32>) -> tensor<4xf32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [0] : (tensor<4xf32>) -> tensor<4x10xf32>
    %94 = stablehlo.subtract %91, %93 : tensor<4x10xf32>
    %95 = stablehlo.exponential %94 : tensor<4x10xf32>
    %96 = stablehlo.reduce(%95 init: %17) applies stablehlo.add across dimensions = [1] : (tensor<4x10xf32>, tensor<f32>) -> tensor<4xf32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0] : (tensor<4xf32>) -> tensor<4x10xf32>
    %98 = stablehlo.log %97 : tensor<4x10xf32>
    %99 = stablehlo.subtract %94, %98 : tensor<4x10xf32>
    %100 = stablehlo.constant dense<-100> : tensor<4xi64>
    %101 = stablehlo.compare NE, %arg16, %100 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
    %102 = stablehlo.iota dim = 1 : tensor<4x10xi64>
    %103 = stablehlo.broadcast_in_dim %arg16, dims = [0] : (tensor<4xi64>) -> tensor<4x10xi64>
    %104 = stablehlo.compare EQ, %102, %103 : (tensor<4x10xi64>, tensor<4x10xi64>) -> tensor<4x10xi1>
    %105 = stablehlo.broadcast_in_dim %101, dims = [0] : (tensor<4xi1>) -> tensor<4x10xi1>
    %106 = stablehlo.and %104, %105 : tensor<4x10xi1>
    %107 = stablehlo.constant dense<1.0> : tensor<4x10xf32>
    %108 = stablehlo.multiply %99, %107 : tensor<4x10xf32>
    %109 = stablehlo.constant dense<0.0> : tensor<4x10xf32>
    %110 = stablehlo.select %106, %108, %109 : tensor<4x10xi1>, tensor<4x10xf32>
    %111 = stablehlo.reduce(%110 init: %17) applies stablehlo.add across dimensions = [1] : (tensor<4x10xf32>, tensor<f32>) -> tensor<4xf32>
    %112 = stablehlo.negate %111 : tensor<4xf32>
    %113 = stablehlo.select %106, %107, %109 : tensor<4x10xi1>, tensor<4x10xf32>
    %114 = stablehlo.reduce(%113 init: %17) applies stablehlo.add across dimensions = [1] : (tensor<4x10xf32>, tensor<f32>) -> tensor<4xf32>
    %115 = stablehlo.reduce(%114 init: %17) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %116 = stablehlo.reduce(%112 init: %17) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %117 = stablehlo.divide %116, %115 : tensor<f32>
    %118 = stablehlo.constant dense<1.0> : tensor<f32>
    %119 = stablehlo.constant dense<1.0> : tensor<f32>
    %120 = stablehlo.constant dense<0.0> : tensor<f32>
    %121 = stablehlo.compare NE, %115, %120 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %122 = stablehlo.select %121, %115, %119 : tensor<i1>, tensor<f32>
    %123 = stablehlo.divide %118, %122 : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %123, dims = [] : (tensor<f32>) -> tensor<4x10xf32>
    %125 = stablehlo.multiply %124, %107 : tensor<4x10xf32>
    %126 = stablehlo.negate %125 : tensor<4x10xf32>
    %127 = stablehlo.select %106, %126, %109 : tensor<4x10xi1>, tensor<4x10xf32>
    %128 = stablehlo.reduce(%127 init: %17) applies stablehlo.add across dimensions = [1] : (tensor<4x10xf32>, tensor<f32>) -> tensor<4xf32>
    %129 = stablehlo.broadcast_in_dim %128, dims = [0] : (tensor<4xf32>) -> tensor<4x10xf32>
    %130 = stablehlo.exponential %99 : tensor<4x10xf32>
    %131 = stablehlo.multiply %130, %129 : tensor<4x10xf32>
    %132 = stablehlo.subtract %127, %131 : tensor<4x10xf32>
    %133 = stablehlo.transpose %132, dims = [1, 0] : (tensor<4x10xf32>) -> tensor<10x4xf32>
    %134 = stablehlo.dot_general %133, %88, contracting_dims = [1] x [0] : (tensor<10x4xf32>, tensor<4x400xf32>) -> tensor<10x400xf32>
    %135 = stablehlo.reduce(%132 init: %17) applies stablehlo.add across dimensions = [0] : (tensor<4x10xf32>, tensor<f32>) -> tensor<10xf32>
    %136 = stablehlo.reshape %135 : (tensor<10xf32>) -> tensor<1x10xf32>
    %137 = stablehlo.transpose %56, dims = [1, 0] : (tensor<400x10xf32>) -> tensor<10x400xf32>
    %138 = stablehlo.dot_general %132, %137, contracting_dims = [1] x [0] : (tensor<4x10xf32>, tensor<10x400xf32>) -> tensor<4x400xf32>
    %139 = stablehlo.reshape %138 : (tensor<4x400xf32>) -> tensor<4x16x5x5xf32>
    %140 = stablehlo.multiply %139, %58 : tensor<4x16x5x5xf32>
    %141 = stablehlo.iota dim = 0 : tensor<100xi32>
    %142 = stablehlo.reshape %141 : (tensor<100xi32>) -> tensor<10x10xi32>
    %143 = stablehlo.constant dense<-1> : tensor<i32>
    %144 = stablehlo.pad %142, %143, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<10x10xi32>, tensor<i32>) -> tensor<10x10xi32>
    %145 = stablehlo.convert %86 : (tensor<4x16x5x5xi64>) -> tensor<4x16x5x5xi32>
    %146 = stablehlo.constant dense<0.0> : tensor<4x16x5x5xf32>
    %147 = stablehlo.slice %144 [0:9:2, 0:9:2] : (tensor<10x10xi32>) -> tensor<5x5xi32>
    %148 = stablehlo.broadcast_in_dim %147, dims = [2, 3] : (tensor<5x5xi32>) -> tensor<4x16x5x5xi32>
    %149 = stablehlo.compare EQ, %145, %148 : (tensor<4x16x5x5xi32>, tensor<4x16x5x5xi32>) -> tensor<4x16x5x5xi1>
    %150 = stablehlo.select %149, %140, %146 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %151 = stablehlo.pad %150, %17, low = [0, 0, 0, 0], high = [0, 0, 1, 1], interior = [0, 0, 1, 1] : (tensor<4x16x5x5xf32>, tensor<f32>) -> tensor<4x16x10x10xf32>
    %152 = stablehlo.slice %144 [0:9:2, 1:10:2] : (tensor<10x10xi32>) -> tensor<5x5xi32>
    %153 = stablehlo.broadcast_in_dim %152, dims = [2, 3] : (tensor<5x5xi32>) -> tensor<4x16x5x5xi32>
    %154 = stablehlo.compare EQ, %145, %153 : (tensor<4x16x5x5xi32>, tensor<4x16x5x5xi32>) -> tensor<4x16x5x5xi1>
    %155 = stablehlo.select %154, %140, %146 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %156 = stablehlo.pad %155, %17, low = [0, 0, 0, 1], high = [0, 0, 1, 0], interior = [0, 0, 1, 1] : (tensor<4x16x5x5xf32>, tensor<f32>) -> tensor<4x16x10x10xf32>
    %157 = stablehlo.add %151, %156 : tensor<4x16x10x10xf32>
    %158 = stablehlo.slice %144 [1:10:2, 0:9:2] : (tensor<10x10xi32>) -> tensor<5x5xi32>
    %159 = stablehlo.broadcast_in_dim %158, dims = [2, 3] : (tensor<5x5xi32>) -> tensor<4x16x5x5xi32>
    %160 = stablehlo.compare EQ, %145, %159 : (tensor<4x16x5x5xi32>, tensor<4x16x5x5xi32>) -> tensor<4x16x5x5xi1>
    %161 = stablehlo.select %160, %140, %146 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %162 = stablehlo.pad %161, %17, low = [0, 0, 1, 0], high = [0, 0, 0, 1], interior = [0, 0, 1, 1] : (tensor<4x16x5x5xf32>, tensor<f32>) -> tensor<4x16x10x10xf32>
    %163 = stablehlo.add %157, %162 : tensor<4x16x10x10xf32>
    %164 = stablehlo.slice %144 [1:10:2, 1:10:2] : (tensor<10x10xi32>) -> tensor<5x5xi32>
    %165 = stablehlo.broadcast_in_dim %164, dims = [2, 3] : (tensor<5x5xi32>) -> tensor<4x16x5x5xi32>
    %166 = stablehlo.compare EQ, %145, %165 : (tensor<4x16x5x5xi32>, tensor<4x16x5x5xi32>) -> tensor<4x16x5x5xi1>
    %167 = stablehlo.select %166, %140, %146 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %168 = stablehlo.pad %167, %17, low = [0, 0, 1, 1], high = [0, 0, 0, 0], interior = [0, 0, 1, 1] : (tensor<4x16x5x5xf32>, tensor<f32>) -> tensor<4x16x10x10xf32>
    %169 = stablehlo.add %163, %168 : tensor<4x16x10x10xf32>
    %170 = stablehlo.constant dense<0.0025> : tensor<f32>
    %171 = stablehlo.multiply %45, %arg6 : tensor<16xf32>
    %172 = stablehlo.reshape %171 : (tensor<16xf32>) -> tensor<1x16xf32>
    %173 = stablehlo.reshape %172 : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %174 = stablehlo.reshape %173 : (tensor<1x16x1xf32>) -> tensor<1x16x1x1xf32>
    %175 = stablehlo.reduce(%169 init: %17) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x16x10x10xf32>, tensor<f32>) -> tensor<16xf32>
    %176 = stablehlo.broadcast_in_dim %170, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %177 = stablehlo.multiply %175, %176 : tensor<16xf32>
    %178 = stablehlo.reshape %177 : (tensor<16xf32>) -> tensor<1x16xf32>
    %179 = stablehlo.reshape %178 : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %180 = stablehlo.reshape %179 : (tensor<1x16x1xf32>) -> tensor<1x16x1x1xf32>
    %181 = stablehlo.multiply %45, %45 : tensor<16xf32>
    %182 = stablehlo.reshape %42 : (tensor<16xf32>) -> tensor<1x16xf32>
    %183 = stablehlo.reshape %182 : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %184 = stablehlo.reshape %183 : (tensor<1x16x1xf32>) -> tensor<1x16x1x1xf32>
    %185 = stablehlo.broadcast_in_dim %184, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %186 = stablehlo.subtract %10, %185 : tensor<4x16x10x10xf32>
    %187 = stablehlo.multiply %169, %186 : tensor<4x16x10x10xf32>
    %188 = stablehlo.reduce(%187 init: %17) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x16x10x10xf32>, tensor<f32>) -> tensor<16xf32>
    %189 = stablehlo.multiply %188, %176 : tensor<16xf32>
    %190 = stablehlo.multiply %189, %181 : tensor<16xf32>
    %191 = stablehlo.reshape %190 : (tensor<16xf32>) -> tensor<1x16xf32>
    %192 = stablehlo.reshape %191 : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %193 = stablehlo.reshape %192 : (tensor<1x16x1xf32>) -> tensor<1x16x1x1xf32>
    %194 = stablehlo.broadcast_in_dim %193, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %195 = stablehlo.multiply %186, %194 : tensor<4x16x10x10xf32>
    %196 = stablehlo.subtract %169, %195 : tensor<4x16x10x10xf32>
    %197 = stablehlo.broadcast_in_dim %180, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %198 = stablehlo.subtract %196, %197 : tensor<4x16x10x10xf32>
    %199 = stablehlo.broadcast_in_dim %174, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %200 = stablehlo.multiply %198, %199 : tensor<4x16x10x10xf32>
    %201 = stablehlo.multiply %188, %45 : tensor<16xf32>
    %202 = stablehlo.transpose %arg4, dims = [1, 0, 2, 3] : (tensor<16x8x3x3xf32>) -> tensor<8x16x3x3xf32>
    %203 = stablehlo.reverse %202, dims = [2, 3] : tensor<8x16x3x3xf32>
    %204 = stablehlo.convolution(%200, %203) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x10x10xf32>, tensor<8x16x3x3xf32>) -> tensor<4x8x12x12xf32>
    %205 = stablehlo.convolution(%7, %200) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x12x12xf32>, tensor<4x16x10x10xf32>) -> tensor<16x8x3x3xf32>
    %206 = stablehlo.reduce(%200 init: %17) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x16x10x10xf32>, tensor<f32>) -> tensor<16xf32>
    %207 = stablehlo.compare GT, %7, %6 : (tensor<4x8x12x12xf32>, tensor<4x8x12x12xf32>) -> tensor<4x8x12x12xi1>
    %208 = stablehlo.select %207, %204, %6 : tensor<4x8x12x12xi1>, tensor<4x8x12x12xf32>
    %209 = stablehlo.convolution(%arg1, %208) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x1x14x14xf32>, tensor<4x8x12x12xf32>) -> tensor<8x1x3x3xf32>
    %210 = stablehlo.reduce(%208 init: %17) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x8x12x12xf32>, tensor<f32>) -> tensor<8xf32>
    %211 = stablehlo.constant dense<0.0> : tensor<8x1x3x3xf32>
    %212 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<8x1x3x3xf32>
    %213 = stablehlo.multiply %211, %212 : tensor<8x1x3x3xf32>
    %214 = stablehlo.multiply %209, %209 : tensor<8x1x3x3xf32>
    %215 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<8x1x3x3xf32>
    %216 = stablehlo.multiply %214, %215 : tensor<8x1x3x3xf32>
    %217 = stablehlo.add %213, %216 : tensor<8x1x3x3xf32>
    %218 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<f32>) -> tensor<8x1x3x3xf32>
    %219 = stablehlo.add %217, %218 : tensor<8x1x3x3xf32>
    %220 = stablehlo.sqrt %219 : tensor<8x1x3x3xf32>
    %221 = stablehlo.add %211, %218 : tensor<8x1x3x3xf32>
    %222 = stablehlo.sqrt %221 : tensor<8x1x3x3xf32>
    %223 = stablehlo.divide %222, %220 : tensor<8x1x3x3xf32>
    %224 = stablehlo.multiply %223, %209 : tensor<8x1x3x3xf32>
    %225 = stablehlo.multiply %224, %224 : tensor<8x1x3x3xf32>
    %226 = stablehlo.multiply %225, %215 : tensor<8x1x3x3xf32>
    %227 = stablehlo.add %213, %226 : tensor<8x1x3x3xf32>
    %228 = stablehlo.broadcast_in_dim %arg19, dims = [] : (tensor<f32>) -> tensor<8x1x3x3xf32>
    %229 = stablehlo.multiply %224, %228 : tensor<8x1x3x3xf32>
    %230 = stablehlo.add %arg2, %229 : tensor<8x1x3x3xf32>
    %231 = stablehlo.constant dense<0.0> : tensor<8xf32>
    %232 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %233 = stablehlo.multiply %231, %232 : tensor<8xf32>
    %234 = stablehlo.multiply %210, %210 : tensor<8xf32>
    %235 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %236 = stablehlo.multiply %234, %235 : tensor<8xf32>
    %237 = stablehlo.add %233, %236 : tensor<8xf32>
    %238 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %239 = stablehlo.add %237, %238 : tensor<8xf32>
    %240 = stablehlo.sqrt %239 : tensor<8xf32>
    %241 = stablehlo.add %231, %238 : tensor<8xf32>
    %242 = stablehlo.sqrt %241 : tensor<8xf32>
    %243 = stablehlo.divide %242, %240 : tensor<8xf32>
    %244 = stablehlo.multiply %243, %210 : tensor<8xf32>
    %245 = stablehlo.multiply %244, %244 : tensor<8xf32>
    %246 = stablehlo.multiply %245, %235 : tensor<8xf32>
    %247 = stablehlo.add %233, %246 : tensor<8xf32>
    %248 = stablehlo.broadcast_in_dim %arg19, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %249 = stablehlo.multiply %244, %248 : tensor<8xf32>
    %250 = stablehlo.add %arg3, %249 : tensor<8xf32>
    %251 = stablehlo.constant dense<0.0> : tensor<16x8x3x3xf32>
    %252 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<16x8x3x3xf32>
    %253 = stablehlo.multiply %251, %252 : tensor<16x8x3x3xf32>
    %254 = stablehlo.multiply %205, %205 : tensor<16x8x3x3xf32>
    %255 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<16x8x3x3xf32>
    %256 = stablehlo.multiply %254, %255 : tensor<16x8x3x3xf32>
    %257 = stablehlo.add %253, %256 : tensor<16x8x3x3xf32>
    %258 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<f32>) -> tensor<16x8x3x3xf32>
    %259 = stablehlo.add %257, %258 : tensor<16x8x3x3xf32>
    %260 = stablehlo.sqrt %259 : tensor<16x8x3x3xf32>
    %261 = stablehlo.add %251, %258 : tensor<16x8x3x3xf32>
    %262 = stablehlo.sqrt %261 : tensor<16x8x3x3xf32>
    %263 = stablehlo.divide %262, %260 : tensor<16x8x3x3xf32>
    %264 = stablehlo.multiply %263, %205 : tensor<16x8x3x3xf32>
    %265 = stablehlo.multiply %264, %264 : tensor<16x8x3x3xf32>
    %266 = stablehlo.multiply %265, %255 : tensor<16x8x3x3xf32>
    %267 = stablehlo.add %253, %266 : tensor<16x8x3x3xf32>
    %268 = stablehlo.broadcast_in_dim %arg19, dims = [] : (tensor<f32>) -> tensor<16x8x3x3xf32>
    %269 = stablehlo.multiply %264, %268 : tensor<16x8x3x3xf32>
    %270 = stablehlo.add %arg4, %269 : tensor<16x8x3x3xf32>
    %271 = stablehlo.constant dense<0.0> : tensor<16xf32>
    %272 = stablehlo.multiply %271, %46 : tensor<16xf32>
    %273 = stablehlo.multiply %206, %206 : tensor<16xf32>
    %274 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %275 = stablehlo.multiply %273, %274 : tensor<16xf32>
    %276 = stablehlo.add %272, %275 : tensor<16xf32>
    %277 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %278 = stablehlo.add %276, %277 : tensor<16xf32>
    %279 = stablehlo.sqrt %278 : tensor<16xf32>
    %280 = stablehlo.add %271, %277 : tensor<16xf32>
    %281 = stablehlo.sqrt %280 : tensor<16xf32>
    %282 = stablehlo.divide %281, %279 : tensor<16xf32>
    %283 = stablehlo.multiply %282, %206 : tensor<16xf32>
    %284 = stablehlo.multiply %283, %283 : tensor<16xf32>
    %285 = stablehlo.multiply %284, %274 : tensor<16xf32>
    %286 = stablehlo.add %272, %285 : tensor<16xf32>
    %287 = stablehlo.broadcast_in_dim %arg19, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %288 = stablehlo.multiply %283, %287 : tensor<16xf32>
    %289 = stablehlo.add %arg5, %288 : tensor<16xf32>
    %290 = stablehlo.multiply %201, %201 : tensor<16xf32>
    %291 = stablehlo.multiply %290, %274 : tensor<16xf32>
    %292 = stablehlo.add %272, %291 : tensor<16xf32>
    %293 = stablehlo.add %292, %277 : tensor<16xf32>
    %294 = stablehlo.sqrt %293 : tensor<16xf32>
    %295 = stablehlo.divide %281, %294 : tensor<16xf32>
    %296 = stablehlo.multiply %295, %201 : tensor<16xf32>
    %297 = stablehlo.multiply %296, %296 : tensor<16xf32>
    %298 = stablehlo.multiply %297, %274 : tensor<16xf32>
    %299 = stablehlo.add %272, %298 : tensor<16xf32>
    %300 = stablehlo.multiply %296, %287 : tensor<16xf32>
    %301 = stablehlo.add %arg6, %300 : tensor<16xf32>
    %302 = stablehlo.multiply %175, %175 : tensor<16xf32>
    %303 = stablehlo.multiply %302, %274 : tensor<16xf32>
    %304 = stablehlo.add %272, %303 : tensor<16xf32>
    %305 = stablehlo.add %304, %277 : tensor<16xf32>
    %306 = stablehlo.sqrt %305 : tensor<16xf32>
    %307 = stablehlo.divide %281, %306 : tensor<16xf32>
    %308 = stablehlo.multiply %307, %175 : tensor<16xf32>
    %309 = stablehlo.multiply %308, %308 : tensor<16xf32>
    %310 = stablehlo.multiply %309, %274 : tensor<16xf32>
    %311 = stablehlo.add %272, %310 : tensor<16xf32>
    %312 = stablehlo.multiply %308, %287 : tensor<16xf32>
    %313 = stablehlo.add %arg7, %312 : tensor<16xf32>
    %314 = stablehlo.transpose %134, dims = [1, 0] : (tensor<10x400xf32>) -> tensor<400x10xf32>
    %315 = stablehlo.transpose %314, dims = [1, 0] : (tensor<400x10xf32>) -> tensor<10x400xf32>
    %316 = stablehlo.constant dense<0.0> : tensor<10x400xf32>
    %317 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<10x400xf32>
    %318 = stablehlo.multiply %316, %317 : tensor<10x400xf32>
    %319 = stablehlo.multiply %315, %315 : tensor<10x400xf32>
    %320 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<10x400xf32>
    %321 = stablehlo.multiply %319, %320 : tensor<10x400xf32>
    %322 = stablehlo.add %318, %321 : tensor<10x400xf32>
    %323 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<f32>) -> tensor<10x400xf32>
    %324 = stablehlo.add %322, %323 : tensor<10x400xf32>
    %325 = stablehlo.sqrt %324 : tensor<10x400xf32>
    %326 = stablehlo.add %316, %323 : tensor<10x400xf32>
    %327 = stablehlo.sqrt %326 : tensor<10x400xf32>
    %328 = stablehlo.divide %327, %325 : tensor<10x400xf32>
    %329 = stablehlo.multiply %328, %315 : tensor<10x400xf32>
    %330 = stablehlo.multiply %329, %329 : tensor<10x400xf32>
    %331 = stablehlo.multiply %330, %320 : tensor<10x400xf32>
    %332 = stablehlo.add %318, %331 : tensor<10x400xf32>
    %333 = stablehlo.broadcast_in_dim %arg19, dims = [] : (tensor<f32>) -> tensor<10x400xf32>
    %334 = stablehlo.multiply %329, %333 : tensor<10x400xf32>
    %335 = stablehlo.add %arg12, %334 : tensor<10x400xf32>
    %336 = stablehlo.reshape %136 : (tensor<1x10xf32>) -> tensor<10xf32>
    %337 = stablehlo.constant dense<0.0> : tensor<10xf32>
    %338 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %339 = stablehlo.multiply %337, %338 : tensor<10xf32>
    %340 = stablehlo.multiply %336, %336 : tensor<10xf32>
    %341 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %342 = stablehlo.multiply %340, %341 : tensor<10xf32>
    %343 = stablehlo.add %339, %342 : tensor<10xf32>
    %344 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %345 = stablehlo.add %343, %344 : tensor<10xf32>
    %346 = stablehlo.sqrt %345 : tensor<10xf32>
    %347 = stablehlo.add %337, %344 : tensor<10xf32>
    %348 = stablehlo.sqrt %347 : tensor<10xf32>
    %349 = stablehlo.divide %348, %346 : tensor<10xf32>
    %350 = stablehlo.multiply %349, %336 : tensor<10xf32>
    %351 = stablehlo.multiply %350, %350 : tensor<10xf32>
    %352 = stablehlo.multiply %351, %341 : tensor<10xf32>
    %353 = stablehlo.add %339, %352 : tensor<10xf32>
    %354 = stablehlo.broadcast_in_dim %arg19, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %355 = stablehlo.multiply %350, %354 : tensor<10xf32>
    %356 = stablehlo.add %arg15, %355 : tensor<10xf32>
    return %2, %50, %55, %117, %134, %136, %201, %175, %205, %206, %209, %210, %217, %227, %230, %237, %247, %250, %257, %267, %270, %276, %286, %289, %292, %299, %301, %304, %311, %313, %322, %332, %335, %343, %353, %356 : tensor<i64>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<10x400xf32>, tensor<1x10xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<8x1x3x3xf32>, tensor<8x1x3x3xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<10x400xf32>, tensor<10x400xf32>, tensor<10x400xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>
  }
}
