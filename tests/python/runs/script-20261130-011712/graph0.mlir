module @graph0 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "592"} {
  func.func public @main(%arg0: tensor<30x16xf32> {tf.aliasing_output = 33 : i32}, %arg1: tensor<7x3x16xf32>, %arg2: tensor<f32>, %arg3: tensor<16x32xf32> {tf.aliasing_output = 93 : i32}, %arg4: tensor<7x3x32xf32>, %arg5: tensor<32x16xf32> {tf.aliasing_output = 87 : i32}, %arg6: tensor<7x3x16xf32>, %arg7: tensor<16x16xf32> {tf.aliasing_output = 81 : i32}, %arg8: tensor<48x16xf32> {tf.aliasing_output = 75 : i32}, %arg9: tensor<7x3x16xf32>, %arg10: tensor<16x32xf32> {tf.aliasing_output = 57 : i32}, %arg11: tensor<7x3x32xf32>, %arg12: tensor<32x16xf32> {tf.aliasing_output = 51 : i32}, %arg13: tensor<7x3x16xf32>, %arg14: tensor<16x16xf32> {tf.aliasing_output = 45 : i32}, %arg15: tensor<48x16xf32> {tf.aliasing_output = 39 : i32}, %arg16: tensor<7x3x16xf32>, %arg17: tensor<30x16xf32> {tf.aliasing_output = 30 : i32}, %arg18: tensor<7x3xi64>, %arg19: tensor<48xf32> {tf.aliasing_output = 42 : i32}, %arg20: tensor<6x7x7xf32>, %arg21: tensor<f32>, %arg22: tensor<16xf32> {tf.aliasing_output = 48 : i32}, %arg23: tensor<16xf32> {tf.aliasing_output = 63 : i32}, %arg24: tensor<16xf32> {tf.aliasing_output = 66 : i32}, %arg25: tensor<32xf32> {tf.aliasing_output = 54 : i32}, %arg26: tensor<16xf32> {tf.aliasing_output = 60 : i32}, %arg27: tensor<16xf32> {tf.aliasing_output = 69 : i32}, %arg28: tensor<16xf32> {tf.aliasing_output = 72 : i32}, %arg29: tensor<48xf32> {tf.aliasing_output = 78 : i32}, %arg30: tensor<6x7x7xf32>, %arg31: tensor<16xf32> {tf.aliasing_output = 84 : i32}, %arg32: tensor<16xf32> {tf.aliasing_output = 99 : i32}, %arg33: tensor<16xf32> {tf.aliasing_output = 102 : i32}, %arg34: tensor<32xf32> {tf.aliasing_output = 90 : i32}, %arg35: tensor<16xf32> {tf.aliasing_output = 96 : i32}, %arg36: tensor<16xf32> {tf.aliasing_output = 105 : i32}, %arg37: tensor<16xf32> {tf.aliasing_output = 108 : i32}, %arg38: tensor<30xf32> {tf.aliasing_output = 36 : i32}, %arg39: tensor<21xi64>, %arg40: tensor<f32>, %arg41: tensor<f32>, %arg42: tensor<f32>, %arg43: tensor<f32>, %arg44: tensor<f32>, %arg45: tensor<f32>, %arg46: tensor<f32>) -> (tensor<f32>, tensor<30x16xf32>, tensor<1x30xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>, tensor<1x16xf32>, tensor<32x16xf32>, tensor<1x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<1x16xf32>, tensor<48x16xf32>, tensor<1x48xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>, tensor<1x16xf32>, tensor<32x16xf32>, tensor<1x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<1x16xf32>, tensor<48x16xf32>, tensor<1x48xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30xf32>, tensor<30xf32>, tensor<30xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<7x3x16xf32>
    %3 = stablehlo.divide %arg1, %2 : tensor<7x3x16xf32>
    %4 = stablehlo.transpose %arg3, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %5 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<7x3x32xf32>
    %6 = stablehlo.divide %arg4, %5 : tensor<7x3x32xf32>
    %7 = stablehlo.transpose %arg5, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %8 = stablehlo.divide %arg6, %2 : tensor<7x3x16xf32>
    %9 = stablehlo.transpose %arg7, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %10 = stablehlo.transpose %arg8, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %11 = stablehlo.divide %arg9, %2 : tensor<7x3x16xf32>
    %12 = stablehlo.transpose %arg10, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %13 = stablehlo.divide %arg11, %5 : tensor<7x3x32xf32>
    %14 = stablehlo.transpose %arg12, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %15 = stablehlo.divide %arg13, %2 : tensor<7x3x16xf32>
    %16 = stablehlo.transpose %arg14, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %17 = stablehlo.transpose %arg15, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %18 = stablehlo.divide %arg16, %2 : tensor<7x3x16xf32>
    %19 = stablehlo.constant dense<0> : tensor<7x3xi64>
    %20 = stablehlo.compare LT, %arg18, %19 : (tensor<7x3xi64>, tensor<7x3xi64>) -> tensor<7x3xi1>
    %21 = stablehlo.constant dense<29> : tensor<7x3xi64>
    %22 = stablehlo.select %20, %21, %arg18 : tensor<7x3xi1>, tensor<7x3xi64>
    %23 = stablehlo.reshape %22 : (tensor<7x3xi64>) -> tensor<7x3x1xi64>
    %24 = "stablehlo.gather"(%arg17, %23) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 16>, indices_are_sorted = false} : (tensor<30x16xf32>, tensor<7x3x1xi64>) -> tensor<7x3x16xf32>
    %25 = stablehlo.multiply %24, %18 : tensor<7x3x16xf32>
    %26 = stablehlo.reshape %25 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %27 = stablehlo.dot_general %26, %17, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x48xf32>) -> tensor<21x48xf32>
    %28 = stablehlo.broadcast_in_dim %arg19, dims = [1] : (tensor<48xf32>) -> tensor<21x48xf32>
    %29 = stablehlo.add %27, %28 : tensor<21x48xf32>
    %30 = stablehlo.reshape %29 : (tensor<21x48xf32>) -> tensor<7x3x48xf32>
    %31 = stablehlo.slice %30 [0:7:1, 0:3:1, 0:16:1] : (tensor<7x3x48xf32>) -> tensor<7x3x16xf32>
    %32 = stablehlo.slice %30 [0:7:1, 0:3:1, 16:32:1] : (tensor<7x3x48xf32>) -> tensor<7x3x16xf32>
    %33 = stablehlo.slice %30 [0:7:1, 0:3:1, 32:48:1] : (tensor<7x3x48xf32>) -> tensor<7x3x16xf32>
    %34 = stablehlo.reshape %33 : (tensor<7x3x16xf32>) -> tensor<7x6x8xf32>
    %35 = stablehlo.transpose %34, dims = [1, 0, 2] : (tensor<7x6x8xf32>) -> tensor<6x7x8xf32>
    %36 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<6x7x7xf32>
    %37 = stablehlo.divide %arg20, %36 : tensor<6x7x7xf32>
    %38 = stablehlo.reshape %32 : (tensor<7x3x16xf32>) -> tensor<7x6x8xf32>
    %39 = stablehlo.transpose %38, dims = [1, 0, 2] : (tensor<7x6x8xf32>) -> tensor<6x7x8xf32>
    %40 = stablehlo.transpose %39, dims = [0, 2, 1] : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
    %41 = stablehlo.reshape %31 : (tensor<7x3x16xf32>) -> tensor<7x6x8xf32>
    %42 = stablehlo.transpose %41, dims = [1, 0, 2] : (tensor<7x6x8xf32>) -> tensor<6x7x8xf32>
    %43 = stablehlo.broadcast_in_dim %arg21, dims = [] : (tensor<f32>) -> tensor<6x7x8xf32>
    %44 = stablehlo.divide %42, %43 : tensor<6x7x8xf32>
    %45 = stablehlo.dot_general %44, %40, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x8xf32>, tensor<6x8x7xf32>) -> tensor<6x7x7xf32>
    %46 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.reduce(%45 init: %46) applies stablehlo.maximum across dimensions = [2] : (tensor<6x7x7xf32>, tensor<f32>) -> tensor<6x7xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1] : (tensor<6x7xf32>) -> tensor<6x7x7xf32>
    %49 = stablehlo.subtract %45, %48 : tensor<6x7x7xf32>
    %50 = stablehlo.exponential %49 : tensor<6x7x7xf32>
    %51 = stablehlo.constant dense<0.0> : tensor<f32>
    %52 = stablehlo.reduce(%50 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<6x7x7xf32>, tensor<f32>) -> tensor<6x7xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1] : (tensor<6x7xf32>) -> tensor<6x7x7xf32>
    %54 = stablehlo.divide %50, %53 : tensor<6x7x7xf32>
    %55 = stablehlo.multiply %54, %37 : tensor<6x7x7xf32>
    %56 = stablehlo.dot_general %55, %35, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x7xf32>, tensor<6x7x8xf32>) -> tensor<6x7x8xf32>
    %57 = stablehlo.transpose %56, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %58 = stablehlo.reshape %57 : (tensor<7x6x8xf32>) -> tensor<21x16xf32>
    %59 = stablehlo.dot_general %58, %16, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x16xf32>) -> tensor<21x16xf32>
    %60 = stablehlo.broadcast_in_dim %arg22, dims = [1] : (tensor<16xf32>) -> tensor<21x16xf32>
    %61 = stablehlo.add %59, %60 : tensor<21x16xf32>
    %62 = stablehlo.reshape %61 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %63 = stablehlo.multiply %62, %15 : tensor<7x3x16xf32>
    %64 = stablehlo.add %25, %63 : tensor<7x3x16xf32>
    %65 = stablehlo.constant dense<1e-05> : tensor<f32>
    %66 = stablehlo.constant dense<16.0> : tensor<7x3x16xf32>
    %67 = stablehlo.reduce(%64 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1] : (tensor<7x3xf32>) -> tensor<7x3x16xf32>
    %69 = stablehlo.divide %68, %66 : tensor<7x3x16xf32>
    %70 = stablehlo.subtract %64, %69 : tensor<7x3x16xf32>
    %71 = stablehlo.multiply %70, %70 : tensor<7x3x16xf32>
    %72 = stablehlo.reduce(%71 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %73 = stablehlo.constant dense<16.0> : tensor<7x3xf32>
    %74 = stablehlo.divide %67, %73 : tensor<7x3xf32>
    %75 = stablehlo.divide %72, %73 : tensor<7x3xf32>
    %76 = stablehlo.reshape %75 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %77 = stablehlo.reshape %74 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %78 = stablehlo.broadcast_in_dim %65, dims = [] : (tensor<f32>) -> tensor<7x3x1xf32>
    %79 = stablehlo.add %76, %78 : tensor<7x3x1xf32>
    %80 = stablehlo.rsqrt %79 : tensor<7x3x1xf32>
    %81 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %82 = stablehlo.subtract %64, %81 : tensor<7x3x16xf32>
    %83 = stablehlo.broadcast_in_dim %80, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %84 = stablehlo.multiply %82, %83 : tensor<7x3x16xf32>
    %85 = stablehlo.broadcast_in_dim %arg23, dims = [2] : (tensor<16xf32>) -> tensor<7x3x16xf32>
    %86 = stablehlo.multiply %84, %85 : tensor<7x3x16xf32>
    %87 = stablehlo.broadcast_in_dim %arg24, dims = [2] : (tensor<16xf32>) -> tensor<7x3x16xf32>
    %88 = stablehlo.add %86, %87 : tensor<7x3x16xf32>
    %89 = stablehlo.reshape %88 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %90 = stablehlo.dot_general %89, %14, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x32xf32>) -> tensor<21x32xf32>
    %91 = stablehlo.broadcast_in_dim %arg25, dims = [1] : (tensor<32xf32>) -> tensor<21x32xf32>
    %92 = stablehlo.add %90, %91 : tensor<21x32xf32>
    %93 = stablehlo.reshape %92 : (tensor<21x32xf32>) -> tensor<7x3x32xf32>
    %94 = stablehlo.constant dense<0.0> : tensor<7x3x32xf32>
    %95 = stablehlo.maximum %93, %94 : tensor<7x3x32xf32>
    %96 = stablehlo.multiply %95, %13 : tensor<7x3x32xf32>
    %97 = stablehlo.reshape %96 : (tensor<7x3x32xf32>) -> tensor<21x32xf32>
    %98 = stablehlo.dot_general %97, %12, contracting_dims = [1] x [0] : (tensor<21x32xf32>, tensor<32x16xf32>) -> tensor<21x16xf32>
    %99 = stablehlo.broadcast_in_dim %arg26, dims = [1] : (tensor<16xf32>) -> tensor<21x16xf32>
    %100 = stablehlo.add %98, %99 : tensor<21x16xf32>
    %101 = stablehlo.reshape %100 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %102 = stablehlo.multiply %101, %11 : tensor<7x3x16xf32>
    %103 = stablehlo.add %88, %102 : tensor<7x3x16xf32>
    %104 = stablehlo.reduce(%103 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [0, 1] : (tensor<7x3xf32>) -> tensor<7x3x16xf32>
    %106 = stablehlo.divide %105, %66 : tensor<7x3x16xf32>
    %107 = stablehlo.subtract %103, %106 : tensor<7x3x16xf32>
    %108 = stablehlo.multiply %107, %107 : tensor<7x3x16xf32>
    %109 = stablehlo.reduce(%108 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %110 = stablehlo.divide %104, %73 : tensor<7x3xf32>
    %111 = stablehlo.divide %109, %73 : tensor<7x3xf32>
    %112 = stablehlo.reshape %111 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %113 = stablehlo.reshape %110 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %114 = stablehlo.add %112, %78 : tensor<7x3x1xf32>
    %115 = stablehlo.rsqrt %114 : tensor<7x3x1xf32>
    %116 = stablehlo.broadcast_in_dim %113, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %117 = stablehlo.subtract %103, %116 : tensor<7x3x16xf32>
    %118 = stablehlo.broadcast_in_dim %115, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %119 = stablehlo.multiply %117, %118 : tensor<7x3x16xf32>
    %120 = stablehlo.broadcast_in_dim %arg27, dims = [2] : (tensor<16xf32>) -> tensor<7x3x16xf32>
    %121 = stablehlo.multiply %119, %120 : tensor<7x3x16xf32>
    %122 = stablehlo.broadcast_in_dim %arg28, dims = [2] : (tensor<16xf32>) -> tensor<7x3x16xf32>
    %123 = stablehlo.add %121, %122 : tensor<7x3x16xf32>
    %124 = stablehlo.reshape %123 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %125 = stablehlo.dot_general %124, %10, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x48xf32>) -> tensor<21x48xf32>
    %126 = stablehlo.broadcast_in_dim %arg29, dims = [1] : (tensor<48xf32>) -> tensor<21x48xf32>
    %127 = stablehlo.add %125, %126 : tensor<21x48xf32>
    %128 = stablehlo.reshape %127 : (tensor<21x48xf32>) -> tensor<7x3x48xf32>
    %129 = stablehlo.slice %128 [0:7:1, 0:3:1, 0:16:1] : (tensor<7x3x48xf32>) -> tensor<7x3x16xf32>
    %130 = stablehlo.slice %128 [0:7:1, 0:3:1, 16:32:1] : (tensor<7x3x48xf32>) -> tensor<7x3x16xf32>
    %131 = stablehlo.slice %128 [0:7:1, 0:3:1, 32:48:1] : (tensor<7x3x48xf32>) -> tensor<7x3x16xf32>
    %132 = stablehlo.reshape %131 : (tensor<7x3x16xf32>) -> tensor<7x6x8xf32>
    %133 = stablehlo.transpose %132, dims = [1, 0, 2] : (tensor<7x6x8xf32>) -> tensor<6x7x8xf32>
    %134 = stablehlo.divide %arg30, %36 : tensor<6x7x7xf32>
    %135 = stablehlo.reshape %130 : (tensor<7x3x16xf32>) -> tensor<7x6x8xf32>
    %136 = stablehlo.transpose %135, dims = [1, 0, 2] : (tensor<7x6x8xf32>) -> tensor<6x7x8xf32>
    %137 = stablehlo.transpose %136, dims = [0, 2, 1] : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
    %138 = stablehlo.reshape %129 : (tensor<7x3x16xf32>) -> tensor<7x6x8xf32>
    %139 = stablehlo.transpose %138, dims = [1, 0, 2] : (tensor<7x6x8xf32>) -> tensor<6x7x8xf32>
    %140 = stablehlo.divide %139, %43 : tensor<6x7x8xf32>
    %141 = stablehlo.dot_general %140, %137, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x8xf32>, tensor<6x8x7xf32>) -> tensor<6x7x7xf32>
    %142 = stablehlo.reduce(%141 init: %46) applies stablehlo.maximum across dimensions = [2] : (tensor<6x7x7xf32>, tensor<f32>) -> tensor<6x7xf32>
    %143 = stablehlo.broadcast_in_dim %142, dims = [0, 1] : (tensor<6x7xf32>) -> tensor<6x7x7xf32>
    %144 = stablehlo.subtract %141, %143 : tensor<6x7x7xf32>
    %145 = stablehlo.exponential %144 : tensor<6x7x7xf32>
    %146 = stablehlo.reduce(%145 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<6x7x7xf32>, tensor<f32>) -> tensor<6x7xf32>
    %147 = stablehlo.broadcast_in_dim %146, dims = [0, 1] : (tensor<6x7xf32>) -> tensor<6x7x7xf32>
    %148 = stablehlo.divide %145, %147 : tensor<6x7x7xf32>
    %149 = stablehlo.multiply %148, %134 : tensor<6x7x7xf32>
    %150 = stablehlo.dot_general %149, %133, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x7xf32>, tensor<6x7x8xf32>) -> tensor<6x7x8xf32>
    %151 = stablehlo.transpose %150, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %152 = stablehlo.reshape %151 : (tensor<7x6x8xf32>) -> tensor<21x16xf32>
    %153 = stablehlo.dot_general %152, %9, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x16xf32>) -> tensor<21x16xf32>
    %154 = stablehlo.broadcast_in_dim %arg31, dims = [1] : (tensor<16xf32>) -> tensor<21x16xf32>
    %155 = stablehlo.add %153, %154 : tensor<21x16xf32>
    %156 = stablehlo.reshape %155 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %157 = stablehlo.multiply %156, %8 : tensor<7x3x16xf32>
    %158 = stablehlo.add %123, %157 : tensor<7x3x16xf32>
    %159 = stablehlo.reduce(%158 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %160 = stablehlo.broadcast_in_dim %159, dims = [0, 1] : (tensor<7x3xf32>) -> tensor<7x3x16xf32>
    %161 = stablehlo.divide %160, %66 : tensor<7x3x16xf32>
    %162 = stablehlo.subtract %158, %161 : tensor<7x3x16xf32>
    %163 = stablehlo.multiply %162, %162 : tensor<7x3x16xf32>
    %164 = stablehlo.reduce(%163 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %165 = stablehlo.divide %159, %73 : tensor<7x3xf32>
    %166 = stablehlo.divide %164, %73 : tensor<7x3xf32>
    %167 = stablehlo.reshape %166 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %168 = stablehlo.reshape %165 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %169 = stablehlo.add %167, %78 : tensor<7x3x1xf32>
    %170 = stablehlo.rsqrt %169 : tensor<7x3x1xf32>
    %171 = stablehlo.broadcast_in_dim %168, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %172 = stablehlo.subtract %158, %171 : tensor<7x3x16xf32>
    %173 = stablehlo.broadcast_in_dim %170, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %174 = stablehlo.multiply %172, %173 : tensor<7x3x16xf32>
    %175 = stablehlo.broadcast_in_dim %arg32, dims = [2] : (tensor<16xf32>) -> tensor<7x3x16xf32>
    %176 = stablehlo.multiply %174, %175 : tensor<7x3x16xf32>
    %177 = stablehlo.broadcast_in_dim %arg33, dims = [2] : (tensor<16xf32>) -> tensor<7x3x16xf32>
    %178 = stablehlo.add %176, %177 : tensor<7x3x16xf32>
    %179 = stablehlo.reshape %178 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %180 = stablehlo.dot_general %179, %7, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x32xf32>) -> tensor<21x32xf32>
    %181 = stablehlo.broadcast_in_dim %arg34, dims = [1] : (tensor<32xf32>) -> tensor<21x32xf32>
    %182 = stablehlo.add %180, %181 : tensor<21x32xf32>
    %183 = stablehlo.reshape %182 : (tensor<21x32xf32>) -> tensor<7x3x32xf32>
    %184 = stablehlo.maximum %183, %94 : tensor<7x3x32xf32>
    %185 = stablehlo.multiply %184, %6 : tensor<7x3x32xf32>
    %186 = stablehlo.reshape %185 : (tensor<7x3x32xf32>) -> tensor<21x32xf32>
    %187 = stablehlo.dot_general %186, %4, contracting_dims = [1] x [0] : (tensor<21x32xf32>, tensor<32x16xf32>) -> tensor<21x16xf32>
    %188 = stablehlo.broadcast_in_dim %arg35, dims = [1] : (tensor<16xf32>) -> tensor<21x16xf32>
    %189 = stablehlo.add %187, %188 : tensor<21x16xf32>
    %190 = stablehlo.reshape %189 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %191 = stablehlo.multiply %190, %3 : tensor<7x3x16xf32>
    %192 = stablehlo.add %178, %191 : tensor<7x3x16xf32>
    %193 = stablehlo.reduce(%192 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %194 = stablehlo.broadcast_in_dim %193, dims = [0, 1] : (tensor<7x3xf32>) -> tensor<7x3x16xf32>
    %195 = stablehlo.divide %194, %66 : tensor<7x3x16xf32>
    %196 = stablehlo.subtract %192, %195 : tensor<7x3x16xf32>
    %197 = stablehlo.multiply %196, %196 : tensor<7x3x16xf32>
    %198 = stablehlo.reduce(%197 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %199 = stablehlo.divide %193, %73 : tensor<7x3xf32>
    %200 = stablehlo.divide %198, %73 : tensor<7x3xf32>
    %201 = stablehlo.reshape %200 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %202 = stablehlo.reshape %199 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %203 = stablehlo.add %201, %78 : tensor<7x3x1xf32>
    %204 = stablehlo.rsqrt %203 : tensor<7x3x1xf32>
    %205 = stablehlo.broadcast_in_dim %202, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %206 = stablehlo.subtract %192, %205 : tensor<7x3x16xf32>
    %207 = stablehlo.broadcast_in_dim %204, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %208 = stablehlo.multiply %206, %207 : tensor<7x3x16xf32>
    %209 = stablehlo.broadcast_in_dim %arg36, dims = [2] : (tensor<16xf32>) -> tensor<7x3x16xf32>
    %210 = stablehlo.multiply %208, %209 : tensor<7x3x16xf32>
    %211 = stablehlo.broadcast_in_dim %arg37, dims = [2] : (tensor<16xf32>) -> tensor<7x3x16xf32>
    %212 = stablehlo.add %210, %211 : tensor<7x3x16xf32>
    %213 = stablehlo.reshape %212 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %214 = stablehlo.dot_general %213, %1, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x30xf32>) -> tensor<21x30xf32>
    %215 = stablehlo.broadcast_in_dim %arg38, dims = [1] : (tensor<30xf32>) -> tensor<21x30xf32>
    %216 = stablehlo.add %214, %215 : tensor<21x30xf32>
    %217 = stablehlo.reshape %216 : (tensor<21x30xf32>) -> tensor<7x3x30xf32>
    %218 = stablehlo.reshape %217 : (tensor<7x3x30xf32>) -> tensor<21x30xf32>
    %219 = stablehlo.reduce(%218 init: %46) applies stablehlo.maximum across dimensions = [1] : (tensor<21x30xf32>, tensor<f32>) -> tensor<21xf32>
    %220 = stablehlo.broadcast_in_dim %219, dims = [0] : (tensor<21xf32>) -> tensor<21x30xf32>
    %221 = stablehlo.subtract %218, %220 : tensor<21x30xf32>
    %222 = stablehlo.exponential %221 : tensor<21x30xf32>
    %223 = stablehlo.reduce(%222 init: %51) applies stablehlo.add across dimensions = [1] : (tensor<21x30xf32>, tensor<f32>) -> tensor<21xf32>
    %224 = stablehlo.broadcast_in_dim %223, dims = [0] : (tensor<21xf32>) -> tensor<21x30xf32>
    %225 = stablehlo.log %224 : tensor<21x30xf32>
    %226 = stablehlo.subtract %221, %225 : tensor<21x30xf32>
    %227 = stablehlo.constant dense<-100> : tensor<21xi64>
    %228 = stablehlo.compare NE, %arg39, %227 : (tensor<21xi64>, tensor<21xi64>) -> tensor<21xi1>
    %229 = stablehlo.iota dim = 1 : tensor<21x30xi64>
    %230 = stablehlo.broadcast_in_dim %arg39, dims = [0] : (tensor<21xi64>) -> tensor<21x30xi64>
    %231 = stablehlo.compare EQ, %229, %230 : (tensor<21x30xi64>, tensor<21x30xi64>) -> tensor<21x30xi1>
    %232 = stablehlo.broadcast_in_dim %228, dims = [0] : (tensor<21xi1>) -> tensor<21x30xi1>
    %233 = stablehlo.and %231, %232 : tensor<21x30xi1>
    %234 = stablehlo.constant dense<1.0> : tensor<21x30xf32>
    %235 = stablehlo.multiply %226, %234 : tensor<21x30xf32>
    %236 = stablehlo.constant dense<0.0> : tensor<21x30xf32>
    %237 = stablehlo.select %233, %235, %236 : tensor<21x30xi1>, tensor<21x30xf32>
    %238 = stablehlo.reduce(%237 init: %51) applies stablehlo.add across dimensions = [1] : (tensor<21x30xf32>, tensor<f32>) -> tensor<21xf32>
    %239 = stablehlo.negate %238 : tensor<21xf32>
    %240 = stablehlo.select %233, %234, %236 : tensor<21x30xi1>, tensor<21x30xf32>
    %241 = stablehlo.reduce(%240 init: %51) applies stablehlo.add across dimensions = [1] : (tensor<21x30xf32>, tensor<f32>) -> tensor<21xf32>
    %242 = stablehlo.reduce(%241 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21xf32>, tensor<f32>) -> tensor<f32>
    %243 = stablehlo.reduce(%239 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21xf32>, tensor<f32>) -> tensor<f32>
    %244 = stablehlo.divide %243, %242 : tensor<f32>
    %245 = stablehlo.constant dense<1.0> : tensor<f32>
    %246 = stablehlo.constant dense<1.0> : tensor<f32>
    %247 = stablehlo.constant dense<0.0> : tensor<f32>
    %248 = stablehlo.compare NE, %242, %247 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %249 = stablehlo.select %248, %242, %246 : tensor<i1>, tensor<f32>
    %250 = stablehlo.divide %245, %249 : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %250, dims = [] : (tensor<f32>) -> tensor<21x30xf32>
    %252 = stablehlo.multiply %251, %234 : tensor<21x30xf32>
    %253 = stablehlo.negate %252 : tensor<21x30xf32>
    %254 = stablehlo.select %233, %253, %236 : tensor<21x30xi1>, tensor<21x30xf32>
    %255 = stablehlo.reduce(%254 init: %51) applies stablehlo.add across dimensions = [1] : (tensor<21x30xf32>, tensor<f32>) -> tensor<21xf32>
    %256 = stablehlo.broadcast_in_dim %255, dims = [0] : (tensor<21xf32>) -> tensor<21x30xf32>
    %257 = stablehlo.exponential %226 : tensor<21x30xf32>
    %258 = stablehlo.multiply %257, %256 : tensor<21x30xf32>
    %259 = stablehlo.subtract %254, %258 : tensor<21x30xf32>
    %260 = stablehlo.reshape %259 : (tensor<21x30xf32>) -> tensor<7x3x30xf32>
    %261 = stablehlo.reshape %260 : (tensor<7x3x30xf32>) -> tensor<21x30xf32>
    %262 = stablehlo.transpose %261, dims = [1, 0] : (tensor<21x30xf32>) -> tensor<30x21xf32>
    %263 = stablehlo.dot_general %262, %213, contracting_dims = [1] x [0] : (tensor<30x21xf32>, tensor<21x16xf32>) -> tensor<30x16xf32>
    %264 = stablehlo.reduce(%261 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x30xf32>, tensor<f32>) -> tensor<30xf32>
    %265 = stablehlo.reshape %264 : (tensor<30xf32>) -> tensor<1x30xf32>
    %266 = stablehlo.transpose %1, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %267 = stablehlo.dot_general %261, %266, contracting_dims = [1] x [0] : (tensor<21x30xf32>, tensor<30x16xf32>) -> tensor<21x16xf32>
    %268 = stablehlo.reshape %267 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %269 = stablehlo.constant dense<16> : tensor<i64>
    %270 = stablehlo.multiply %268, %209 : tensor<7x3x16xf32>
    %271 = stablehlo.multiply %270, %208 : tensor<7x3x16xf32>
    %272 = stablehlo.reduce(%271 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %273 = stablehlo.reshape %272 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %274 = stablehlo.broadcast_in_dim %273, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %275 = stablehlo.multiply %208, %274 : tensor<7x3x16xf32>
    %276 = stablehlo.reduce(%270 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %277 = stablehlo.reshape %276 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %278 = stablehlo.convert %269 : (tensor<i64>) -> tensor<f32>
    %279 = stablehlo.broadcast_in_dim %278, dims = [] : (tensor<f32>) -> tensor<7x3x16xf32>
    %280 = stablehlo.multiply %270, %279 : tensor<7x3x16xf32>
    %281 = stablehlo.broadcast_in_dim %277, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %282 = stablehlo.subtract %280, %281 : tensor<7x3x16xf32>
    %283 = stablehlo.subtract %282, %275 : tensor<7x3x16xf32>
    %284 = stablehlo.broadcast_in_dim %278, dims = [] : (tensor<f32>) -> tensor<7x3x1xf32>
    %285 = stablehlo.divide %204, %284 : tensor<7x3x1xf32>
    %286 = stablehlo.broadcast_in_dim %285, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %287 = stablehlo.multiply %286, %283 : tensor<7x3x16xf32>
    %288 = stablehlo.multiply %268, %208 : tensor<7x3x16xf32>
    %289 = stablehlo.reduce(%288 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %290 = stablehlo.reduce(%268 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %291 = stablehlo.multiply %287, %3 : tensor<7x3x16xf32>
    %292 = stablehlo.reshape %291 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %293 = stablehlo.transpose %292, dims = [1, 0] : (tensor<21x16xf32>) -> tensor<16x21xf32>
    %294 = stablehlo.dot_general %293, %186, contracting_dims = [1] x [0] : (tensor<16x21xf32>, tensor<21x32xf32>) -> tensor<16x32xf32>
    %295 = stablehlo.reduce(%292 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x16xf32>, tensor<f32>) -> tensor<16xf32>
    %296 = stablehlo.reshape %295 : (tensor<16xf32>) -> tensor<1x16xf32>
    %297 = stablehlo.transpose %4, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %298 = stablehlo.dot_general %292, %297, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x32xf32>) -> tensor<21x32xf32>
    %299 = stablehlo.reshape %298 : (tensor<21x32xf32>) -> tensor<7x3x32xf32>
    %300 = stablehlo.multiply %299, %6 : tensor<7x3x32xf32>
    %301 = stablehlo.compare GT, %184, %94 : (tensor<7x3x32xf32>, tensor<7x3x32xf32>) -> tensor<7x3x32xi1>
    %302 = stablehlo.select %301, %300, %94 : tensor<7x3x32xi1>, tensor<7x3x32xf32>
    %303 = stablehlo.reshape %302 : (tensor<7x3x32xf32>) -> tensor<21x32xf32>
    %304 = stablehlo.transpose %303, dims = [1, 0] : (tensor<21x32xf32>) -> tensor<32x21xf32>
    %305 = stablehlo.dot_general %304, %179, contracting_dims = [1] x [0] : (tensor<32x21xf32>, tensor<21x16xf32>) -> tensor<32x16xf32>
    %306 = stablehlo.reduce(%303 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x32xf32>, tensor<f32>) -> tensor<32xf32>
    %307 = stablehlo.reshape %306 : (tensor<32xf32>) -> tensor<1x32xf32>
    %308 = stablehlo.transpose %7, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %309 = stablehlo.dot_general %303, %308, contracting_dims = [1] x [0] : (tensor<21x32xf32>, tensor<32x16xf32>) -> tensor<21x16xf32>
    %310 = stablehlo.reshape %309 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %311 = stablehlo.add %287, %310 : tensor<7x3x16xf32>
    %312 = stablehlo.multiply %311, %175 : tensor<7x3x16xf32>
    %313 = stablehlo.multiply %312, %174 : tensor<7x3x16xf32>
    %314 = stablehlo.reduce(%313 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %315 = stablehlo.reshape %314 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %316 = stablehlo.broadcast_in_dim %315, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %317 = stablehlo.multiply %174, %316 : tensor<7x3x16xf32>
    %318 = stablehlo.reduce(%312 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %319 = stablehlo.reshape %318 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %320 = stablehlo.multiply %312, %279 : tensor<7x3x16xf32>
    %321 = stablehlo.broadcast_in_dim %319, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %322 = stablehlo.subtract %320, %321 : tensor<7x3x16xf32>
    %323 = stablehlo.subtract %322, %317 : tensor<7x3x16xf32>
    %324 = stablehlo.divide %170, %284 : tensor<7x3x1xf32>
    %325 = stablehlo.broadcast_in_dim %324, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %326 = stablehlo.multiply %325, %323 : tensor<7x3x16xf32>
    %327 = stablehlo.multiply %311, %174 : tensor<7x3x16xf32>
    %328 = stablehlo.reduce(%327 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %329 = stablehlo.reduce(%311 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %330 = stablehlo.multiply %326, %8 : tensor<7x3x16xf32>
    %331 = stablehlo.reshape %330 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %332 = stablehlo.transpose %331, dims = [1, 0] : (tensor<21x16xf32>) -> tensor<16x21xf32>
    %333 = stablehlo.dot_general %332, %152, contracting_dims = [1] x [0] : (tensor<16x21xf32>, tensor<21x16xf32>) -> tensor<16x16xf32>
    %334 = stablehlo.reduce(%331 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x16xf32>, tensor<f32>) -> tensor<16xf32>
    %335 = stablehlo.reshape %334 : (tensor<16xf32>) -> tensor<1x16xf32>
    %336 = stablehlo.transpose %9, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %337 = stablehlo.dot_general %331, %336, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x16xf32>) -> tensor<21x16xf32>
    %338 = stablehlo.reshape %337 : (tensor<21x16xf32>) -> tensor<7x6x8xf32>
    %339 = stablehlo.transpose %338, dims = [1, 0, 2] : (tensor<7x6x8xf32>) -> tensor<6x7x8xf32>
    %340 = stablehlo.transpose %149, dims = [0, 2, 1] : (tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
    %341 = stablehlo.dot_general %340, %339, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x7xf32>, tensor<6x7x8xf32>) -> tensor<6x7x8xf32>
    %342 = stablehlo.transpose %341, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %343 = stablehlo.reshape %342 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %344 = stablehlo.transpose %133, dims = [0, 2, 1] : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
    %345 = stablehlo.dot_general %339, %344, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x8xf32>, tensor<6x8x7xf32>) -> tensor<6x7x7xf32>
    %346 = stablehlo.multiply %345, %134 : tensor<6x7x7xf32>
    %347 = stablehlo.multiply %346, %148 : tensor<6x7x7xf32>
    %348 = stablehlo.reduce(%347 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<6x7x7xf32>, tensor<f32>) -> tensor<6x7xf32>
    %349 = stablehlo.broadcast_in_dim %348, dims = [0, 1] : (tensor<6x7xf32>) -> tensor<6x7x7xf32>
    %350 = stablehlo.multiply %148, %349 : tensor<6x7x7xf32>
    %351 = stablehlo.subtract %347, %350 : tensor<6x7x7xf32>
    %352 = stablehlo.transpose %140, dims = [0, 2, 1] : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
    %353 = stablehlo.dot_general %352, %351, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x8x7xf32>, tensor<6x7x7xf32>) -> tensor<6x8x7xf32>
    %354 = stablehlo.transpose %353, dims = [0, 2, 1] : (tensor<6x8x7xf32>) -> tensor<6x7x8xf32>
    %355 = stablehlo.transpose %354, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %356 = stablehlo.reshape %355 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %357 = stablehlo.transpose %137, dims = [0, 2, 1] : (tensor<6x8x7xf32>) -> tensor<6x7x8xf32>
    %358 = stablehlo.dot_general %351, %357, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x7xf32>, tensor<6x7x8xf32>) -> tensor<6x7x8xf32>
    %359 = stablehlo.divide %358, %43 : tensor<6x7x8xf32>
    %360 = stablehlo.transpose %359, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %361 = stablehlo.reshape %360 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %362 = stablehlo.concatenate %361, %356, %343, dim = 2 : (tensor<7x3x16xf32>, tensor<7x3x16xf32>, tensor<7x3x16xf32>) -> tensor<7x3x48xf32>
    %363 = stablehlo.reshape %362 : (tensor<7x3x48xf32>) -> tensor<21x48xf32>
    %364 = stablehlo.transpose %363, dims = [1, 0] : (tensor<21x48xf32>) -> tensor<48x21xf32>
    %365 = stablehlo.dot_general %364, %124, contracting_dims = [1] x [0] : (tensor<48x21xf32>, tensor<21x16xf32>) -> tensor<48x16xf32>
    %366 = stablehlo.reduce(%363 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x48xf32>, tensor<f32>) -> tensor<48xf32>
    %367 = stablehlo.reshape %366 : (tensor<48xf32>) -> tensor<1x48xf32>
    %368 = stablehlo.transpose %10, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %369 = stablehlo.dot_general %363, %368, contracting_dims = [1] x [0] : (tensor<21x48xf32>, tensor<48x16xf32>) -> tensor<21x16xf32>
    %370 = stablehlo.reshape %369 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %371 = stablehlo.add %326, %370 : tensor<7x3x16xf32>
    %372 = stablehlo.multiply %371, %120 : tensor<7x3x16xf32>
    %373 = stablehlo.multiply %372, %119 : tensor<7x3x16xf32>
    %374 = stablehlo.reduce(%373 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %375 = stablehlo.reshape %374 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %376 = stablehlo.broadcast_in_dim %375, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %377 = stablehlo.multiply %119, %376 : tensor<7x3x16xf32>
    %378 = stablehlo.reduce(%372 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %379 = stablehlo.reshape %378 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %380 = stablehlo.multiply %372, %279 : tensor<7x3x16xf32>
    %381 = stablehlo.broadcast_in_dim %379, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %382 = stablehlo.subtract %380, %381 : tensor<7x3x16xf32>
    %383 = stablehlo.subtract %382, %377 : tensor<7x3x16xf32>
    %384 = stablehlo.divide %115, %284 : tensor<7x3x1xf32>
    %385 = stablehlo.broadcast_in_dim %384, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %386 = stablehlo.multiply %385, %383 : tensor<7x3x16xf32>
    %387 = stablehlo.multiply %371, %119 : tensor<7x3x16xf32>
    %388 = stablehlo.reduce(%387 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %389 = stablehlo.reduce(%371 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %390 = stablehlo.multiply %386, %11 : tensor<7x3x16xf32>
    %391 = stablehlo.reshape %390 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %392 = stablehlo.transpose %391, dims = [1, 0] : (tensor<21x16xf32>) -> tensor<16x21xf32>
    %393 = stablehlo.dot_general %392, %97, contracting_dims = [1] x [0] : (tensor<16x21xf32>, tensor<21x32xf32>) -> tensor<16x32xf32>
    %394 = stablehlo.reduce(%391 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x16xf32>, tensor<f32>) -> tensor<16xf32>
    %395 = stablehlo.reshape %394 : (tensor<16xf32>) -> tensor<1x16xf32>
    %396 = stablehlo.transpose %12, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %397 = stablehlo.dot_general %391, %396, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x32xf32>) -> tensor<21x32xf32>
    %398 = stablehlo.reshape %397 : (tensor<21x32xf32>) -> tensor<7x3x32xf32>
    %399 = stablehlo.multiply %398, %13 : tensor<7x3x32xf32>
    %400 = stablehlo.compare GT, %95, %94 : (tensor<7x3x32xf32>, tensor<7x3x32xf32>) -> tensor<7x3x32xi1>
    %401 = stablehlo.select %400, %399, %94 : tensor<7x3x32xi1>, tensor<7x3x32xf32>
    %402 = stablehlo.reshape %401 : (tensor<7x3x32xf32>) -> tensor<21x32xf32>
    %403 = stablehlo.transpose %402, dims = [1, 0] : (tensor<21x32xf32>) -> tensor<32x21xf32>
    %404 = stablehlo.dot_general %403, %89, contracting_dims = [1] x [0] : (tensor<32x21xf32>, tensor<21x16xf32>) -> tensor<32x16xf32>
    %405 = stablehlo.reduce(%402 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x32xf32>, tensor<f32>) -> tensor<32xf32>
    %406 = stablehlo.reshape %405 : (tensor<32xf32>) -> tensor<1x32xf32>
    %407 = stablehlo.transpose %14, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %408 = stablehlo.dot_general %402, %407, contracting_dims = [1] x [0] : (tensor<21x32xf32>, tensor<32x16xf32>) -> tensor<21x16xf32>
    %409 = stablehlo.reshape %408 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %410 = stablehlo.add %386, %409 : tensor<7x3x16xf32>
    %411 = stablehlo.multiply %410, %85 : tensor<7x3x16xf32>
    %412 = stablehlo.multiply %411, %84 : tensor<7x3x16xf32>
    %413 = stablehlo.reduce(%412 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %414 = stablehlo.reshape %413 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %415 = stablehlo.broadcast_in_dim %414, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %416 = stablehlo.multiply %84, %415 : tensor<7x3x16xf32>
    %417 = stablehlo.reduce(%411 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %418 = stablehlo.reshape %417 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %419 = stablehlo.multiply %411, %279 : tensor<7x3x16xf32>
    %420 = stablehlo.broadcast_in_dim %418, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %421 = stablehlo.subtract %419, %420 : tensor<7x3x16xf32>
    %422 = stablehlo.subtract %421, %416 : tensor<7x3x16xf32>
    %423 = stablehlo.divide %80, %284 : tensor<7x3x1xf32>
    %424 = stablehlo.broadcast_in_dim %423, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %425 = stablehlo.multiply %424, %422 : tensor<7x3x16xf32>
    %426 = stablehlo.multiply %410, %84 : tensor<7x3x16xf32>
    %427 = stablehlo.reduce(%426 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %428 = stablehlo.reduce(%410 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %429 = stablehlo.multiply %425, %15 : tensor<7x3x16xf32>
    %430 = stablehlo.reshape %429 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %431 = stablehlo.transpose %430, dims = [1, 0] : (tensor<21x16xf32>) -> tensor<16x21xf32>
    %432 = stablehlo.dot_general %431, %58, contracting_dims = [1] x [0] : (tensor<16x21xf32>, tensor<21x16xf32>) -> tensor<16x16xf32>
    %433 = stablehlo.reduce(%430 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x16xf32>, tensor<f32>) -> tensor<16xf32>
    %434 = stablehlo.reshape %433 : (tensor<16xf32>) -> tensor<1x16xf32>
    %435 = stablehlo.transpose %16, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %436 = stablehlo.dot_general %430, %435, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x16xf32>) -> tensor<21x16xf32>
    %437 = stablehlo.reshape %436 : (tensor<21x16xf32>) -> tensor<7x6x8xf32>
    %438 = stablehlo.transpose %437, dims = [1, 0, 2] : (tensor<7x6x8xf32>) -> tensor<6x7x8xf32>
    %439 = stablehlo.transpose %55, dims = [0, 2, 1] : (tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
    %440 = stablehlo.dot_general %439, %438, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x7xf32>, tensor<6x7x8xf32>) -> tensor<6x7x8xf32>
    %441 = stablehlo.transpose %440, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %442 = stablehlo.reshape %441 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %443 = stablehlo.transpose %35, dims = [0, 2, 1] : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
    %444 = stablehlo.dot_general %438, %443, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x8xf32>, tensor<6x8x7xf32>) -> tensor<6x7x7xf32>
    %445 = stablehlo.multiply %444, %37 : tensor<6x7x7xf32>
    %446 = stablehlo.multiply %445, %54 : tensor<6x7x7xf32>
    %447 = stablehlo.reduce(%446 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<6x7x7xf32>, tensor<f32>) -> tensor<6x7xf32>
    %448 = stablehlo.broadcast_in_dim %447, dims = [0, 1] : (tensor<6x7xf32>) -> tensor<6x7x7xf32>
    %449 = stablehlo.multiply %54, %448 : tensor<6x7x7xf32>
    %450 = stablehlo.subtract %446, %449 : tensor<6x7x7xf32>
    %451 = stablehlo.transpose %44, dims = [0, 2, 1] : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
    %452 = stablehlo.dot_general %451, %450, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x8x7xf32>, tensor<6x7x7xf32>) -> tensor<6x8x7xf32>
    %453 = stablehlo.transpose %452, dims = [0, 2, 1] : (tensor<6x8x7xf32>) -> tensor<6x7x8xf32>
    %454 = stablehlo.transpose %453, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %455 = stablehlo.reshape %454 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %456 = stablehlo.transpose %40, dims = [0, 2, 1] : (tensor<6x8x7xf32>) -> tensor<6x7x8xf32>
    %457 = stablehlo.dot_general %450, %456, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x7xf32>, tensor<6x7x8xf32>) -> tensor<6x7x8xf32>
    %458 = stablehlo.divide %457, %43 : tensor<6x7x8xf32>
    %459 = stablehlo.transpose %458, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %460 = stablehlo.reshape %459 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %461 = stablehlo.concatenate %460, %455, %442, dim = 2 : (tensor<7x3x16xf32>, tensor<7x3x16xf32>, tensor<7x3x16xf32>) -> tensor<7x3x48xf32>
    %462 = stablehlo.reshape %461 : (tensor<7x3x48xf32>) -> tensor<21x48xf32>
    %463 = stablehlo.transpose %462, dims = [1, 0] : (tensor<21x48xf32>) -> tensor<48x21xf32>
    %464 = stablehlo.dot_general %463, %26, contracting_dims = [1] x [0] : (tensor<48x21xf32>, tensor<21x16xf32>) -> tensor<48x16xf32>
    %465 = stablehlo.reduce(%462 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x48xf32>, tensor<f32>) -> tensor<48xf32>
    %466 = stablehlo.reshape %465 : (tensor<48xf32>) -> tensor<1x48xf32>
    %467 = stablehlo.transpose %17, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %468 = stablehlo.dot_general %462, %467, contracting_dims = [1] x [0] : (tensor<21x48xf32>, tensor<48x16xf32>) -> tensor<21x16xf32>
    %469 = stablehlo.reshape %468 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %470 = stablehlo.add %425, %469 : tensor<7x3x16xf32>
    %471 = stablehlo.multiply %470, %18 : tensor<7x3x16xf32>
    %472 = stablehlo.reshape %arg18 : (tensor<7x3xi64>) -> tensor<21x1xi64>
    %473 = stablehlo.reshape %471 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %474 = stablehlo.constant dense<0.0> : tensor<30x16xf32>
    %478 = "stablehlo.scatter"(%474, %472, %473) ({
      ^bb0(%475: tensor<f32>, %476: tensor<f32>):
      %477 = stablehlo.add %475, %476 : tensor<f32>
      stablehlo.return %477 : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<30x16xf32>, tensor<21x1xi64>, tensor<21x16xf32>) -> tensor<30x16xf32>
    %479 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %480 = stablehlo.multiply %474, %479 : tensor<30x16xf32>
    %481 = stablehlo.broadcast_in_dim %arg40, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %482 = stablehlo.multiply %478, %481 : tensor<30x16xf32>
    %483 = stablehlo.add %480, %482 : tensor<30x16xf32>
    %484 = stablehlo.broadcast_in_dim %arg41, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %485 = stablehlo.multiply %474, %484 : tensor<30x16xf32>
    %486 = stablehlo.multiply %478, %478 : tensor<30x16xf32>
    %487 = stablehlo.broadcast_in_dim %arg42, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %488 = stablehlo.multiply %486, %487 : tensor<30x16xf32>
    %489 = stablehlo.add %485, %488 : tensor<30x16xf32>
    %490 = stablehlo.sqrt %489 : tensor<30x16xf32>
    %491 = stablehlo.broadcast_in_dim %arg43, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %492 = stablehlo.divide %490, %491 : tensor<30x16xf32>
    %493 = stablehlo.broadcast_in_dim %arg44, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %494 = stablehlo.add %492, %493 : tensor<30x16xf32>
    %495 = stablehlo.broadcast_in_dim %arg45, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %496 = stablehlo.multiply %arg17, %495 : tensor<30x16xf32>
    %497 = stablehlo.divide %483, %494 : tensor<30x16xf32>
    %498 = stablehlo.broadcast_in_dim %arg46, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %499 = stablehlo.multiply %497, %498 : tensor<30x16xf32>
    %500 = stablehlo.add %496, %499 : tensor<30x16xf32>
    %501 = stablehlo.transpose %263, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %502 = stablehlo.transpose %501, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %503 = stablehlo.multiply %502, %481 : tensor<30x16xf32>
    %504 = stablehlo.add %480, %503 : tensor<30x16xf32>
    %505 = stablehlo.multiply %502, %502 : tensor<30x16xf32>
    %506 = stablehlo.multiply %505, %487 : tensor<30x16xf32>
    %507 = stablehlo.add %485, %506 : tensor<30x16xf32>
    %508 = stablehlo.sqrt %507 : tensor<30x16xf32>
    %509 = stablehlo.divide %508, %491 : tensor<30x16xf32>
    %510 = stablehlo.add %509, %493 : tensor<30x16xf32>
    %511 = stablehlo.multiply %arg0, %495 : tensor<30x16xf32>
    %512 = stablehlo.divide %504, %510 : tensor<30x16xf32>
    %513 = stablehlo.multiply %512, %498 : tensor<30x16xf32>
    %514 = stablehlo.add %511, %513 : tensor<30x16xf32>
    %515 = stablehlo.reshape %265 : (tensor<1x30xf32>) -> tensor<30xf32>
    %516 = stablehlo.constant dense<0.0> : tensor<30xf32>
    %517 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %518 = stablehlo.multiply %516, %517 : tensor<30xf32>
    %519 = stablehlo.broadcast_in_dim %arg40, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %520 = stablehlo.multiply %515, %519 : tensor<30xf32>
    %521 = stablehlo.add %518, %520 : tensor<30xf32>
    %522 = stablehlo.broadcast_in_dim %arg41, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %523 = stablehlo.multiply %516, %522 : tensor<30xf32>
    %524 = stablehlo.multiply %515, %515 : tensor<30xf32>
    %525 = stablehlo.broadcast_in_dim %arg42, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %526 = stablehlo.multiply %524, %525 : tensor<30xf32>
    %527 = stablehlo.add %523, %526 : tensor<30xf32>
    %528 = stablehlo.sqrt %527 : tensor<30xf32>
    %529 = stablehlo.broadcast_in_dim %arg43, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %530 = stablehlo.divide %528, %529 : tensor<30xf32>
    %531 = stablehlo.broadcast_in_dim %arg44, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %532 = stablehlo.add %530, %531 : tensor<30xf32>
    %533 = stablehlo.broadcast_in_dim %arg45, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %534 = stablehlo.multiply %arg38, %533 : tensor<30xf32>
    %535 = stablehlo.divide %521, %532 : tensor<30xf32>
    %536 = stablehlo.broadcast_in_dim %arg46, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %537 = stablehlo.multiply %535, %536 : tensor<30xf32>
    %538 = stablehlo.add %534, %537 : tensor<30xf32>
    %539 = stablehlo.transpose %464, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %540 = stablehlo.transpose %539, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %541 = stablehlo.constant dense<0.0> : tensor<48x16xf32>
    %542 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %543 = stablehlo.multiply %541, %542 : tensor<48x16xf32>
    %544 = stablehlo.broadcast_in_dim %arg40, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %545 = stablehlo.multiply %540, %544 : tensor<48x16xf32>
    %546 = stablehlo.add %543, %545 : tensor<48x16xf32>
    %547 = stablehlo.broadcast_in_dim %arg41, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %548 = stablehlo.multiply %541, %547 : tensor<48x16xf32>
    %549 = stablehlo.multiply %540, %540 : tensor<48x16xf32>
    %550 = stablehlo.broadcast_in_dim %arg42, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %551 = stablehlo.multiply %549, %550 : tensor<48x16xf32>
    %552 = stablehlo.add %548, %551 : tensor<48x16xf32>
    %553 = stablehlo.sqrt %552 : tensor<48x16xf32>
    %554 = stablehlo.broadcast_in_dim %arg43, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %555 = stablehlo.divide %553, %554 : tensor<48x16xf32>
    %556 = stablehlo.broadcast_in_dim %arg44, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %557 = stablehlo.add %555, %556 : tensor<48x16xf32>
    %558 = stablehlo.broadcast_in_dim %arg45, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %559 = stablehlo.multiply %arg15, %558 : tensor<48x16xf32>
    %560 = stablehlo.divide %546, %557 : tensor<48x16xf32>
    %561 = stablehlo.broadcast_in_dim %arg46, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %562 = stablehlo.multiply %560, %561 : tensor<48x16xf32>
    %563 = stablehlo.add %559, %562 : tensor<48x16xf32>
    %564 = stablehlo.reshape %466 : (tensor<1x48xf32>) -> tensor<48xf32>
    %565 = stablehlo.constant dense<0.0> : tensor<48xf32>
    %566 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %567 = stablehlo.multiply %565, %566 : tensor<48xf32>
    %568 = stablehlo.broadcast_in_dim %arg40, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %569 = stablehlo.multiply %564, %568 : tensor<48xf32>
    %570 = stablehlo.add %567, %569 : tensor<48xf32>
    %571 = stablehlo.broadcast_in_dim %arg41, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %572 = stablehlo.multiply %565, %571 : tensor<48xf32>
    %573 = stablehlo.multiply %564, %564 : tensor<48xf32>
    %574 = stablehlo.broadcast_in_dim %arg42, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %575 = stablehlo.multiply %573, %574 : tensor<48xf32>
    %576 = stablehlo.add %572, %575 : tensor<48xf32>
    %577 = stablehlo.sqrt %576 : tensor<48xf32>
    %578 = stablehlo.broadcast_in_dim %arg43, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %579 = stablehlo.divide %577, %578 : tensor<48xf32>
    %580 = stablehlo.broadcast_in_dim %arg44, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %581 = stablehlo.add %579, %580 : tensor<48xf32>
    %582 = stablehlo.broadcast_in_dim %arg45, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %583 = stablehlo.multiply %arg19, %582 : tensor<48xf32>
    %584 = stablehlo.divide %570, %581 : tensor<48xf32>
    %585 = stablehlo.broadcast_in_dim %arg46, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %586 = stablehlo.multiply %584, %585 : tensor<48xf32>
    %587 = stablehlo.add %583, %586 : tensor<48xf32>
    %588 = stablehlo.transpose %432, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %589 = stablehlo.transpose %588, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %590 = stablehlo.constant dense<0.0> : tensor<16x16xf32>
    %591 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %592 = stablehlo.multiply %590, %591 : tensor<16x16xf32>
    %593 = stablehlo.broadcast_in_dim %arg40, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %594 = stablehlo.multiply %589, %593 : tensor<16x16xf32>
    %595 = stablehlo.add %592, %594 : tensor<16x16xf32>
    %596 = stablehlo.broadcast_in_dim %arg41, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %597 = stablehlo.multiply %590, %596 : tensor<16x16xf32>
    %598 = stablehlo.multiply %589, %589 : tensor<16x16xf32>
    %599 = stablehlo.broadcast_in_dim %arg42, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %600 = stablehlo.multiply %598, %599 : tensor<16x16xf32>
    %601 = stablehlo.add %597, %600 : tensor<16x16xf32>
    %602 = stablehlo.sqrt %601 : tensor<16x16xf32>
    %603 = stablehlo.broadcast_in_dim %arg43, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %604 = stablehlo.divide %602, %603 : tensor<16x16xf32>
    %605 = stablehlo.broadcast_in_dim %arg44, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %606 = stablehlo.add %604, %605 : tensor<16x16xf32>
    %607 = stablehlo.broadcast_in_dim %arg45, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %608 = stablehlo.multiply %arg14, %607 : tensor<16x16xf32>
    %609 = stablehlo.divide %595, %606 : tensor<16x16xf32>
    %610 = stablehlo.broadcast_in_dim %arg46, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %611 = stablehlo.multiply %609, %610 : tensor<16x16xf32>
    %612 = stablehlo.add %608, %611 : tensor<16x16xf32>
    %613 = stablehlo.reshape %434 : (tensor<1x16xf32>) -> tensor<16xf32>
    %614 = stablehlo.constant dense<0.0> : tensor<16xf32>
    %615 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %616 = stablehlo.multiply %614, %615 : tensor<16xf32>
    %617 = stablehlo.broadcast_in_dim %arg40, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %618 = stablehlo.multiply %613, %617 : tensor<16xf32>
    %619 = stablehlo.add %616, %618 : tensor<16xf32>
    %620 = stablehlo.broadcast_in_dim %arg41, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %621 = stablehlo.multiply %614, %620 : tensor<16xf32>
    %622 = stablehlo.multiply %613, %613 : tensor<16xf32>
    %623 = stablehlo.broadcast_in_dim %arg42, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %624 = stablehlo.multiply %622, %623 : tensor<16xf32>
    %625 = stablehlo.add %621, %624 : tensor<16xf32>
    %626 = stablehlo.sqrt %625 : tensor<16xf32>
    %627 = stablehlo.broadcast_in_dim %arg43, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %628 = stablehlo.divide %626, %627 : tensor<16xf32>
    %629 = stablehlo.broadcast_in_dim %arg44, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %630 = stablehlo.add %628, %629 : tensor<16xf32>
    %631 = stablehlo.broadcast_in_dim %arg45, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %632 = stablehlo.multiply %arg22, %631 : tensor<16xf32>
    %633 = stablehlo.divide %619, %630 : tensor<16xf32>
    %634 = stablehlo.broadcast_in_dim %arg46, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %635 = stablehlo.multiply %633, %634 : tensor<16xf32>
    %636 = stablehlo.add %632, %635 : tensor<16xf32>
    %637 = stablehlo.transpose %404, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %638 = stablehlo.transpose %637, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %639 = stablehlo.constant dense<0.0> : tensor<32x16xf32>
    %640 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %641 = stablehlo.multiply %639, %640 : tensor<32x16xf32>
    %642 = stablehlo.broadcast_in_dim %arg40, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %643 = stablehlo.multiply %638, %642 : tensor<32x16xf32>
    %644 = stablehlo.add %641, %643 : tensor<32x16xf32>
    %645 = stablehlo.broadcast_in_dim %arg41, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %646 = stablehlo.multiply %639, %645 : tensor<32x16xf32>
    %647 = stablehlo.multiply %638, %638 : tensor<32x16xf32>
    %648 = stablehlo.broadcast_in_dim %arg42, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %649 = stablehlo.multiply %647, %648 : tensor<32x16xf32>
    %650 = stablehlo.add %646, %649 : tensor<32x16xf32>
    %651 = stablehlo.sqrt %650 : tensor<32x16xf32>
    %652 = stablehlo.broadcast_in_dim %arg43, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %653 = stablehlo.divide %651, %652 : tensor<32x16xf32>
    %654 = stablehlo.broadcast_in_dim %arg44, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %655 = stablehlo.add %653, %654 : tensor<32x16xf32>
    %656 = stablehlo.broadcast_in_dim %arg45, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %657 = stablehlo.multiply %arg12, %656 : tensor<32x16xf32>
    %658 = stablehlo.divide %644, %655 : tensor<32x16xf32>
    %659 = stablehlo.broadcast_in_dim %arg46, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %660 = stablehlo.multiply %658, %659 : tensor<32x16xf32>
    %661 = stablehlo.add %657, %660 : tensor<32x16xf32>
    %662 = stablehlo.reshape %406 : (tensor<1x32xf32>) -> tensor<32xf32>
    %663 = stablehlo.constant dense<0.0> : tensor<32xf32>
    %664 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %665 = stablehlo.multiply %663, %664 : tensor<32xf32>
    %666 = stablehlo.broadcast_in_dim %arg40, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %667 = stablehlo.multiply %662, %666 : tensor<32xf32>
    %668 = stablehlo.add %665, %667 : tensor<32xf32>
    %669 = stablehlo.broadcast_in_dim %arg41, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %670 = stablehlo.multiply %663, %669 : tensor<32xf32>
    %671 = stablehlo.multiply %662, %662 : tensor<32xf32>
    %672 = stablehlo.broadcast_in_dim %arg42, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %673 = stablehlo.multiply %671, %672 : tensor<32xf32>
    %674 = stablehlo.add %670, %673 : tensor<32xf32>
    %675 = stablehlo.sqrt %674 : tensor<32xf32>
    %676 = stablehlo.broadcast_in_dim %arg43, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %677 = stablehlo.divide %675, %676 : tensor<32xf32>
    %678 = stablehlo.broadcast_in_dim %arg44, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %679 = stablehlo.add %677, %678 : tensor<32xf32>
    %680 = stablehlo.broadcast_in_dim %arg45, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %681 = stablehlo.multiply %arg25, %680 : tensor<32xf32>
    %682 = stablehlo.divide %668, %679 : tensor<32xf32>
    %683 = stablehlo.broadcast_in_dim %arg46, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %684 = stablehlo.multiply %682, %683 : tensor<32xf32>
    %685 = stablehlo.add %681, %684 : tensor<32xf32>
    %686 = stablehlo.transpose %393, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %687 = stablehlo.transpose %686, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %688 = stablehlo.constant dense<0.0> : tensor<16x32xf32>
    %689 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %690 = stablehlo.multiply %688, %689 : tensor<16x32xf32>
    %691 = stablehlo.broadcast_in_dim %arg40, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %692 = stablehlo.multiply %687, %691 : tensor<16x32xf32>
    %693 = stablehlo.add %690, %692 : tensor<16x32xf32>
    %694 = stablehlo.broadcast_in_dim %arg41, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %695 = stablehlo.multiply %688, %694 : tensor<16x32xf32>
    %696 = stablehlo.multiply %687, %687 : tensor<16x32xf32>
    %697 = stablehlo.broadcast_in_dim %arg42, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %698 = stablehlo.multiply %696, %697 : tensor<16x32xf32>
    %699 = stablehlo.add %695, %698 : tensor<16x32xf32>
    %700 = stablehlo.sqrt %699 : tensor<16x32xf32>
    %701 = stablehlo.broadcast_in_dim %arg43, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %702 = stablehlo.divide %700, %701 : tensor<16x32xf32>
    %703 = stablehlo.broadcast_in_dim %arg44, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %704 = stablehlo.add %702, %703 : tensor<16x32xf32>
    %705 = stablehlo.broadcast_in_dim %arg45, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %706 = stablehlo.multiply %arg10, %705 : tensor<16x32xf32>
    %707 = stablehlo.divide %693, %704 : tensor<16x32xf32>
    %708 = stablehlo.broadcast_in_dim %arg46, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %709 = stablehlo.multiply %707, %708 : tensor<16x32xf32>
    %710 = stablehlo.add %706, %709 : tensor<16x32xf32>
    %711 = stablehlo.reshape %395 : (tensor<1x16xf32>) -> tensor<16xf32>
    %712 = stablehlo.multiply %711, %617 : tensor<16xf32>
    %713 = stablehlo.add %616, %712 : tensor<16xf32>
    %714 = stablehlo.multiply %711, %711 : tensor<16xf32>
    %715 = stablehlo.multiply %714, %623 : tensor<16xf32>
    %716 = stablehlo.add %621, %715 : tensor<16xf32>
    %717 = stablehlo.sqrt %716 : tensor<16xf32>
    %718 = stablehlo.divide %717, %627 : tensor<16xf32>
    %719 = stablehlo.add %718, %629 : tensor<16xf32>
    %720 = stablehlo.multiply %arg26, %631 : tensor<16xf32>
    %721 = stablehlo.divide %713, %719 : tensor<16xf32>
    %722 = stablehlo.multiply %721, %634 : tensor<16xf32>
    %723 = stablehlo.add %720, %722 : tensor<16xf32>
    %724 = stablehlo.multiply %427, %617 : tensor<16xf32>
    %725 = stablehlo.add %616, %724 : tensor<16xf32>
    %726 = stablehlo.multiply %427, %427 : tensor<16xf32>
    %727 = stablehlo.multiply %726, %623 : tensor<16xf32>
    %728 = stablehlo.add %621, %727 : tensor<16xf32>
    %729 = stablehlo.sqrt %728 : tensor<16xf32>
    %730 = stablehlo.divide %729, %627 : tensor<16xf32>
    %731 = stablehlo.add %730, %629 : tensor<16xf32>
    %732 = stablehlo.multiply %arg23, %631 : tensor<16xf32>
    %733 = stablehlo.divide %725, %731 : tensor<16xf32>
    %734 = stablehlo.multiply %733, %634 : tensor<16xf32>
    %735 = stablehlo.add %732, %734 : tensor<16xf32>
    %736 = stablehlo.multiply %428, %617 : tensor<16xf32>
    %737 = stablehlo.add %616, %736 : tensor<16xf32>
    %738 = stablehlo.multiply %428, %428 : tensor<16xf32>
    %739 = stablehlo.multiply %738, %623 : tensor<16xf32>
    %740 = stablehlo.add %621, %739 : tensor<16xf32>
    %741 = stablehlo.sqrt %740 : tensor<16xf32>
    %742 = stablehlo.divide %741, %627 : tensor<16xf32>
    %743 = stablehlo.add %742, %629 : tensor<16xf32>
    %744 = stablehlo.multiply %arg24, %631 : tensor<16xf32>
    %745 = stablehlo.divide %737, %743 : tensor<16xf32>
    %746 = stablehlo.multiply %745, %634 : tensor<16xf32>
    %747 = stablehlo.add %744, %746 : tensor<16xf32>
    %748 = stablehlo.multiply %388, %617 : tensor<16xf32>
    %749 = stablehlo.add %616, %748 : tensor<16xf32>
    %750 = stablehlo.multiply %388, %388 : tensor<16xf32>
    %751 = stablehlo.multiply %750, %623 : tensor<16xf32>
    %752 = stablehlo.add %621, %751 : tensor<16xf32>
    %753 = stablehlo.sqrt %752 : tensor<16xf32>
    %754 = stablehlo.divide %753, %627 : tensor<16xf32>
    %755 = stablehlo.add %754, %629 : tensor<16xf32>
    %756 = stablehlo.multiply %arg27, %631 : tensor<16xf32>
    %757 = stablehlo.divide %749, %755 : tensor<16xf32>
    %758 = stablehlo.multiply %757, %634 : tensor<16xf32>
    %759 = stablehlo.add %756, %758 : tensor<16xf32>
    %760 = stablehlo.multiply %389, %617 : tensor<16xf32>
    %761 = stablehlo.add %616, %760 : tensor<16xf32>
    %762 = stablehlo.multiply %389, %389 : tensor<16xf32>
    %763 = stablehlo.multiply %762, %623 : tensor<16xf32>
    %764 = stablehlo.add %621, %763 : tensor<16xf32>
    %765 = stablehlo.sqrt %764 : tensor<16xf32>
    %766 = stablehlo.divide %765, %627 : tensor<16xf32>
    %767 = stablehlo.add %766, %629 : tensor<16xf32>
    %768 = stablehlo.multiply %arg28, %631 : tensor<16xf32>
    %769 = stablehlo.divide %761, %767 : tensor<16xf32>
    %770 = stablehlo.multiply %769, %634 : tensor<16xf32>
    %771 = stablehlo.add %768, %770 : tensor<16xf32>
    %772 = stablehlo.transpose %365, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %773 = stablehlo.transpose %772, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %774 = stablehlo.multiply %773, %544 : tensor<48x16xf32>
    %775 = stablehlo.add %543, %774 : tensor<48x16xf32>
    %776 = stablehlo.multiply %773, %773 : tensor<48x16xf32>
    %777 = stablehlo.multiply %776, %550 : tensor<48x16xf32>
    %778 = stablehlo.add %548, %777 : tensor<48x16xf32>
    %779 = stablehlo.sqrt %778 : tensor<48x16xf32>
    %780 = stablehlo.divide %779, %554 : tensor<48x16xf32>
    %781 = stablehlo.add %780, %556 : tensor<48x16xf32>
    %782 = stablehlo.multiply %arg8, %558 : tensor<48x16xf32>
    %783 = stablehlo.divide %775, %781 : tensor<48x16xf32>
    %784 = stablehlo.multiply %783, %561 : tensor<48x16xf32>
    %785 = stablehlo.add %782, %784 : tensor<48x16xf32>
    %786 = stablehlo.reshape %367 : (tensor<1x48xf32>) -> tensor<48xf32>
    %787 = stablehlo.multiply %786, %568 : tensor<48xf32>
    %788 = stablehlo.add %567, %787 : tensor<48xf32>
    %789 = stablehlo.multiply %786, %786 : tensor<48xf32>
    %790 = stablehlo.multiply %789, %574 : tensor<48xf32>
    %791 = stablehlo.add %572, %790 : tensor<48xf32>
    %792 = stablehlo.sqrt %791 : tensor<48xf32>
    %793 = stablehlo.divide %792, %578 : tensor<48xf32>
    %794 = stablehlo.add %793, %580 : tensor<48xf32>
    %795 = stablehlo.multiply %arg29, %582 : tensor<48xf32>
    %796 = stablehlo.divide %788, %794 : tensor<48xf32>
    %797 = stablehlo.multiply %796, %585 : tensor<48xf32>
    %798 = stablehlo.add %795, %797 : tensor<48xf32>
    %799 = stablehlo.transpose %333, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %800 = stablehlo.transpose %799, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %801 = stablehlo.multiply %800, %593 : tensor<16x16xf32>
    %802 = stablehlo.add %592, %801 : tensor<16x16xf32>
    %803 = stablehlo.multiply %800, %800 : tensor<16x16xf32>
    %804 = stablehlo.multiply %803, %599 : tensor<16x16xf32>
    %805 = stablehlo.add %597, %804 : tensor<16x16xf32>
    %806 = stablehlo.sqrt %805 : tensor<16x16xf32>
    %807 = stablehlo.divide %806, %603 : tensor<16x16xf32>
    %808 = stablehlo.add %807, %605 : tensor<16x16xf32>
    %809 = stablehlo.multiply %arg7, %607 : tensor<16x16xf32>
    %810 = stablehlo.divide %802, %808 : tensor<16x16xf32>
    %811 = stablehlo.multiply %810, %610 : tensor<16x16xf32>
    %812 = stablehlo.add %809, %811 : tensor<16x16xf32>
    %813 = stablehlo.reshape %335 : (tensor<1x16xf32>) -> tensor<16xf32>
    %814 = stablehlo.multiply %813, %617 : tensor<16xf32>
    %815 = stablehlo.add %616, %814 : tensor<16xf32>
    %816 = stablehlo.multiply %813, %813 : tensor<16xf32>
    %817 = stablehlo.multiply %816, %623 : tensor<16xf32>
    %818 = stablehlo.add %621, %817 : tensor<16xf32>
    %819 = stablehlo.sqrt %818 : tensor<16xf32>
    %820 = stablehlo.divide %819, %627 : tensor<16xf32>
    %821 = stablehlo.add %820, %629 : tensor<16xf32>
    %822 = stablehlo.multiply %arg31, %631 : tensor<16xf32>
    %823 = stablehlo.divide %815, %821 : tensor<16xf32>
    %824 = stablehlo.multiply %823, %634 : tensor<16xf32>
    %825 = stablehlo.add %822, %824 : tensor<16xf32>
    %826 = stablehlo.transpose %305, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %827 = stablehlo.transpose %826, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %828 = stablehlo.multiply %827, %642 : tensor<32x16xf32>
    %829 = stablehlo.add %641, %828 : tensor<32x16xf32>
    %830 = stablehlo.multiply %827, %827 : tensor<32x16xf32>
    %831 = stablehlo.multiply %830, %648 : tensor<32x16xf32>
    %832 = stablehlo.add %646, %831 : tensor<32x16xf32>
    %833 = stablehlo.sqrt %832 : tensor<32x16xf32>
    %834 = stablehlo.divide %833, %652 : tensor<32x16xf32>
    %835 = stablehlo.add %834, %654 : tensor<32x16xf32>
    %836 = stablehlo.multiply %arg5, %656 : tensor<32x16xf32>
    %837 = stablehlo.divide %829, %835 : tensor<32x16xf32>
    %838 = stablehlo.multiply %837, %659 : tensor<32x16xf32>
    %839 = stablehlo.add %836, %838 : tensor<32x16xf32>
    %840 = stablehlo.reshape %307 : (tensor<1x32xf32>) -> tensor<32xf32>
    %841 = stablehlo.multiply %840, %666 : tensor<32xf32>
    %842 = stablehlo.add %665, %841 : tensor<32xf32>
    %843 = stablehlo.multiply %840, %840 : tensor<32xf32>
    %844 = stablehlo.multiply %843, %672 : tensor<32xf32>
    %845 = stablehlo.add %670, %844 : tensor<32xf32>
    %846 = stablehlo.sqrt %845 : tensor<32xf32>
    %847 = stablehlo.divide %846, %676 : tensor<32xf32>
    %848 = stablehlo.add %847, %678 : tensor<32xf32>
    %849 = stablehlo.multiply %arg34, %680 : tensor<32xf32>
    %850 = stablehlo.divide %842, %848 : tensor<32xf32>
    %851 = stablehlo.multiply %850, %683 : tensor<32xf32>
    %852 = stablehlo.add %849, %851 : tensor<32xf32>
    %853 = stablehlo.transpose %294, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %854 = stablehlo.transpose %853, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %855 = stablehlo.multiply %854, %691 : tensor<16x32xf32>
    %856 = stablehlo.add %690, %855 : tensor<16x32xf32>
    %857 = stablehlo.multiply %854, %854 : tensor<16x32xf32>
    %858 = stablehlo.multiply %857, %697 : tensor<16x32xf32>
    %859 = stablehlo.add %695, %858 : tensor<16x32xf32>
    %860 = stablehlo.sqrt %859 : tensor<16x32xf32>
    %861 = stablehlo.divide %860, %701 : tensor<16x32xf32>
    %862 = stablehlo.add %861, %703 : tensor<16x32xf32>
    %863 = stablehlo.multiply %arg3, %705 : tensor<16x32xf32>
    %864 = stablehlo.divide %856, %862 : tensor<16x32xf32>
    %865 = stablehlo.multiply %864, %708 : tensor<16x32xf32>
    %866 = stablehlo.add %863, %865 : tensor<16x32xf32>
    %867 = stablehlo.reshape %296 : (tensor<1x16xf32>) -> tensor<16xf32>
    %868 = stablehlo.multiply %867, %617 : tensor<16xf32>
    %869 = stablehlo.add %616, %868 : tensor<16xf32>
    %870 = stablehlo.multiply %867, %867 : tensor<16xf32>
    %871 = stablehlo.multiply %870, %623 : tensor<16xf32>
    %872 = stablehlo.add %621, %871 : tensor<16xf32>
    %873 = stablehlo.sqrt %872 : tensor<16xf32>
    %874 = stablehlo.divide %873, %627 : tensor<16xf32>
    %875 = stablehlo.add %874, %629 : tensor<16xf32>
    %876 = stablehlo.multiply %arg35, %631 : tensor<16xf32>
    %877 = stablehlo.divide %869, %875 : tensor<16xf32>
    %878 = stablehlo.multiply %877, %634 : tensor<16xf32>
    %879 = stablehlo.add %876, %878 : tensor<16xf32>
    %880 = stablehlo.multiply %328, %617 : tensor<16xf32>
    %881 = stablehlo.add %616, %880 : tensor<16xf32>
    %882 = stablehlo.multiply %328, %328 : tensor<16xf32>
    %883 = stablehlo.multiply %882, %623 : tensor<16xf32>
    %884 = stablehlo.add %621, %883 : tensor<16xf32>
    %885 = stablehlo.sqrt %884 : tensor<16xf32>
    %886 = stablehlo.divide %885, %627 : tensor<16xf32>
    %887 = stablehlo.add %886, %629 : tensor<16xf32>
    %888 = stablehlo.multiply %arg32, %631 : tensor<16xf32>
    %889 = stablehlo.divide %881, %887 : tensor<16xf32>
    %890 = stablehlo.multiply %889, %634 : tensor<16xf32>
    %891 = stablehlo.add %888, %890 : tensor<16xf32>
    %892 = stablehlo.multiply %329, %617 : tensor<16xf32>
    %893 = stablehlo.add %616, %892 : tensor<16xf32>
    %894 = stablehlo.multiply %329, %329 : tensor<16xf32>
    %895 = stablehlo.multiply %894, %623 : tensor<16xf32>
    %896 = stablehlo.add %621, %895 : tensor<16xf32>
    %897 = stablehlo.sqrt %896 : tensor<16xf32>
    %898 = stablehlo.divide %897, %627 : tensor<16xf32>
    %899 = stablehlo.add %898, %629 : tensor<16xf32>
    %900 = stablehlo.multiply %arg33, %631 : tensor<16xf32>
    %901 = stablehlo.divide %893, %899 : tensor<16xf32>
    %902 = stablehlo.multiply %901, %634 : tensor<16xf32>
    %903 = stablehlo.add %900, %902 : tensor<16xf32>
    %904 = stablehlo.multiply %289, %617 : tensor<16xf32>
    %905 = stablehlo.add %616, %904 : tensor<16xf32>
    %906 = stablehlo.multiply %289, %289 : tensor<16xf32>
    %907 = stablehlo.multiply %906, %623 : tensor<16xf32>
    %908 = stablehlo.add %621, %907 : tensor<16xf32>
    %909 = stablehlo.sqrt %908 : tensor<16xf32>
    %910 = stablehlo.divide %909, %627 : tensor<16xf32>
    %911 = stablehlo.add %910, %629 : tensor<16xf32>
    %912 = stablehlo.multiply %arg36, %631 : tensor<16xf32>
    %913 = stablehlo.divide %905, %911 : tensor<16xf32>
    %914 = stablehlo.multiply %913, %634 : tensor<16xf32>
    %915 = stablehlo.add %912, %914 : tensor<16xf32>
    %916 = stablehlo.multiply %290, %617 : tensor<16xf32>
    %917 = stablehlo.add %616, %916 : tensor<16xf32>
    %918 = stablehlo.multiply %290, %290 : tensor<16xf32>
    %919 = stablehlo.multiply %918, %623 : tensor<16xf32>
    %920 = stablehlo.add %621, %919 : tensor<16xf32>
    %921 = stablehlo.sqrt %920 : tensor<16xf32>
    %922 = stablehlo.divide %921, %627 : tensor<16xf32>
    %923 = stablehlo.add %922, %629 : tensor<16xf32>
    %924 = stablehlo.multiply %arg37, %631 : tensor<16xf32>
    %925 = stablehlo.divide %917, %923 : tensor<16xf32>
    %926 = stablehlo.multiply %925, %634 : tensor<16xf32>
    %927 = stablehlo.add %924, %926 : tensor<16xf32>
    return %244, %263, %265, %289, %290, %294, %296, %305, %307, %328, %329, %333, %335, %365, %367, %388, %389, %393, %395, %404, %406, %427, %428, %432, %434, %464, %466, %478, %483, %489, %500, %504, %507, %514, %521, %527, %538, %546, %552, %563, %570, %576, %587, %595, %601, %612, %619, %625, %636, %644, %650, %661, %668, %674, %685, %693, %699, %710, %713, %716, %723, %725, %728, %735, %737, %740, %747, %749, %752, %759, %761, %764, %771, %775, %778, %785, %788, %791, %798, %802, %805, %812, %815, %818, %825, %829, %832, %839, %842, %845, %852, %856, %859, %866, %869, %872, %879, %881, %884, %891, %893, %896, %903, %905, %908, %915, %917, %920, %927 : tensor<f32>, tensor<30x16xf32>, tensor<1x30xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>, tensor<1x16xf32>, tensor<32x16xf32>, tensor<1x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<1x16xf32>, tensor<48x16xf32>, tensor<1x48xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>, tensor<1x16xf32>, tensor<32x16xf32>, tensor<1x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<1x16xf32>, tensor<48x16xf32>, tensor<1x48xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30xf32>, tensor<30xf32>, tensor<30xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  }
}
