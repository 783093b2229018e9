module @graph1 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "156"} {
  func.func public @main(%arg0: tensor<i64> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4x1x14x14xf32>, %arg2: tensor<8x1x3x3xf32> {tf.aliasing_output = 14 : i32}, %arg3: tensor<8xf32> {tf.aliasing_output = 17 : i32}, %arg4: tensor<16x8x3x3xf32> {tf.aliasing_output = 20 : i32}, %arg5: tensor<16xf32> {tf.aliasing_output = 23 : i32}, %arg6: tensor<16xf32> {tf.aliasing_output = 26 : i32}, %arg7: tensor<16xf32> {tf.aliasing_output = 29 : i32}, %arg8: tensor<16xf32> {tf.aliasing_output = 1 : i32}, %arg9: tensor<f32>, %arg10: tensor<f32>, %arg11: tensor<16xf32> {tf.aliasing_output = 2 : i32}, %arg12: tensor<10x400xf32> {tf.aliasing_output = 32 : i32}, %arg13: tensor<4x16x5x5xf32>, %arg14: tensor<f32>, %arg15: tensor<10xf32> {tf.aliasing_output = 35 : i32}, %arg16: tensor<4xi64>, %arg17: tensor<1x10xf32> {tf.aliasing_output = 4 : i32}, %arg18: tensor<10x400xf32> {tf.aliasing_output = 5 : i32}, %arg19: tensor<16xf32> {tf.aliasing_output = 6 : i32}, %arg20: tensor<16xf32> {tf.aliasing_output = 7 : i32}, %arg21: tensor<16x8x3x3xf32> {tf.aliasing_output = 8 : i32}, %arg22: tensor<16xf32> {tf.aliasing_output = 9 : i32}, %arg23: tensor<8x1x3x3xf32> {tf.aliasing_output = 10 : i32}, %arg24: tensor<8xf32> {tf.aliasing_output = 11 : i32}, %arg25: tensor<8x1x3x3xf32> {tf.aliasing_output = 12 : i32}, %arg26: tensor<f32>, %arg27: tensor<f32>, %arg28: tensor<8x1x3x3xf32> {tf.aliasing_output = 13 : i32}, %arg29: tensor<f32>, %arg30: tensor<8xf32> {tf.aliasing_output = 15 : i32}, %arg31: tensor<8xf32> {tf.aliasing_output = 16 : i32}, %arg32: tensor<16x8x3x3xf32> {tf.aliasing_output = 18 : i32}, %arg33: tensor<16x8x3x3xf32> {tf.aliasing_output = 19 : i32}, %arg34: tensor<16xf32> {tf.aliasing_output = 21 : i32}, %arg35: tensor<16xf32> {tf.aliasing_output = 22 : i32}, %arg36: tensor<16xf32> {tf.aliasing_output = 24 : i32}, %arg37: tensor<16xf32> {tf.aliasing_output = 25 : i32}, %arg38: tensor<16xf32> {tf.aliasing_output = 27 : i32}, %arg39: tensor<16xf32> {tf.aliasing_output = 28 : i32}, %arg40: tensor<10x400xf32> {tf.aliasing_output = 30 : i32}, %arg41: tensor<10x400xf32> {tf.aliasing_output = 31 : i32}, %arg42: tensor<10xf32> {tf.aliasing_output = 33 : i32}, %arg43: tensor<10xf32> {tf.aliasing_output = 34 : i32}) -> (tensor<i64>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<1x10xf32>, tensor<10x400xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<8x1x3x3xf32>, tensor<8x1x3x3xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<10x400xf32>, tensor<10x400xf32>, tensor<10x400xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) {
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
    %133 = stablehlo.reduce(%132 init: %17) applies stablehlo.add across dimensions = [0] : (tensor<4x10xf32>, tensor<f32>) -> tensor<10xf32>
    %134 = stablehlo.reshape %133 : (tensor<10xf32>) -> tensor<1x10xf32>
    %135 = stablehlo.reshape %134 : (tensor<1x10xf32>) -> tensor<10xf32>
    %136 = stablehlo.reshape %arg17 : (tensor<1x10xf32>) -> tensor<10xf32>
    %137 = stablehlo.constant dense<0.0> : tensor<10xf32>
    %138 = stablehlo.reshape %137 : (tensor<10xf32>) -> tensor<1x10xf32>
    %139 = stablehlo.reshape %138 : (tensor<1x10xf32>) -> tensor<10xf32>
    %140 = stablehlo.add %139, %135 : tensor<10xf32>
    %141 = stablehlo.reshape %140 : (tensor<10xf32>) -> tensor<1x10xf32>
    %142 = stablehlo.transpose %132, dims = [1, 0] : (tensor<4x10xf32>) -> tensor<10x4xf32>
    %143 = stablehlo.dot_general %142, %88, contracting_dims = [1] x [0] : (tensor<10x4xf32>, tensor<4x400xf32>) -> tensor<10x400xf32>
    %144 = stablehlo.transpose %143, dims = [1, 0] : (tensor<10x400xf32>) -> tensor<400x10xf32>
    %145 = stablehlo.transpose %144, dims = [1, 0] : (tensor<400x10xf32>) -> tensor<10x400xf32>
    %146 = stablehlo.transpose %arg18, dims = [1, 0] : (tensor<10x400xf32>) -> tensor<400x10xf32>
    %147 = stablehlo.transpose %146, dims = [1, 0] : (tensor<400x10xf32>) -> tensor<10x400xf32>
    %148 = stablehlo.constant dense<0.0> : tensor<10x400xf32>
    %149 = stablehlo.transpose %148, dims = [1, 0] : (tensor<10x400xf32>) -> tensor<400x10xf32>
    %150 = stablehlo.transpose %149, dims = [1, 0] : (tensor<400x10xf32>) -> tensor<10x400xf32>
    %151 = stablehlo.transpose %150, dims = [1, 0] : (tensor<10x400xf32>) -> tensor<400x10xf32>
    %152 = stablehlo.transpose %151, dims = [1, 0] : (tensor<400x10xf32>) -> tensor<10x400xf32>
    %153 = stablehlo.add %152, %145 : tensor<10x400xf32>
    %154 = stablehlo.transpose %153, dims = [1, 0] : (tensor<10x400xf32>) -> tensor<400x10xf32>
    %155 = stablehlo.transpose %154, dims = [1, 0] : (tensor<400x10xf32>) -> tensor<10x400xf32>
    %156 = stablehlo.transpose %56, dims = [1, 0] : (tensor<400x10xf32>) -> tensor<10x400xf32>
    %157 = stablehlo.dot_general %132, %156, contracting_dims = [1] x [0] : (tensor<4x10xf32>, tensor<10x400xf32>) -> tensor<4x400xf32>
    %158 = stablehlo.reshape %157 : (tensor<4x400xf32>) -> tensor<4x16x5x5xf32>
    %159 = stablehlo.multiply %158, %58 : tensor<4x16x5x5xf32>
    %160 = stablehlo.iota dim = 0 : tensor<100xi32>
    %161 = stablehlo.reshape %160 : (tensor<100xi32>) -> tensor<10x10xi32>
    %162 = stablehlo.constant dense<-1> : tensor<i32>
    %163 = stablehlo.pad %161, %162, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<10x10xi32>, tensor<i32>) -> tensor<10x10xi32>
    %164 = stablehlo.convert %86 : (tensor<4x16x5x5xi64>) -> tensor<4x16x5x5xi32>
    %165 = stablehlo.constant dense<0.0> : tensor<4x16x5x5xf32>
    %166 = stablehlo.slice %163 [0:9:2, 0:9:2] : (tensor<10x10xi32>) -> tensor<5x5xi32>
    %167 = stablehlo.broadcast_in_dim %166, dims = [2, 3] : (tensor<5x5xi32>) -> tensor<4x16x5x5xi32>
    %168 = stablehlo.compare EQ, %164, %167 : (tensor<4x16x5x5xi32>, tensor<4x16x5x5xi32>) -> tensor<4x16x5x5xi1>
    %169 = stablehlo.select %168, %159, %165 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %170 = stablehlo.pad %169, %17, low = [0, 0, 0, 0], high = [0, 0, 1, 1], interior = [0, 0, 1, 1] : (tensor<4x16x5x5xf32>, tensor<f32>) -> tensor<4x16x10x10xf32>
    %171 = stablehlo.slice %163 [0:9:2, 1:10:2] : (tensor<10x10xi32>) -> tensor<5x5xi32>
    %172 = stablehlo.broadcast_in_dim %171, dims = [2, 3] : (tensor<5x5xi32>) -> tensor<4x16x5x5xi32>
    %173 = stablehlo.compare EQ, %164, %172 : (tensor<4x16x5x5xi32>, tensor<4x16x5x5xi32>) -> tensor<4x16x5x5xi1>
    %174 = stablehlo.select %173, %159, %165 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %175 = stablehlo.pad %174, %17, low = [0, 0, 0, 1], high = [0, 0, 1, 0], interior = [0, 0, 1, 1] : (tensor<4x16x5x5xf32>, tensor<f32>) -> tensor<4x16x10x10xf32>
    %176 = stablehlo.add %170, %175 : tensor<4x16x10x10xf32>
    %177 = stablehlo.slice %163 [1:10:2, 0:9:2] : (tensor<10x10xi32>) -> tensor<5x5xi32>
    %178 = stablehlo.broadcast_in_dim %177, dims = [2, 3] : (tensor<5x5xi32>) -> tensor<4x16x5x5xi32>
    %179 = stablehlo.compare EQ, %164, %178 : (tensor<4x16x5x5xi32>, tensor<4x16x5x5xi32>) -> tensor<4x16x5x5xi1>
    %180 = stablehlo.select %179, %159, %165 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %181 = stablehlo.pad %180, %17, low = [0, 0, 1, 0], high = [0, 0, 0, 1], interior = [0, 0, 1, 1] : (tensor<4x16x5x5xf32>, tensor<f32>) -> tensor<4x16x10x10xf32>
    %182 = stablehlo.add %176, %181 : tensor<4x16x10x10xf32>
    %183 = stablehlo.slice %163 [1:10:2, 1:10:2] : (tensor<10x10xi32>) -> tensor<5x5xi32>
    %184 = stablehlo.broadcast_in_dim %183, dims = [2, 3] : (tensor<5x5xi32>) -> tensor<4x16x5x5xi32>
    %185 = stablehlo.compare EQ, %164, %184 : (tensor<4x16x5x5xi32>, tensor<4x16x5x5xi32>) -> tensor<4x16x5x5xi1>
    %186 = stablehlo.select %185, %159, %165 : tensor<4x16x5x5xi1>, tensor<4x16x5x5xf32>
    %187 = stablehlo.pad %186, %17, low = [0, 0, 1, 1], high = [0, 0, 0, 0], interior = [0, 0, 1, 1] : (tensor<4x16x5x5xf32>, tensor<f32>) -> tensor<4x16x10x10xf32>
    %188 = stablehlo.add %182, %187 : tensor<4x16x10x10xf32>
    %189 = stablehlo.constant dense<0.0025> : tensor<f32>
    %190 = stablehlo.multiply %45, %arg6 : tensor<16xf32>
    %191 = stablehlo.reshape %190 : (tensor<16xf32>) -> tensor<1x16xf32>
    %192 = stablehlo.reshape %191 : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %193 = stablehlo.reshape %192 : (tensor<1x16x1xf32>) -> tensor<1x16x1x1xf32>
    %194 = stablehlo.reduce(%188 init: %17) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x16x10x10xf32>, tensor<f32>) -> tensor<16xf32>
    %195 = stablehlo.broadcast_in_dim %189, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %196 = stablehlo.multiply %194, %195 : tensor<16xf32>
    %197 = stablehlo.reshape %196 : (tensor<16xf32>) -> tensor<1x16xf32>
    %198 = stablehlo.reshape %197 : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %199 = stablehlo.reshape %198 : (tensor<1x16x1xf32>) -> tensor<1x16x1x1xf32>
    %200 = stablehlo.multiply %45, %45 : tensor<16xf32>
    %201 = stablehlo.reshape %42 : (tensor<16xf32>) -> tensor<1x16xf32>
    %202 = stablehlo.reshape %201 : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %203 = stablehlo.reshape %202 : (tensor<1x16x1xf32>) -> tensor<1x16x1x1xf32>
    %204 = stablehlo.broadcast_in_dim %203, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %205 = stablehlo.subtract %10, %204 : tensor<4x16x10x10xf32>
    %206 = stablehlo.multiply %188, %205 : tensor<4x16x10x10xf32>
    %207 = stablehlo.reduce(%206 init: %17) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x16x10x10xf32>, tensor<f32>) -> tensor<16xf32>
    %208 = stablehlo.multiply %207, %195 : tensor<16xf32>
    %209 = stablehlo.multiply %208, %200 : tensor<16xf32>
    %210 = stablehlo.reshape %209 : (tensor<16xf32>) -> tensor<1x16xf32>
    %211 = stablehlo.reshape %210 : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
    %212 = stablehlo.reshape %211 : (tensor<1x16x1xf32>) -> tensor<1x16x1x1xf32>
    %213 = stablehlo.broadcast_in_dim %212, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %214 = stablehlo.multiply %205, %213 : tensor<4x16x10x10xf32>
    %215 = stablehlo.subtract %188, %214 : tensor<4x16x10x10xf32>
    %216 = stablehlo.broadcast_in_dim %199, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %217 = stablehlo.subtract %215, %216 : tensor<4x16x10x10xf32>
    %218 = stablehlo.broadcast_in_dim %193, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<4x16x10x10xf32>
    %219 = stablehlo.multiply %217, %218 : tensor<4x16x10x10xf32>
    %220 = stablehlo.multiply %207, %45 : tensor<16xf32>
    %221 = stablehlo.constant dense<0.0> : tensor<16xf32>
    %222 = stablehlo.add %221, %220 : tensor<16xf32>
    %223 = stablehlo.add %221, %194 : tensor<16xf32>
    %224 = stablehlo.transpose %arg4, dims = [1, 0, 2, 3] : (tensor<16x8x3x3xf32>) -> tensor<8x16x3x3xf32>
    %225 = stablehlo.reverse %224, dims = [2, 3] : tensor<8x16x3x3xf32>
    %226 = stablehlo.convolution(%219, %225) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x10x10xf32>, tensor<8x16x3x3xf32>) -> tensor<4x8x12x12xf32>
    %227 = stablehlo.convolution(%7, %219) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x12x12xf32>, tensor<4x16x10x10xf32>) -> tensor<16x8x3x3xf32>
    %228 = stablehlo.reduce(%219 init: %17) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x16x10x10xf32>, tensor<f32>) -> tensor<16xf32>
    %229 = stablehlo.constant dense<0.0> : tensor<16x8x3x3xf32>
    %230 = stablehlo.add %229, %227 : tensor<16x8x3x3xf32>
    %231 = stablehlo.add %221, %228 : tensor<16xf32>
    %232 = stablehlo.compare GT, %7, %6 : (tensor<4x8x12x12xf32>, tensor<4x8x12x12xf32>) -> tensor<4x8x12x12xi1>
    %233 = stablehlo.select %232, %226, %6 : tensor<4x8x12x12xi1>, tensor<4x8x12x12xf32>
    %234 = stablehlo.convolution(%arg1, %233) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x1x14x14xf32>, tensor<4x8x12x12xf32>) -> tensor<8x1x3x3xf32>
    %235 = stablehlo.reduce(%233 init: %17) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<4x8x12x12xf32>, tensor<f32>) -> tensor<8xf32>
    %236 = stablehlo.constant dense<0.0> : tensor<8x1x3x3xf32>
    %237 = stablehlo.add %236, %234 : tensor<8x1x3x3xf32>
    %238 = stablehlo.constant dense<0.0> : tensor<8xf32>
    %239 = stablehlo.add %238, %235 : tensor<8xf32>
    %240 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<8x1x3x3xf32>
    %241 = stablehlo.multiply %arg25, %240 : tensor<8x1x3x3xf32>
    %242 = stablehlo.multiply %237, %237 : tensor<8x1x3x3xf32>
    %243 = stablehlo.broadcast_in_dim %arg26, dims = [] : (tensor<f32>) -> tensor<8x1x3x3xf32>
    %244 = stablehlo.multiply %242, %243 : tensor<8x1x3x3xf32>
    %245 = stablehlo.add %241, %244 : tensor<8x1x3x3xf32>
    %246 = stablehlo.broadcast_in_dim %arg27, dims = [] : (tensor<f32>) -> tensor<8x1x3x3xf32>
    %247 = stablehlo.add %245, %246 : tensor<8x1x3x3xf32>
    %248 = stablehlo.sqrt %247 : tensor<8x1x3x3xf32>
    %249 = stablehlo.add %arg28, %246 : tensor<8x1x3x3xf32>
    %250 = stablehlo.sqrt %249 : tensor<8x1x3x3xf32>
    %251 = stablehlo.divide %250, %248 : tensor<8x1x3x3xf32>
    %252 = stablehlo.multiply %251, %237 : tensor<8x1x3x3xf32>
    %253 = stablehlo.multiply %arg28, %240 : tensor<8x1x3x3xf32>
    %254 = stablehlo.multiply %252, %252 : tensor<8x1x3x3xf32>
    %255 = stablehlo.multiply %254, %243 : tensor<8x1x3x3xf32>
    %256 = stablehlo.add %253, %255 : tensor<8x1x3x3xf32>
    %257 = stablehlo.broadcast_in_dim %arg29, dims = [] : (tensor<f32>) -> tensor<8x1x3x3xf32>
    %258 = stablehlo.multiply %252, %257 : tensor<8x1x3x3xf32>
    %259 = stablehlo.add %arg2, %258 : tensor<8x1x3x3xf32>
    %260 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %261 = stablehlo.multiply %arg30, %260 : tensor<8xf32>
    %262 = stablehlo.multiply %239, %239 : tensor<8xf32>
    %263 = stablehlo.broadcast_in_dim %arg26, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %264 = stablehlo.multiply %262, %263 : tensor<8xf32>
    %265 = stablehlo.add %261, %264 : tensor<8xf32>
    %266 = stablehlo.broadcast_in_dim %arg27, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %267 = stablehlo.add %265, %266 : tensor<8xf32>
    %268 = stablehlo.sqrt %267 : tensor<8xf32>
    %269 = stablehlo.add %arg31, %266 : tensor<8xf32>
    %270 = stablehlo.sqrt %269 : tensor<8xf32>
    %271 = stablehlo.divide %270, %268 : tensor<8xf32>
    %272 = stablehlo.multiply %271, %239 : tensor<8xf32>
    %273 = stablehlo.multiply %arg31, %260 : tensor<8xf32>
    %274 = stablehlo.multiply %272, %272 : tensor<8xf32>
    %275 = stablehlo.multiply %274, %263 : tensor<8xf32>
    %276 = stablehlo.add %273, %275 : tensor<8xf32>
    %277 = stablehlo.broadcast_in_dim %arg29, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %278 = stablehlo.multiply %272, %277 : tensor<8xf32>
    %279 = stablehlo.add %arg3, %278 : tensor<8xf32>
    %280 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<16x8x3x3xf32>
    %281 = stablehlo.multiply %arg32, %280 : tensor<16x8x3x3xf32>
    %282 = stablehlo.multiply %230, %230 : tensor<16x8x3x3xf32>
    %283 = stablehlo.broadcast_in_dim %arg26, dims = [] : (tensor<f32>) -> tensor<16x8x3x3xf32>
    %284 = stablehlo.multiply %282, %283 : tensor<16x8x3x3xf32>
    %285 = stablehlo.add %281, %284 : tensor<16x8x3x3xf32>
    %286 = stablehlo.broadcast_in_dim %arg27, dims = [] : (tensor<f32>) -> tensor<16x8x3x3xf32>
    %287 = stablehlo.add %285, %286 : tensor<16x8x3x3xf32>
    %288 = stablehlo.sqrt %287 : tensor<16x8x3x3xf32>
    %289 = stablehlo.add %arg33, %286 : tensor<16x8x3x3xf32>
    %290 = stablehlo.sqrt %289 : tensor<16x8x3x3xf32>
    %291 = stablehlo.divide %290, %288 : tensor<16x8x3x3xf32>
    %292 = stablehlo.multiply %291, %230 : tensor<16x8x3x3xf32>
    %293 = stablehlo.multiply %arg33, %280 : tensor<16x8x3x3xf32>
    %294 = stablehlo.multiply %292, %292 : tensor<16x8x3x3xf32>
    %295 = stablehlo.multiply %294, %283 : tensor<16x8x3x3xf32>
    %296 = stablehlo.add %293, %295 : tensor<16x8x3x3xf32>
    %297 = stablehlo.broadcast_in_dim %arg29, dims = [] : (tensor<f32>) -> tensor<16x8x3x3xf32>
    %298 = stablehlo.multiply %292, %297 : tensor<16x8x3x3xf32>
    %299 = stablehlo.add %arg4, %298 : tensor<16x8x3x3xf32>
    %300 = stablehlo.multiply %arg34, %46 : tensor<16xf32>
    %301 = stablehlo.multiply %231, %231 : tensor<16xf32>
    %302 = stablehlo.broadcast_in_dim %arg26, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %303 = stablehlo.multiply %301, %302 : tensor<16xf32>
    %304 = stablehlo.add %300, %303 : tensor<16xf32>
    %305 = stablehlo.broadcast_in_dim %arg27, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %306 = stablehlo.add %304, %305 : tensor<16xf32>
    %307 = stablehlo.sqrt %306 : tensor<16xf32>
    %308 = stablehlo.add %arg35, %305 : tensor<16xf32>
    %309 = stablehlo.sqrt %308 : tensor<16xf32>
    %310 = stablehlo.divide %309, %307 : tensor<16xf32>
    %311 = stablehlo.multiply %310, %231 : tensor<16xf32>
    %312 = stablehlo.multiply %arg35, %46 : tensor<16xf32>
    %313 = stablehlo.multiply %311, %311 : tensor<16xf32>
    %314 = stablehlo.multiply %313, %302 : tensor<16xf32>
    %315 = stablehlo.add %312, %314 : tensor<16xf32>
    %316 = stablehlo.broadcast_in_dim %arg29, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %317 = stablehlo.multiply %311, %316 : tensor<16xf32>
    %318 = stablehlo.add %arg5, %317 : tensor<16xf32>
    %319 = stablehlo.multiply %arg36, %46 : tensor<16xf32>
    %320 = stablehlo.multiply %222, %222 : tensor<16xf32>
    %321 = stablehlo.multiply %320, %302 : tensor<16xf32>
    %322 = stablehlo.add %319, %321 : tensor<16xf32>
    %323 = stablehlo.add %322, %305 : tensor<16xf32>
    %324 = stablehlo.sqrt %323 : tensor<16xf32>
    %325 = stablehlo.add %arg37, %305 : tensor<16xf32>
    %326 = stablehlo.sqrt %325 : tensor<16xf32>
    %327 = stablehlo.divide %326, %324 : tensor<16xf32>
    %328 = stablehlo.multiply %327, %222 : tensor<16xf32>
    %329 = stablehlo.multiply %arg37, %46 : tensor<16xf32>
    %330 = stablehlo.multiply %328, %328 : tensor<16xf32>
    %331 = stablehlo.multiply %330, %302 : tensor<16xf32>
    %332 = stablehlo.add %329, %331 : tensor<16xf32>
    %333 = stablehlo.multiply %328, %316 : tensor<16xf32>
    %334 = stablehlo.add %arg6, %333 : tensor<16xf32>
    %335 = stablehlo.multiply %arg38, %46 : tensor<16xf32>
    %336 = stablehlo.multiply %223, %223 : tensor<16xf32>
    %337 = stablehlo.multiply %336, %302 : tensor<16xf32>
    %338 = stablehlo.add %335, %337 : tensor<16xf32>
    %339 = stablehlo.add %338, %305 : tensor<16xf32>
    %340 = stablehlo.sqrt %339 : tensor<16xf32>
    %341 = stablehlo.add %arg39, %305 : tensor<16xf32>
    %342 = stablehlo.sqrt %341 : tensor<16xf32>
    %343 = stablehlo.divide %342, %340 : tensor<16xf32>
    %344 = stablehlo.multiply %343, %223 : tensor<16xf32>
    %345 = stablehlo.multiply %arg39, %46 : tensor<16xf32>
    %346 = stablehlo.multiply %344, %344 : tensor<16xf32>
    %347 = stablehlo.multiply %346, %302 : tensor<16xf32>
    %348 = stablehlo.add %345, %347 : tensor<16xf32>
    %349 = stablehlo.multiply %344, %316 : tensor<16xf32>
    %350 = stablehlo.add %arg7, %349 : tensor<16xf32>
    %351 = stablehlo.transpose %155, dims = [1, 0] : (tensor<10x400xf32>) -> tensor<400x10xf32>
    %352 = stablehlo.transpose %351, dims = [1, 0] : (tensor<400x10xf32>) -> tensor<10x400xf32>
    %353 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<10x400xf32>
    %354 = stablehlo.multiply %arg40, %353 : tensor<10x400xf32>
    %355 = stablehlo.multiply %352, %352 : tensor<10x400xf32>
    %356 = stablehlo.broadcast_in_dim %arg26, dims = [] : (tensor<f32>) -> tensor<10x400xf32>
    %357 = stablehlo.multiply %355, %356 : tensor<10x400xf32>
    %358 = stablehlo.add %354, %357 : tensor<10x400xf32>
    %359 = stablehlo.broadcast_in_dim %arg27, dims = [] : (tensor<f32>) -> tensor<10x400xf32>
    %360 = stablehlo.add %358, %359 : tensor<10x400xf32>
    %361 = stablehlo.sqrt %360 : tensor<10x400xf32>
    %362 = stablehlo.add %arg41, %359 : tensor<10x400xf32>
    %363 = stablehlo.sqrt %362 : tensor<10x400xf32>
    %364 = stablehlo.divide %363, %361 : tensor<10x400xf32>
    %365 = stablehlo.multiply %364, %352 : tensor<10x400xf32>
    %366 = stablehlo.multiply %arg41, %353 : tensor<10x400xf32>
    %367 = stablehlo.multiply %365, %365 : tensor<10x400xf32>
    %368 = stablehlo.multiply %367, %356 : tensor<10x400xf32>
    %369 = stablehlo.add %366, %368 : tensor<10x400xf32>
    %370 = stablehlo.broadcast_in_dim %arg29, dims = [] : (tensor<f32>) -> tensor<10x400xf32>
    %371 = stablehlo.multiply %365, %370 : tensor<10x400xf32>
    %372 = stablehlo.add %arg12, %371 : tensor<10x400xf32>
    %373 = stablehlo.reshape %141 : (tensor<1x10xf32>) -> tensor<10xf32>
    %374 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %375 = stablehlo.multiply %arg42, %374 : tensor<10xf32>
    %376 = stablehlo.multiply %373, %373 : tensor<10xf32>
    %377 = stablehlo.broadcast_in_dim %arg26, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %378 = stablehlo.multiply %376, %377 : tensor<10xf32>
    %379 = stablehlo.add %375, %378 : tensor<10xf32>
    %380 = stablehlo.broadcast_in_dim %arg27, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %381 = stablehlo.add %379, %380 : tensor<10xf32>
    %382 = stablehlo.sqrt %381 : tensor<10xf32>
    %383 = stablehlo.add %arg43, %380 : tensor<10xf32>
    %384 = stablehlo.sqrt %383 : tensor<10xf32>
    %385 = stablehlo.divide %384, %382 : tensor<10xf32>
    %386 = stablehlo.multiply %385, %373 : tensor<10xf32>
    %387 = stablehlo.multiply %arg43, %374 : tensor<10xf32>
    %388 = stablehlo.multiply %386, %386 : tensor<10xf32>
    %389 = stablehlo.multiply %388, %377 : tensor<10xf32>
    %390 = stablehlo.add %387, %389 : tensor<10xf32>
    %391 = stablehlo.broadcast_in_dim %arg29, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %392 = stablehlo.multiply %386, %391 : tensor<10xf32>
    %393 = stablehlo.add %arg15, %392 : tensor<10xf32>
    return %2, %50, %55, %117, %141, %155, %222, %223, %230, %231, %237, %239, %245, %256, %259, %265, %276, %279, %285, %296, %299, %304, %315, %318, %322, %332, %334, %338, %348, %350, %358, %369, %372, %379, %390, %393 : tensor<i64>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<1x10xf32>, tensor<10x400xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<8x1x3x3xf32>, tensor<8x1x3x3xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<10x400xf32>, tensor<10x400xf32>, tensor<10x400xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>
  }
}
