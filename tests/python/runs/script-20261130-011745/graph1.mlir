module @graph1 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "815"} {
  func.func public @main(%arg0: tensor<30x16xf32> {tf.aliasing_output = 13 : i32}, %arg1: tensor<64x16xf32> {tf.aliasing_output = 19 : i32}, %arg2: tensor<64x16xf32> {tf.aliasing_output = 15 : i32}, %arg3: tensor<7x3x16xf32>, %arg4: tensor<f32>, %arg5: tensor<30x16xf32> {tf.aliasing_output = 12 : i32}, %arg6: tensor<7x3xi64>, %arg7: tensor<64xf32> {tf.aliasing_output = 17 : i32}, %arg8: tensor<64x16xf32> {tf.aliasing_output = 16 : i32}, %arg9: tensor<64xf32> {tf.aliasing_output = 18 : i32}, %arg10: tensor<64xf32> {tf.aliasing_output = 21 : i32}, %arg11: tensor<64x16xf32> {tf.aliasing_output = 20 : i32}, %arg12: tensor<64xf32> {tf.aliasing_output = 22 : i32}, %arg13: tensor<30xf32> {tf.aliasing_output = 14 : i32}, %arg14: tensor<21xi64>, %arg15: tensor<1x30xf32> {tf.aliasing_output = 1 : i32}, %arg16: tensor<30x16xf32> {tf.aliasing_output = 2 : i32}, %arg17: tensor<64xf32> {tf.aliasing_output = 3 : i32}, %arg18: tensor<64x16xf32> {tf.aliasing_output = 4 : i32}, %arg19: tensor<64xf32> {tf.aliasing_output = 5 : i32}, %arg20: tensor<64x16xf32> {tf.aliasing_output = 6 : i32}, %arg21: tensor<64xf32> {tf.aliasing_output = 7 : i32}, %arg22: tensor<64x16xf32> {tf.aliasing_output = 8 : i32}, %arg23: tensor<64xf32> {tf.aliasing_output = 9 : i32}, %arg24: tensor<64x16xf32> {tf.aliasing_output = 10 : i32}, %arg25: tensor<30x16xf32> {tf.aliasing_output = 11 : i32}, %arg26: tensor<f32>) -> (tensor<f32>, tensor<1x30xf32>, tensor<30x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>) {
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %2 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %3 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %4 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<f32>) -> tensor<7x3x16xf32>
    %5 = stablehlo.divide %arg3, %4 : tensor<7x3x16xf32>
    %6 = stablehlo.constant dense<0> : tensor<7x3xi64>
    %7 = stablehlo.compare LT, %arg6, %6 : (tensor<7x3xi64>, tensor<7x3xi64>) -> tensor<7x3xi1>
    %8 = stablehlo.constant dense<29> : tensor<7x3xi64>
    %9 = stablehlo.select %7, %8, %arg6 : tensor<7x3xi1>, tensor<7x3xi64>
    %10 = stablehlo.reshape %9 : (tensor<7x3xi64>) -> tensor<7x3x1xi64>
    %11 = "stablehlo.gather"(%arg5, %10) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 16>, indices_are_sorted = false} : (tensor<30x16xf32>, tensor<7x3x1xi64>) -> tensor<7x3x16xf32>
    %12 = stablehlo.multiply %11, %5 : tensor<7x3x16xf32>
    %13 = stablehlo.slice %12 [0:1:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %14 = stablehlo.slice %12 [1:2:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %15 = stablehlo.slice %12 [2:3:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %16 = stablehlo.slice %12 [3:4:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %17 = stablehlo.slice %12 [4:5:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %18 = stablehlo.slice %12 [5:6:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %19 = stablehlo.slice %12 [6:7:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %20 = stablehlo.reshape %13 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %21 = stablehlo.reshape %14 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %22 = stablehlo.reshape %15 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %23 = stablehlo.reshape %16 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %24 = stablehlo.reshape %17 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %25 = stablehlo.reshape %18 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %26 = stablehlo.reshape %19 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %27 = stablehlo.dot_general %26, %3, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %28 = stablehlo.broadcast_in_dim %arg7, dims = [1] : (tensor<64xf32>) -> tensor<3x64xf32>
    %29 = stablehlo.add %27, %28 : tensor<3x64xf32>
    %30 = stablehlo.transpose %arg8, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %31 = stablehlo.dot_general %25, %3, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %32 = stablehlo.add %31, %28 : tensor<3x64xf32>
    %33 = stablehlo.dot_general %24, %3, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %34 = stablehlo.add %33, %28 : tensor<3x64xf32>
    %35 = stablehlo.dot_general %23, %3, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %36 = stablehlo.add %35, %28 : tensor<3x64xf32>
    %37 = stablehlo.dot_general %22, %3, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %38 = stablehlo.add %37, %28 : tensor<3x64xf32>
    %39 = stablehlo.dot_general %21, %3, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %40 = stablehlo.add %39, %28 : tensor<3x64xf32>
    %41 = stablehlo.dot_general %20, %3, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %42 = stablehlo.add %41, %28 : tensor<3x64xf32>
    %43 = stablehlo.constant dense<0.0> : tensor<2x3x16xf32>
    %44 = stablehlo.slice %43 [0:1:1, 0:3:1, 0:16:1] : (tensor<2x3x16xf32>) -> tensor<1x3x16xf32>
    %45 = stablehlo.slice %43 [1:2:1, 0:3:1, 0:16:1] : (tensor<2x3x16xf32>) -> tensor<1x3x16xf32>
    %46 = stablehlo.reshape %44 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %47 = stablehlo.reshape %45 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %48 = stablehlo.dot_general %46, %30, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %49 = stablehlo.broadcast_in_dim %arg9, dims = [1] : (tensor<64xf32>) -> tensor<3x64xf32>
    %50 = stablehlo.add %48, %49 : tensor<3x64xf32>
    %51 = stablehlo.add %50, %42 : tensor<3x64xf32>
    %52 = stablehlo.slice %51 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %53 = stablehlo.slice %51 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %54 = stablehlo.slice %51 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %55 = stablehlo.slice %51 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %56 = stablehlo.tanh %54 : tensor<3x16xf32>
    %57 = stablehlo.logistic %52 : tensor<3x16xf32>
    %58 = stablehlo.multiply %57, %56 : tensor<3x16xf32>
    %59 = stablehlo.logistic %53 : tensor<3x16xf32>
    %60 = stablehlo.multiply %59, %46 : tensor<3x16xf32>
    %61 = stablehlo.add %60, %58 : tensor<3x16xf32>
    %62 = stablehlo.tanh %61 : tensor<3x16xf32>
    %63 = stablehlo.logistic %55 : tensor<3x16xf32>
    %64 = stablehlo.multiply %63, %62 : tensor<3x16xf32>
    %65 = stablehlo.dot_general %64, %30, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %66 = stablehlo.add %65, %49 : tensor<3x64xf32>
    %67 = stablehlo.add %66, %40 : tensor<3x64xf32>
    %68 = stablehlo.slice %67 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %69 = stablehlo.slice %67 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %70 = stablehlo.slice %67 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %71 = stablehlo.slice %67 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %72 = stablehlo.tanh %70 : tensor<3x16xf32>
    %73 = stablehlo.logistic %68 : tensor<3x16xf32>
    %74 = stablehlo.multiply %73, %72 : tensor<3x16xf32>
    %75 = stablehlo.logistic %69 : tensor<3x16xf32>
    %76 = stablehlo.multiply %75, %61 : tensor<3x16xf32>
    %77 = stablehlo.add %76, %74 : tensor<3x16xf32>
    %78 = stablehlo.tanh %77 : tensor<3x16xf32>
    %79 = stablehlo.logistic %71 : tensor<3x16xf32>
    %80 = stablehlo.multiply %79, %78 : tensor<3x16xf32>
    %81 = stablehlo.dot_general %80, %30, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %82 = stablehlo.add %81, %49 : tensor<3x64xf32>
    %83 = stablehlo.add %82, %38 : tensor<3x64xf32>
    %84 = stablehlo.slice %83 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %85 = stablehlo.slice %83 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %86 = stablehlo.slice %83 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %87 = stablehlo.slice %83 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %88 = stablehlo.tanh %86 : tensor<3x16xf32>
    %89 = stablehlo.logistic %84 : tensor<3x16xf32>
    %90 = stablehlo.multiply %89, %88 : tensor<3x16xf32>
    %91 = stablehlo.logistic %85 : tensor<3x16xf32>
    %92 = stablehlo.multiply %91, %77 : tensor<3x16xf32>
    %93 = stablehlo.add %92, %90 : tensor<3x16xf32>
    %94 = stablehlo.tanh %93 : tensor<3x16xf32>
    %95 = stablehlo.logistic %87 : tensor<3x16xf32>
    %96 = stablehlo.multiply %95, %94 : tensor<3x16xf32>
    %97 = stablehlo.dot_general %96, %30, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %98 = stablehlo.add %97, %49 : tensor<3x64xf32>
    %99 = stablehlo.add %98, %36 : tensor<3x64xf32>
    %100 = stablehlo.slice %99 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %101 = stablehlo.slice %99 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %102 = stablehlo.slice %99 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %103 = stablehlo.slice %99 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %104 = stablehlo.tanh %102 : tensor<3x16xf32>
    %105 = stablehlo.logistic %100 : tensor<3x16xf32>
    %106 = stablehlo.multiply %105, %104 : tensor<3x16xf32>
    %107 = stablehlo.logistic %101 : tensor<3x16xf32>
    %108 = stablehlo.multiply %107, %93 : tensor<3x16xf32>
    %109 = stablehlo.add %108, %106 : tensor<3x16xf32>
    %110 = stablehlo.tanh %109 : tensor<3x16xf32>
    %111 = stablehlo.logistic %103 : tensor<3x16xf32>
    %112 = stablehlo.multiply %111, %110 : tensor<3x16xf32>
    %113 = stablehlo.dot_general %112, %30, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %114 = stablehlo.add %113, %49 : tensor<3x64xf32>
    %115 = stablehlo.add %114, %34 : tensor<3x64xf32>
    %116 = stablehlo.slice %115 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %117 = stablehlo.slice %115 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %118 = stablehlo.slice %115 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %119 = stablehlo.slice %115 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %120 = stablehlo.tanh %118 : tensor<3x16xf32>
    %121 = stablehlo.logistic %116 : tensor<3x16xf32>
    %122 = stablehlo.multiply %121, %120 : tensor<3x16xf32>
    %123 = stablehlo.logistic %117 : tensor<3x16xf32>
    %124 = stablehlo.multiply %123, %109 : tensor<3x16xf32>
    %125 = stablehlo.add %124, %122 : tensor<3x16xf32>
    %126 = stablehlo.tanh %125 : tensor<3x16xf32>
    %127 = stablehlo.logistic %119 : tensor<3x16xf32>
    %128 = stablehlo.multiply %127, %126 : tensor<3x16xf32>
    %129 = stablehlo.dot_general %128, %30, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %130 = stablehlo.add %129, %49 : tensor<3x64xf32>
    %131 = stablehlo.add %130, %32 : tensor<3x64xf32>
    %132 = stablehlo.slice %131 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %133 = stablehlo.slice %131 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %134 = stablehlo.slice %131 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %135 = stablehlo.slice %131 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %136 = stablehlo.tanh %134 : tensor<3x16xf32>
    %137 = stablehlo.logistic %132 : tensor<3x16xf32>
    %138 = stablehlo.multiply %137, %136 : tensor<3x16xf32>
    %139 = stablehlo.logistic %133 : tensor<3x16xf32>
    %140 = stablehlo.multiply %139, %125 : tensor<3x16xf32>
    %141 = stablehlo.add %140, %138 : tensor<3x16xf32>
    %142 = stablehlo.tanh %141 : tensor<3x16xf32>
    %143 = stablehlo.logistic %135 : tensor<3x16xf32>
    %144 = stablehlo.multiply %143, %142 : tensor<3x16xf32>
    %145 = stablehlo.dot_general %144, %30, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %146 = stablehlo.add %145, %49 : tensor<3x64xf32>
    %147 = stablehlo.add %146, %29 : tensor<3x64xf32>
    %148 = stablehlo.slice %147 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %149 = stablehlo.slice %147 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %150 = stablehlo.slice %147 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %151 = stablehlo.slice %147 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %152 = stablehlo.tanh %150 : tensor<3x16xf32>
    %153 = stablehlo.logistic %148 : tensor<3x16xf32>
    %154 = stablehlo.multiply %153, %152 : tensor<3x16xf32>
    %155 = stablehlo.logistic %149 : tensor<3x16xf32>
    %156 = stablehlo.multiply %155, %141 : tensor<3x16xf32>
    %157 = stablehlo.add %156, %154 : tensor<3x16xf32>
    %158 = stablehlo.tanh %157 : tensor<3x16xf32>
    %159 = stablehlo.logistic %151 : tensor<3x16xf32>
    %160 = stablehlo.multiply %159, %158 : tensor<3x16xf32>
    %161 = stablehlo.reshape %64 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %162 = stablehlo.reshape %80 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %163 = stablehlo.reshape %96 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %164 = stablehlo.reshape %112 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %165 = stablehlo.reshape %128 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %166 = stablehlo.reshape %144 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %167 = stablehlo.reshape %160 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %168 = stablehlo.concatenate %161, %162, %163, %164, %165, %166, %167, dim = 0 : (tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>) -> tensor<7x3x16xf32>
    %169 = stablehlo.slice %168 [0:1:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %170 = stablehlo.slice %168 [1:2:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %171 = stablehlo.slice %168 [2:3:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %172 = stablehlo.slice %168 [3:4:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %173 = stablehlo.slice %168 [4:5:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %174 = stablehlo.slice %168 [5:6:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %175 = stablehlo.slice %168 [6:7:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %176 = stablehlo.reshape %169 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %177 = stablehlo.reshape %170 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %178 = stablehlo.reshape %171 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %179 = stablehlo.reshape %172 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %180 = stablehlo.reshape %173 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %181 = stablehlo.reshape %174 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %182 = stablehlo.reshape %175 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %183 = stablehlo.dot_general %182, %2, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %184 = stablehlo.broadcast_in_dim %arg10, dims = [1] : (tensor<64xf32>) -> tensor<3x64xf32>
    %185 = stablehlo.add %183, %184 : tensor<3x64xf32>
    %186 = stablehlo.transpose %arg11, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %187 = stablehlo.dot_general %181, %2, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %188 = stablehlo.add %187, %184 : tensor<3x64xf32>
    %189 = stablehlo.dot_general %180, %2, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %190 = stablehlo.add %189, %184 : tensor<3x64xf32>
    %191 = stablehlo.dot_general %179, %2, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %192 = stablehlo.add %191, %184 : tensor<3x64xf32>
    %193 = stablehlo.dot_general %178, %2, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %194 = stablehlo.add %193, %184 : tensor<3x64xf32>
    %195 = stablehlo.dot_general %177, %2, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %196 = stablehlo.add %195, %184 : tensor<3x64xf32>
    %197 = stablehlo.dot_general %176, %2, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %198 = stablehlo.add %197, %184 : tensor<3x64xf32>
    %199 = stablehlo.dot_general %47, %186, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %200 = stablehlo.broadcast_in_dim %arg12, dims = [1] : (tensor<64xf32>) -> tensor<3x64xf32>
    %201 = stablehlo.add %199, %200 : tensor<3x64xf32>
    %202 = stablehlo.add %201, %198 : tensor<3x64xf32>
    %203 = stablehlo.slice %202 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %204 = stablehlo.slice %202 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %205 = stablehlo.slice %202 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %206 = stablehlo.slice %202 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %207 = stablehlo.tanh %205 : tensor<3x16xf32>
    %208 = stablehlo.logistic %203 : tensor<3x16xf32>
    %209 = stablehlo.multiply %208, %207 : tensor<3x16xf32>
    %210 = stablehlo.logistic %204 : tensor<3x16xf32>
    %211 = stablehlo.multiply %210, %47 : tensor<3x16xf32>
    %212 = stablehlo.add %211, %209 : tensor<3x16xf32>
    %213 = stablehlo.tanh %212 : tensor<3x16xf32>
    %214 = stablehlo.logistic %206 : tensor<3x16xf32>
    %215 = stablehlo.multiply %214, %213 : tensor<3x16xf32>
    %216 = stablehlo.dot_general %215, %186, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %217 = stablehlo.add %216, %200 : tensor<3x64xf32>
    %218 = stablehlo.add %217, %196 : tensor<3x64xf32>
    %219 = stablehlo.slice %218 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %220 = stablehlo.slice %218 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %221 = stablehlo.slice %218 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %222 = stablehlo.slice %218 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %223 = stablehlo.tanh %221 : tensor<3x16xf32>
    %224 = stablehlo.logistic %219 : tensor<3x16xf32>
    %225 = stablehlo.multiply %224, %223 : tensor<3x16xf32>
    %226 = stablehlo.logistic %220 : tensor<3x16xf32>
    %227 = stablehlo.multiply %226, %212 : tensor<3x16xf32>
    %228 = stablehlo.add %227, %225 : tensor<3x16xf32>
    %229 = stablehlo.tanh %228 : tensor<3x16xf32>
    %230 = stablehlo.logistic %222 : tensor<3x16xf32>
    %231 = stablehlo.multiply %230, %229 : tensor<3x16xf32>
    %232 = stablehlo.dot_general %231, %186, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %233 = stablehlo.add %232, %200 : tensor<3x64xf32>
    %234 = stablehlo.add %233, %194 : tensor<3x64xf32>
    %235 = stablehlo.slice %234 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %236 = stablehlo.slice %234 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %237 = stablehlo.slice %234 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %238 = stablehlo.slice %234 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %239 = stablehlo.tanh %237 : tensor<3x16xf32>
    %240 = stablehlo.logistic %235 : tensor<3x16xf32>
    %241 = stablehlo.multiply %240, %239 : tensor<3x16xf32>
    %242 = stablehlo.logistic %236 : tensor<3x16xf32>
    %243 = stablehlo.multiply %242, %228 : tensor<3x16xf32>
    %244 = stablehlo.add %243, %241 : tensor<3x16xf32>
    %245 = stablehlo.tanh %244 : tensor<3x16xf32>
    %246 = stablehlo.logistic %238 : tensor<3x16xf32>
    %247 = stablehlo.multiply %246, %245 : tensor<3x16xf32>
    %248 = stablehlo.dot_general %247, %186, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %249 = stablehlo.add %248, %200 : tensor<3x64xf32>
    %250 = stablehlo.add %249, %192 : tensor<3x64xf32>
    %251 = stablehlo.slice %250 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %252 = stablehlo.slice %250 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %253 = stablehlo.slice %250 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %254 = stablehlo.slice %250 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %255 = stablehlo.tanh %253 : tensor<3x16xf32>
    %256 = stablehlo.logistic %251 : tensor<3x16xf32>
    %257 = stablehlo.multiply %256, %255 : tensor<3x16xf32>
    %258 = stablehlo.logistic %252 : tensor<3x16xf32>
    %259 = stablehlo.multiply %258, %244 : tensor<3x16xf32>
    %260 = stablehlo.add %259, %257 : tensor<3x16xf32>
    %261 = stablehlo.tanh %260 : tensor<3x16xf32>
    %262 = stablehlo.logistic %254 : tensor<3x16xf32>
    %263 = stablehlo.multiply %262, %261 : tensor<3x16xf32>
    %264 = stablehlo.dot_general %263, %186, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %265 = stablehlo.add %264, %200 : tensor<3x64xf32>
    %266 = stablehlo.add %265, %190 : tensor<3x64xf32>
    %267 = stablehlo.slice %266 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %268 = stablehlo.slice %266 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %269 = stablehlo.slice %266 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %270 = stablehlo.slice %266 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %271 = stablehlo.tanh %269 : tensor<3x16xf32>
    %272 = stablehlo.logistic %267 : tensor<3x16xf32>
    %273 = stablehlo.multiply %272, %271 : tensor<3x16xf32>
    %274 = stablehlo.logistic %268 : tensor<3x16xf32>
    %275 = stablehlo.multiply %274, %260 : tensor<3x16xf32>
    %276 = stablehlo.add %275, %273 : tensor<3x16xf32>
    %277 = stablehlo.tanh %276 : tensor<3x16xf32>
    %278 = stablehlo.logistic %270 : tensor<3x16xf32>
    %279 = stablehlo.multiply %278, %277 : tensor<3x16xf32>
    %280 = stablehlo.dot_general %279, %186, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %281 = stablehlo.add %280, %200 : tensor<3x64xf32>
    %282 = stablehlo.add %281, %188 : tensor<3x64xf32>
    %283 = stablehlo.slice %282 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %284 = stablehlo.slice %282 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %285 = stablehlo.slice %282 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %286 = stablehlo.slice %282 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %287 = stablehlo.tanh %285 : tensor<3x16xf32>
    %288 = stablehlo.logistic %283 : tensor<3x16xf32>
    %289 = stablehlo.multiply %288, %287 : tensor<3x16xf32>
    %290 = stablehlo.logistic %284 : tensor<3x16xf32>
    %291 = stablehlo.multiply %290, %276 : tensor<3x16xf32>
    %292 = stablehlo.add %291, %289 : tensor<3x16xf32>
    %293 = stablehlo.tanh %292 : tensor<3x16xf32>
    %294 = stablehlo.logistic %286 : tensor<3x16xf32>
    %295 = stablehlo.multiply %294, %293 : tensor<3x16xf32>
    %296 = stablehlo.dot_general %295, %186, contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x64xf32>) -> tensor<3x64xf32>
    %297 = stablehlo.add %296, %200 : tensor<3x64xf32>
    %298 = stablehlo.add %297, %185 : tensor<3x64xf32>
    %299 = stablehlo.slice %298 [0:3:1, 0:16:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %300 = stablehlo.slice %298 [0:3:1, 16:32:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %301 = stablehlo.slice %298 [0:3:1, 32:48:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %302 = stablehlo.slice %298 [0:3:1, 48:64:1] : (tensor<3x64xf32>) -> tensor<3x16xf32>
    %303 = stablehlo.tanh %301 : tensor<3x16xf32>
    %304 = stablehlo.logistic %299 : tensor<3x16xf32>
    %305 = stablehlo.multiply %304, %303 : tensor<3x16xf32>
    %306 = stablehlo.logistic %300 : tensor<3x16xf32>
    %307 = stablehlo.multiply %306, %292 : tensor<3x16xf32>
    %308 = stablehlo.add %307, %305 : tensor<3x16xf32>
    %309 = stablehlo.tanh %308 : tensor<3x16xf32>
    %310 = stablehlo.logistic %302 : tensor<3x16xf32>
    %311 = stablehlo.multiply %310, %309 : tensor<3x16xf32>
    %312 = stablehlo.reshape %215 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %313 = stablehlo.reshape %231 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %314 = stablehlo.reshape %247 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %315 = stablehlo.reshape %263 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %316 = stablehlo.reshape %279 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %317 = stablehlo.reshape %295 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %318 = stablehlo.reshape %311 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %319 = stablehlo.concatenate %312, %313, %314, %315, %316, %317, %318, dim = 0 : (tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>) -> tensor<7x3x16xf32>
    %320 = stablehlo.reshape %319 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %321 = stablehlo.dot_general %320, %1, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x30xf32>) -> tensor<21x30xf32>
    %322 = stablehlo.broadcast_in_dim %arg13, dims = [1] : (tensor<30xf32>) -> tensor<21x30xf32>
    %323 = stablehlo.add %321, %322 : tensor<21x30xf32>
    %324 = stablehlo.reshape %323 : (tensor<21x30xf32>) -> tensor<7x3x30xf32>
    %325 = stablehlo.reshape %324 : (tensor<7x3x30xf32>) -> tensor<21x30xf32>
    %326 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %327 = stablehlo.reduce(%325 init: %326) applies stablehlo.maximum across dimensions = [1] : (tensor<21x30xf32>, tensor<f32>) -> tensor<21xf32>
    %328 = stablehlo.broadcast_in_dim %327, dims = [0] : (tensor<21xf32>) -> tensor<21x30xf32>
    %329 = stablehlo.subtract %325, %328 : tensor<21x30xf32>
    %330 = stablehlo.exponential %329 : tensor<21x30xf32>
    %331 = stablehlo.constant dense<0.0> : tensor<f32>
    %332 = stablehlo.reduce(%330 init: %331) applies stablehlo.add across dimensions = [1] : (tensor<21x30xf32>, tensor<f32>) -> tensor<21xf32>
    %333 = stablehlo.broadcast_in_dim %332, dims = [0] : (tensor<21xf32>) -> tensor<21x30xf32>
    %334 = stablehlo.log %333 : tensor<21x30xf32>
    %335 = stablehlo.subtract %329, %334 : tensor<21x30xf32>
    %336 = stablehlo.constant dense<-100> : tensor<21xi64>
    %337 = stablehlo.compare NE, %arg14, %336 : (tensor<21xi64>, tensor<21xi64>) -> tensor<21xi1>
    %338 = stablehlo.iota dim = 1 : tensor<21x30xi64>
    %339 = stablehlo.broadcast_in_dim %arg14, dims = [0] : (tensor<21xi64>) -> tensor<21x30xi64>
    %340 = stablehlo.compare EQ, %338, %339 : (tensor<21x30xi64>, tensor<21x30xi64>) -> tensor<21x30xi1>
    %341 = stablehlo.broadcast_in_dim %337, dims = [0] : (tensor<21xi1>) -> tensor<21x30xi1>
    %342 = stablehlo.and %340, %341 : tensor<21x30xi1>
    %343 = stablehlo.constant dense<1.0> : tensor<21x30xf32>
    %344 = stablehlo.multiply %335, %343 : tensor<21x30xf32>
    %345 = stablehlo.constant dense<0.0> : tensor<21x30xf32>
    %346 = stablehlo.select %342, %344, %345 : tensor<21x30xi1>, tensor<21x30xf32>
    %347 = stablehlo.reduce(%346 init: %331) applies stablehlo.add across dimensions = [1] : (tensor<21x30xf32>, tensor<f32>) -> tensor<21xf32>
    %348 = stablehlo.negate %347 : tensor<21xf32>
    %349 = stablehlo.select %342, %343, %345 : tensor<21x30xi1>, tensor<21x30xf32>
    %350 = stablehlo.reduce(%349 init: %331) applies stablehlo.add across dimensions = [1] : (tensor<21x30xf32>, tensor<f32>) -> tensor<21xf32>
    %351 = stablehlo.reduce(%350 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<21xf32>, tensor<f32>) -> tensor<f32>
    %352 = stablehlo.reduce(%348 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<21xf32>, tensor<f32>) -> tensor<f32>
    %353 = stablehlo.divide %352, %351 : tensor<f32>
    %354 = stablehlo.constant dense<1.0> : tensor<f32>
    %355 = stablehlo.constant dense<1.0> : tensor<f32>
    %356 = stablehlo.constant dense<0.0> : tensor<f32>
    %357 = stablehlo.compare NE, %351, %356 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %358 = stablehlo.select %357, %351, %355 : tensor<i1>, tensor<f32>
    %359 = stablehlo.divide %354, %358 : tensor<f32>
    %360 = stablehlo.broadcast_in_dim %359, dims = [] : (tensor<f32>) -> tensor<21x30xf32>
    %361 = stablehlo.multiply %360, %343 : tensor<21x30xf32>
    %362 = stablehlo.negate %361 : tensor<21x30xf32>
    %363 = stablehlo.select %342, %362, %345 : tensor<21x30xi1>, tensor<21x30xf32>
    %364 = stablehlo.reduce(%363 init: %331) applies stablehlo.add across dimensions = [1] : (tensor<21x30xf32>, tensor<f32>) -> tensor<21xf32>
    %365 = stablehlo.broadcast_in_dim %364, dims = [0] : (tensor<21xf32>) -> tensor<21x30xf32>
    %366 = stablehlo.exponential %335 : tensor<21x30xf32>
    %367 = stablehlo.multiply %366, %365 : tensor<21x30xf32>
    %368 = stablehlo.subtract %363, %367 : tensor<21x30xf32>
    %369 = stablehlo.reshape %368 : (tensor<21x30xf32>) -> tensor<7x3x30xf32>
    %370 = stablehlo.reshape %369 : (tensor<7x3x30xf32>) -> tensor<21x30xf32>
    %371 = stablehlo.reduce(%370 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<21x30xf32>, tensor<f32>) -> tensor<30xf32>
    %372 = stablehlo.reshape %371 : (tensor<30xf32>) -> tensor<1x30xf32>
    %373 = stablehlo.reshape %372 : (tensor<1x30xf32>) -> tensor<30xf32>
    %374 = stablehlo.reshape %arg15 : (tensor<1x30xf32>) -> tensor<30xf32>
    %375 = stablehlo.constant dense<0.0> : tensor<30xf32>
    %376 = stablehlo.reshape %375 : (tensor<30xf32>) -> tensor<1x30xf32>
    %377 = stablehlo.reshape %376 : (tensor<1x30xf32>) -> tensor<30xf32>
    %378 = stablehlo.add %377, %373 : tensor<30xf32>
    %379 = stablehlo.reshape %378 : (tensor<30xf32>) -> tensor<1x30xf32>
    %380 = stablehlo.transpose %370, dims = [1, 0] : (tensor<21x30xf32>) -> tensor<30x21xf32>
    %381 = stablehlo.dot_general %380, %320, contracting_dims = [1] x [0] : (tensor<30x21xf32>, tensor<21x16xf32>) -> tensor<30x16xf32>
    %382 = stablehlo.transpose %381, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %383 = stablehlo.transpose %382, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %384 = stablehlo.transpose %arg16, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %385 = stablehlo.transpose %384, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %386 = stablehlo.constant dense<0.0> : tensor<30x16xf32>
    %387 = stablehlo.transpose %386, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %388 = stablehlo.transpose %387, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %389 = stablehlo.transpose %388, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %390 = stablehlo.transpose %389, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %391 = stablehlo.add %390, %383 : tensor<30x16xf32>
    %392 = stablehlo.transpose %391, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %393 = stablehlo.transpose %392, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %394 = stablehlo.transpose %186, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %395 = stablehlo.transpose %1, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %396 = stablehlo.dot_general %370, %395, contracting_dims = [1] x [0] : (tensor<21x30xf32>, tensor<30x16xf32>) -> tensor<21x16xf32>
    %397 = stablehlo.reshape %396 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %398 = stablehlo.slice %397 [6:7:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %399 = stablehlo.reshape %398 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %400 = stablehlo.multiply %399, %309 : tensor<3x16xf32>
    %401 = stablehlo.constant dense<1.0> : tensor<3x16xf32>
    %402 = stablehlo.subtract %401, %310 : tensor<3x16xf32>
    %403 = stablehlo.multiply %310, %402 : tensor<3x16xf32>
    %404 = stablehlo.multiply %400, %403 : tensor<3x16xf32>
    %405 = stablehlo.multiply %399, %310 : tensor<3x16xf32>
    %406 = stablehlo.multiply %309, %309 : tensor<3x16xf32>
    %407 = stablehlo.subtract %401, %406 : tensor<3x16xf32>
    %408 = stablehlo.multiply %405, %407 : tensor<3x16xf32>
    %409 = stablehlo.multiply %408, %304 : tensor<3x16xf32>
    %410 = stablehlo.multiply %303, %303 : tensor<3x16xf32>
    %411 = stablehlo.subtract %401, %410 : tensor<3x16xf32>
    %412 = stablehlo.multiply %409, %411 : tensor<3x16xf32>
    %413 = stablehlo.multiply %408, %292 : tensor<3x16xf32>
    %414 = stablehlo.subtract %401, %306 : tensor<3x16xf32>
    %415 = stablehlo.multiply %306, %414 : tensor<3x16xf32>
    %416 = stablehlo.multiply %413, %415 : tensor<3x16xf32>
    %417 = stablehlo.multiply %408, %303 : tensor<3x16xf32>
    %418 = stablehlo.subtract %401, %304 : tensor<3x16xf32>
    %419 = stablehlo.multiply %304, %418 : tensor<3x16xf32>
    %420 = stablehlo.multiply %417, %419 : tensor<3x16xf32>
    %421 = stablehlo.concatenate %420, %416, %412, %404, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %422 = stablehlo.dot_general %421, %394, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %423 = stablehlo.slice %397 [5:6:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %424 = stablehlo.reshape %423 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %425 = stablehlo.add %424, %422 : tensor<3x16xf32>
    %426 = stablehlo.multiply %425, %293 : tensor<3x16xf32>
    %427 = stablehlo.subtract %401, %294 : tensor<3x16xf32>
    %428 = stablehlo.multiply %294, %427 : tensor<3x16xf32>
    %429 = stablehlo.multiply %426, %428 : tensor<3x16xf32>
    %430 = stablehlo.multiply %425, %294 : tensor<3x16xf32>
    %431 = stablehlo.multiply %293, %293 : tensor<3x16xf32>
    %432 = stablehlo.subtract %401, %431 : tensor<3x16xf32>
    %433 = stablehlo.multiply %430, %432 : tensor<3x16xf32>
    %434 = stablehlo.multiply %408, %306 : tensor<3x16xf32>
    %435 = stablehlo.add %434, %433 : tensor<3x16xf32>
    %436 = stablehlo.multiply %435, %288 : tensor<3x16xf32>
    %437 = stablehlo.multiply %287, %287 : tensor<3x16xf32>
    %438 = stablehlo.subtract %401, %437 : tensor<3x16xf32>
    %439 = stablehlo.multiply %436, %438 : tensor<3x16xf32>
    %440 = stablehlo.multiply %435, %276 : tensor<3x16xf32>
    %441 = stablehlo.subtract %401, %290 : tensor<3x16xf32>
    %442 = stablehlo.multiply %290, %441 : tensor<3x16xf32>
    %443 = stablehlo.multiply %440, %442 : tensor<3x16xf32>
    %444 = stablehlo.multiply %435, %287 : tensor<3x16xf32>
    %445 = stablehlo.subtract %401, %288 : tensor<3x16xf32>
    %446 = stablehlo.multiply %288, %445 : tensor<3x16xf32>
    %447 = stablehlo.multiply %444, %446 : tensor<3x16xf32>
    %448 = stablehlo.concatenate %447, %443, %439, %429, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %449 = stablehlo.dot_general %448, %394, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %450 = stablehlo.slice %397 [4:5:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %451 = stablehlo.reshape %450 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %452 = stablehlo.add %451, %449 : tensor<3x16xf32>
    %453 = stablehlo.multiply %452, %277 : tensor<3x16xf32>
    %454 = stablehlo.subtract %401, %278 : tensor<3x16xf32>
    %455 = stablehlo.multiply %278, %454 : tensor<3x16xf32>
    %456 = stablehlo.multiply %453, %455 : tensor<3x16xf32>
    %457 = stablehlo.multiply %452, %278 : tensor<3x16xf32>
    %458 = stablehlo.multiply %277, %277 : tensor<3x16xf32>
    %459 = stablehlo.subtract %401, %458 : tensor<3x16xf32>
    %460 = stablehlo.multiply %457, %459 : tensor<3x16xf32>
    %461 = stablehlo.multiply %435, %290 : tensor<3x16xf32>
    %462 = stablehlo.add %461, %460 : tensor<3x16xf32>
    %463 = stablehlo.multiply %462, %272 : tensor<3x16xf32>
    %464 = stablehlo.multiply %271, %271 : tensor<3x16xf32>
    %465 = stablehlo.subtract %401, %464 : tensor<3x16xf32>
    %466 = stablehlo.multiply %463, %465 : tensor<3x16xf32>
    %467 = stablehlo.multiply %462, %260 : tensor<3x16xf32>
    %468 = stablehlo.subtract %401, %274 : tensor<3x16xf32>
    %469 = stablehlo.multiply %274, %468 : tensor<3x16xf32>
    %470 = stablehlo.multiply %467, %469 : tensor<3x16xf32>
    %471 = stablehlo.multiply %462, %271 : tensor<3x16xf32>
    %472 = stablehlo.subtract %401, %272 : tensor<3x16xf32>
    %473 = stablehlo.multiply %272, %472 : tensor<3x16xf32>
    %474 = stablehlo.multiply %471, %473 : tensor<3x16xf32>
    %475 = stablehlo.concatenate %474, %470, %466, %456, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %476 = stablehlo.dot_general %475, %394, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %477 = stablehlo.slice %397 [3:4:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %478 = stablehlo.reshape %477 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %479 = stablehlo.add %478, %476 : tensor<3x16xf32>
    %480 = stablehlo.multiply %479, %261 : tensor<3x16xf32>
    %481 = stablehlo.subtract %401, %262 : tensor<3x16xf32>
    %482 = stablehlo.multiply %262, %481 : tensor<3x16xf32>
    %483 = stablehlo.multiply %480, %482 : tensor<3x16xf32>
    %484 = stablehlo.multiply %479, %262 : tensor<3x16xf32>
    %485 = stablehlo.multiply %261, %261 : tensor<3x16xf32>
    %486 = stablehlo.subtract %401, %485 : tensor<3x16xf32>
    %487 = stablehlo.multiply %484, %486 : tensor<3x16xf32>
    %488 = stablehlo.multiply %462, %274 : tensor<3x16xf32>
    %489 = stablehlo.add %488, %487 : tensor<3x16xf32>
    %490 = stablehlo.multiply %489, %256 : tensor<3x16xf32>
    %491 = stablehlo.multiply %255, %255 : tensor<3x16xf32>
    %492 = stablehlo.subtract %401, %491 : tensor<3x16xf32>
    %493 = stablehlo.multiply %490, %492 : tensor<3x16xf32>
    %494 = stablehlo.multiply %489, %244 : tensor<3x16xf32>
    %495 = stablehlo.subtract %401, %258 : tensor<3x16xf32>
    %496 = stablehlo.multiply %258, %495 : tensor<3x16xf32>
    %497 = stablehlo.multiply %494, %496 : tensor<3x16xf32>
    %498 = stablehlo.multiply %489, %255 : tensor<3x16xf32>
    %499 = stablehlo.subtract %401, %256 : tensor<3x16xf32>
    %500 = stablehlo.multiply %256, %499 : tensor<3x16xf32>
    %501 = stablehlo.multiply %498, %500 : tensor<3x16xf32>
    %502 = stablehlo.concatenate %501, %497, %493, %483, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %503 = stablehlo.dot_general %502, %394, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %504 = stablehlo.slice %397 [2:3:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %505 = stablehlo.reshape %504 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %506 = stablehlo.add %505, %503 : tensor<3x16xf32>
    %507 = stablehlo.multiply %506, %245 : tensor<3x16xf32>
    %508 = stablehlo.subtract %401, %246 : tensor<3x16xf32>
    %509 = stablehlo.multiply %246, %508 : tensor<3x16xf32>
    %510 = stablehlo.multiply %507, %509 : tensor<3x16xf32>
    %511 = stablehlo.multiply %506, %246 : tensor<3x16xf32>
    %512 = stablehlo.multiply %245, %245 : tensor<3x16xf32>
    %513 = stablehlo.subtract %401, %512 : tensor<3x16xf32>
    %514 = stablehlo.multiply %511, %513 : tensor<3x16xf32>
    %515 = stablehlo.multiply %489, %258 : tensor<3x16xf32>
    %516 = stablehlo.add %515, %514 : tensor<3x16xf32>
    %517 = stablehlo.multiply %516, %240 : tensor<3x16xf32>
    %518 = stablehlo.multiply %239, %239 : tensor<3x16xf32>
    %519 = stablehlo.subtract %401, %518 : tensor<3x16xf32>
    %520 = stablehlo.multiply %517, %519 : tensor<3x16xf32>
    %521 = stablehlo.multiply %516, %228 : tensor<3x16xf32>
    %522 = stablehlo.subtract %401, %242 : tensor<3x16xf32>
    %523 = stablehlo.multiply %242, %522 : tensor<3x16xf32>
    %524 = stablehlo.multiply %521, %523 : tensor<3x16xf32>
    %525 = stablehlo.multiply %516, %239 : tensor<3x16xf32>
    %526 = stablehlo.subtract %401, %240 : tensor<3x16xf32>
    %527 = stablehlo.multiply %240, %526 : tensor<3x16xf32>
    %528 = stablehlo.multiply %525, %527 : tensor<3x16xf32>
    %529 = stablehlo.concatenate %528, %524, %520, %510, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %530 = stablehlo.dot_general %529, %394, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %531 = stablehlo.slice %397 [1:2:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %532 = stablehlo.reshape %531 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %533 = stablehlo.add %532, %530 : tensor<3x16xf32>
    %534 = stablehlo.multiply %533, %229 : tensor<3x16xf32>
    %535 = stablehlo.subtract %401, %230 : tensor<3x16xf32>
    %536 = stablehlo.multiply %230, %535 : tensor<3x16xf32>
    %537 = stablehlo.multiply %534, %536 : tensor<3x16xf32>
    %538 = stablehlo.multiply %533, %230 : tensor<3x16xf32>
    %539 = stablehlo.multiply %229, %229 : tensor<3x16xf32>
    %540 = stablehlo.subtract %401, %539 : tensor<3x16xf32>
    %541 = stablehlo.multiply %538, %540 : tensor<3x16xf32>
    %542 = stablehlo.multiply %516, %242 : tensor<3x16xf32>
    %543 = stablehlo.add %542, %541 : tensor<3x16xf32>
    %544 = stablehlo.multiply %543, %224 : tensor<3x16xf32>
    %545 = stablehlo.multiply %223, %223 : tensor<3x16xf32>
    %546 = stablehlo.subtract %401, %545 : tensor<3x16xf32>
    %547 = stablehlo.multiply %544, %546 : tensor<3x16xf32>
    %548 = stablehlo.multiply %543, %212 : tensor<3x16xf32>
    %549 = stablehlo.subtract %401, %226 : tensor<3x16xf32>
    %550 = stablehlo.multiply %226, %549 : tensor<3x16xf32>
    %551 = stablehlo.multiply %548, %550 : tensor<3x16xf32>
    %552 = stablehlo.multiply %543, %223 : tensor<3x16xf32>
    %553 = stablehlo.subtract %401, %224 : tensor<3x16xf32>
    %554 = stablehlo.multiply %224, %553 : tensor<3x16xf32>
    %555 = stablehlo.multiply %552, %554 : tensor<3x16xf32>
    %556 = stablehlo.concatenate %555, %551, %547, %537, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %557 = stablehlo.dot_general %556, %394, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %558 = stablehlo.slice %397 [0:1:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %559 = stablehlo.reshape %558 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %560 = stablehlo.add %559, %557 : tensor<3x16xf32>
    %561 = stablehlo.multiply %560, %213 : tensor<3x16xf32>
    %562 = stablehlo.subtract %401, %214 : tensor<3x16xf32>
    %563 = stablehlo.multiply %214, %562 : tensor<3x16xf32>
    %564 = stablehlo.multiply %561, %563 : tensor<3x16xf32>
    %565 = stablehlo.multiply %560, %214 : tensor<3x16xf32>
    %566 = stablehlo.multiply %213, %213 : tensor<3x16xf32>
    %567 = stablehlo.subtract %401, %566 : tensor<3x16xf32>
    %568 = stablehlo.multiply %565, %567 : tensor<3x16xf32>
    %569 = stablehlo.multiply %543, %226 : tensor<3x16xf32>
    %570 = stablehlo.add %569, %568 : tensor<3x16xf32>
    %571 = stablehlo.multiply %570, %208 : tensor<3x16xf32>
    %572 = stablehlo.multiply %207, %207 : tensor<3x16xf32>
    %573 = stablehlo.subtract %401, %572 : tensor<3x16xf32>
    %574 = stablehlo.multiply %571, %573 : tensor<3x16xf32>
    %575 = stablehlo.multiply %570, %47 : tensor<3x16xf32>
    %576 = stablehlo.subtract %401, %210 : tensor<3x16xf32>
    %577 = stablehlo.multiply %210, %576 : tensor<3x16xf32>
    %578 = stablehlo.multiply %575, %577 : tensor<3x16xf32>
    %579 = stablehlo.multiply %570, %207 : tensor<3x16xf32>
    %580 = stablehlo.subtract %401, %208 : tensor<3x16xf32>
    %581 = stablehlo.multiply %208, %580 : tensor<3x16xf32>
    %582 = stablehlo.multiply %579, %581 : tensor<3x16xf32>
    %583 = stablehlo.concatenate %582, %578, %574, %564, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %584 = stablehlo.reduce(%583 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %585 = stablehlo.reshape %584 : (tensor<64xf32>) -> tensor<1x64xf32>
    %586 = stablehlo.reshape %585 : (tensor<1x64xf32>) -> tensor<64xf32>
    %587 = stablehlo.reduce(%556 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %588 = stablehlo.reshape %587 : (tensor<64xf32>) -> tensor<1x64xf32>
    %589 = stablehlo.reshape %588 : (tensor<1x64xf32>) -> tensor<64xf32>
    %590 = stablehlo.reduce(%529 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %591 = stablehlo.reshape %590 : (tensor<64xf32>) -> tensor<1x64xf32>
    %592 = stablehlo.reshape %591 : (tensor<1x64xf32>) -> tensor<64xf32>
    %593 = stablehlo.reduce(%502 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %594 = stablehlo.reshape %593 : (tensor<64xf32>) -> tensor<1x64xf32>
    %595 = stablehlo.reshape %594 : (tensor<1x64xf32>) -> tensor<64xf32>
    %596 = stablehlo.reduce(%475 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %597 = stablehlo.reshape %596 : (tensor<64xf32>) -> tensor<1x64xf32>
    %598 = stablehlo.reshape %597 : (tensor<1x64xf32>) -> tensor<64xf32>
    %599 = stablehlo.reduce(%448 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %600 = stablehlo.reshape %599 : (tensor<64xf32>) -> tensor<1x64xf32>
    %601 = stablehlo.reshape %600 : (tensor<1x64xf32>) -> tensor<64xf32>
    %602 = stablehlo.reduce(%421 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %603 = stablehlo.reshape %602 : (tensor<64xf32>) -> tensor<1x64xf32>
    %604 = stablehlo.reshape %603 : (tensor<1x64xf32>) -> tensor<64xf32>
    %605 = stablehlo.add %604, %601 : tensor<64xf32>
    %606 = stablehlo.add %605, %598 : tensor<64xf32>
    %607 = stablehlo.add %606, %595 : tensor<64xf32>
    %608 = stablehlo.add %607, %592 : tensor<64xf32>
    %609 = stablehlo.add %608, %589 : tensor<64xf32>
    %610 = stablehlo.add %609, %586 : tensor<64xf32>
    %611 = stablehlo.constant dense<0.0> : tensor<64xf32>
    %612 = stablehlo.add %611, %610 : tensor<64xf32>
    %613 = stablehlo.transpose %583, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %614 = stablehlo.dot_general %613, %176, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %615 = stablehlo.transpose %614, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %616 = stablehlo.transpose %615, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %617 = stablehlo.transpose %556, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %618 = stablehlo.dot_general %617, %177, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %619 = stablehlo.transpose %618, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %620 = stablehlo.transpose %619, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %621 = stablehlo.transpose %529, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %622 = stablehlo.dot_general %621, %178, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %623 = stablehlo.transpose %622, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %624 = stablehlo.transpose %623, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %625 = stablehlo.transpose %502, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %626 = stablehlo.dot_general %625, %179, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %627 = stablehlo.transpose %626, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %628 = stablehlo.transpose %627, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %629 = stablehlo.transpose %475, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %630 = stablehlo.dot_general %629, %180, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %631 = stablehlo.transpose %630, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %632 = stablehlo.transpose %631, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %633 = stablehlo.transpose %448, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %634 = stablehlo.dot_general %633, %181, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %635 = stablehlo.transpose %634, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %636 = stablehlo.transpose %635, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %637 = stablehlo.transpose %421, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %638 = stablehlo.dot_general %637, %182, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %639 = stablehlo.transpose %638, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %640 = stablehlo.transpose %639, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %641 = stablehlo.add %640, %636 : tensor<64x16xf32>
    %642 = stablehlo.add %641, %632 : tensor<64x16xf32>
    %643 = stablehlo.add %642, %628 : tensor<64x16xf32>
    %644 = stablehlo.add %643, %624 : tensor<64x16xf32>
    %645 = stablehlo.add %644, %620 : tensor<64x16xf32>
    %646 = stablehlo.add %645, %616 : tensor<64x16xf32>
    %647 = stablehlo.constant dense<0.0> : tensor<64x16xf32>
    %648 = stablehlo.add %647, %646 : tensor<64x16xf32>
    %649 = stablehlo.dot_general %613, %47, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %650 = stablehlo.transpose %649, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %651 = stablehlo.transpose %650, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %652 = stablehlo.dot_general %617, %215, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %653 = stablehlo.transpose %652, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %654 = stablehlo.transpose %653, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %655 = stablehlo.dot_general %621, %231, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %656 = stablehlo.transpose %655, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %657 = stablehlo.transpose %656, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %658 = stablehlo.dot_general %625, %247, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %659 = stablehlo.transpose %658, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %660 = stablehlo.transpose %659, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %661 = stablehlo.dot_general %629, %263, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %662 = stablehlo.transpose %661, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %663 = stablehlo.transpose %662, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %664 = stablehlo.dot_general %633, %279, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %665 = stablehlo.transpose %664, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %666 = stablehlo.transpose %665, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %667 = stablehlo.dot_general %637, %295, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %668 = stablehlo.transpose %667, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %669 = stablehlo.transpose %668, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %670 = stablehlo.add %669, %666 : tensor<64x16xf32>
    %671 = stablehlo.add %670, %663 : tensor<64x16xf32>
    %672 = stablehlo.add %671, %660 : tensor<64x16xf32>
    %673 = stablehlo.add %672, %657 : tensor<64x16xf32>
    %674 = stablehlo.add %673, %654 : tensor<64x16xf32>
    %675 = stablehlo.add %674, %651 : tensor<64x16xf32>
    %676 = stablehlo.add %647, %675 : tensor<64x16xf32>
    %677 = stablehlo.transpose %30, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %678 = stablehlo.transpose %2, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %679 = stablehlo.dot_general %421, %678, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %680 = stablehlo.dot_general %448, %678, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %681 = stablehlo.dot_general %475, %678, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %682 = stablehlo.dot_general %502, %678, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %683 = stablehlo.dot_general %529, %678, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %684 = stablehlo.dot_general %556, %678, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %685 = stablehlo.dot_general %583, %678, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %686 = stablehlo.reshape %685 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %687 = stablehlo.reshape %684 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %688 = stablehlo.reshape %683 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %689 = stablehlo.reshape %682 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %690 = stablehlo.reshape %681 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %691 = stablehlo.reshape %680 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %692 = stablehlo.reshape %679 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %693 = stablehlo.concatenate %686, %687, %688, %689, %690, %691, %692, dim = 0 : (tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>) -> tensor<7x3x16xf32>
    %694 = stablehlo.slice %693 [6:7:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %695 = stablehlo.reshape %694 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %696 = stablehlo.multiply %695, %158 : tensor<3x16xf32>
    %697 = stablehlo.subtract %401, %159 : tensor<3x16xf32>
    %698 = stablehlo.multiply %159, %697 : tensor<3x16xf32>
    %699 = stablehlo.multiply %696, %698 : tensor<3x16xf32>
    %700 = stablehlo.multiply %695, %159 : tensor<3x16xf32>
    %701 = stablehlo.multiply %158, %158 : tensor<3x16xf32>
    %702 = stablehlo.subtract %401, %701 : tensor<3x16xf32>
    %703 = stablehlo.multiply %700, %702 : tensor<3x16xf32>
    %704 = stablehlo.multiply %703, %153 : tensor<3x16xf32>
    %705 = stablehlo.multiply %152, %152 : tensor<3x16xf32>
    %706 = stablehlo.subtract %401, %705 : tensor<3x16xf32>
    %707 = stablehlo.multiply %704, %706 : tensor<3x16xf32>
    %708 = stablehlo.multiply %703, %141 : tensor<3x16xf32>
    %709 = stablehlo.subtract %401, %155 : tensor<3x16xf32>
    %710 = stablehlo.multiply %155, %709 : tensor<3x16xf32>
    %711 = stablehlo.multiply %708, %710 : tensor<3x16xf32>
    %712 = stablehlo.multiply %703, %152 : tensor<3x16xf32>
    %713 = stablehlo.subtract %401, %153 : tensor<3x16xf32>
    %714 = stablehlo.multiply %153, %713 : tensor<3x16xf32>
    %715 = stablehlo.multiply %712, %714 : tensor<3x16xf32>
    %716 = stablehlo.concatenate %715, %711, %707, %699, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %717 = stablehlo.dot_general %716, %677, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %718 = stablehlo.slice %693 [5:6:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %719 = stablehlo.reshape %718 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %720 = stablehlo.add %719, %717 : tensor<3x16xf32>
    %721 = stablehlo.multiply %720, %142 : tensor<3x16xf32>
    %722 = stablehlo.subtract %401, %143 : tensor<3x16xf32>
    %723 = stablehlo.multiply %143, %722 : tensor<3x16xf32>
    %724 = stablehlo.multiply %721, %723 : tensor<3x16xf32>
    %725 = stablehlo.multiply %720, %143 : tensor<3x16xf32>
    %726 = stablehlo.multiply %142, %142 : tensor<3x16xf32>
    %727 = stablehlo.subtract %401, %726 : tensor<3x16xf32>
    %728 = stablehlo.multiply %725, %727 : tensor<3x16xf32>
    %729 = stablehlo.multiply %703, %155 : tensor<3x16xf32>
    %730 = stablehlo.add %729, %728 : tensor<3x16xf32>
    %731 = stablehlo.multiply %730, %137 : tensor<3x16xf32>
    %732 = stablehlo.multiply %136, %136 : tensor<3x16xf32>
    %733 = stablehlo.subtract %401, %732 : tensor<3x16xf32>
    %734 = stablehlo.multiply %731, %733 : tensor<3x16xf32>
    %735 = stablehlo.multiply %730, %125 : tensor<3x16xf32>
    %736 = stablehlo.subtract %401, %139 : tensor<3x16xf32>
    %737 = stablehlo.multiply %139, %736 : tensor<3x16xf32>
    %738 = stablehlo.multiply %735, %737 : tensor<3x16xf32>
    %739 = stablehlo.multiply %730, %136 : tensor<3x16xf32>
    %740 = stablehlo.subtract %401, %137 : tensor<3x16xf32>
    %741 = stablehlo.multiply %137, %740 : tensor<3x16xf32>
    %742 = stablehlo.multiply %739, %741 : tensor<3x16xf32>
    %743 = stablehlo.concatenate %742, %738, %734, %724, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %744 = stablehlo.dot_general %743, %677, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %745 = stablehlo.slice %693 [4:5:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %746 = stablehlo.reshape %745 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %747 = stablehlo.add %746, %744 : tensor<3x16xf32>
    %748 = stablehlo.multiply %747, %126 : tensor<3x16xf32>
    %749 = stablehlo.subtract %401, %127 : tensor<3x16xf32>
    %750 = stablehlo.multiply %127, %749 : tensor<3x16xf32>
    %751 = stablehlo.multiply %748, %750 : tensor<3x16xf32>
    %752 = stablehlo.multiply %747, %127 : tensor<3x16xf32>
    %753 = stablehlo.multiply %126, %126 : tensor<3x16xf32>
    %754 = stablehlo.subtract %401, %753 : tensor<3x16xf32>
    %755 = stablehlo.multiply %752, %754 : tensor<3x16xf32>
    %756 = stablehlo.multiply %730, %139 : tensor<3x16xf32>
    %757 = stablehlo.add %756, %755 : tensor<3x16xf32>
    %758 = stablehlo.multiply %757, %121 : tensor<3x16xf32>
    %759 = stablehlo.multiply %120, %120 : tensor<3x16xf32>
    %760 = stablehlo.subtract %401, %759 : tensor<3x16xf32>
    %761 = stablehlo.multiply %758, %760 : tensor<3x16xf32>
    %762 = stablehlo.multiply %757, %109 : tensor<3x16xf32>
    %763 = stablehlo.subtract %401, %123 : tensor<3x16xf32>
    %764 = stablehlo.multiply %123, %763 : tensor<3x16xf32>
    %765 = stablehlo.multiply %762, %764 : tensor<3x16xf32>
    %766 = stablehlo.multiply %757, %120 : tensor<3x16xf32>
    %767 = stablehlo.subtract %401, %121 : tensor<3x16xf32>
    %768 = stablehlo.multiply %121, %767 : tensor<3x16xf32>
    %769 = stablehlo.multiply %766, %768 : tensor<3x16xf32>
    %770 = stablehlo.concatenate %769, %765, %761, %751, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %771 = stablehlo.dot_general %770, %677, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %772 = stablehlo.slice %693 [3:4:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %773 = stablehlo.reshape %772 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %774 = stablehlo.add %773, %771 : tensor<3x16xf32>
    %775 = stablehlo.multiply %774, %110 : tensor<3x16xf32>
    %776 = stablehlo.subtract %401, %111 : tensor<3x16xf32>
    %777 = stablehlo.multiply %111, %776 : tensor<3x16xf32>
    %778 = stablehlo.multiply %775, %777 : tensor<3x16xf32>
    %779 = stablehlo.multiply %774, %111 : tensor<3x16xf32>
    %780 = stablehlo.multiply %110, %110 : tensor<3x16xf32>
    %781 = stablehlo.subtract %401, %780 : tensor<3x16xf32>
    %782 = stablehlo.multiply %779, %781 : tensor<3x16xf32>
    %783 = stablehlo.multiply %757, %123 : tensor<3x16xf32>
    %784 = stablehlo.add %783, %782 : tensor<3x16xf32>
    %785 = stablehlo.multiply %784, %105 : tensor<3x16xf32>
    %786 = stablehlo.multiply %104, %104 : tensor<3x16xf32>
    %787 = stablehlo.subtract %401, %786 : tensor<3x16xf32>
    %788 = stablehlo.multiply %785, %787 : tensor<3x16xf32>
    %789 = stablehlo.multiply %784, %93 : tensor<3x16xf32>
    %790 = stablehlo.subtract %401, %107 : tensor<3x16xf32>
    %791 = stablehlo.multiply %107, %790 : tensor<3x16xf32>
    %792 = stablehlo.multiply %789, %791 : tensor<3x16xf32>
    %793 = stablehlo.multiply %784, %104 : tensor<3x16xf32>
    %794 = stablehlo.subtract %401, %105 : tensor<3x16xf32>
    %795 = stablehlo.multiply %105, %794 : tensor<3x16xf32>
    %796 = stablehlo.multiply %793, %795 : tensor<3x16xf32>
    %797 = stablehlo.concatenate %796, %792, %788, %778, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %798 = stablehlo.dot_general %797, %677, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %799 = stablehlo.slice %693 [2:3:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %800 = stablehlo.reshape %799 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %801 = stablehlo.add %800, %798 : tensor<3x16xf32>
    %802 = stablehlo.multiply %801, %94 : tensor<3x16xf32>
    %803 = stablehlo.subtract %401, %95 : tensor<3x16xf32>
    %804 = stablehlo.multiply %95, %803 : tensor<3x16xf32>
    %805 = stablehlo.multiply %802, %804 : tensor<3x16xf32>
    %806 = stablehlo.multiply %801, %95 : tensor<3x16xf32>
    %807 = stablehlo.multiply %94, %94 : tensor<3x16xf32>
    %808 = stablehlo.subtract %401, %807 : tensor<3x16xf32>
    %809 = stablehlo.multiply %806, %808 : tensor<3x16xf32>
    %810 = stablehlo.multiply %784, %107 : tensor<3x16xf32>
    %811 = stablehlo.add %810, %809 : tensor<3x16xf32>
    %812 = stablehlo.multiply %811, %89 : tensor<3x16xf32>
    %813 = stablehlo.multiply %88, %88 : tensor<3x16xf32>
    %814 = stablehlo.subtract %401, %813 : tensor<3x16xf32>
    %815 = stablehlo.multiply %812, %814 : tensor<3x16xf32>
    %816 = stablehlo.multiply %811, %77 : tensor<3x16xf32>
    %817 = stablehlo.subtract %401, %91 : tensor<3x16xf32>
    %818 = stablehlo.multiply %91, %817 : tensor<3x16xf32>
    %819 = stablehlo.multiply %816, %818 : tensor<3x16xf32>
    %820 = stablehlo.multiply %811, %88 : tensor<3x16xf32>
    %821 = stablehlo.subtract %401, %89 : tensor<3x16xf32>
    %822 = stablehlo.multiply %89, %821 : tensor<3x16xf32>
    %823 = stablehlo.multiply %820, %822 : tensor<3x16xf32>
    %824 = stablehlo.concatenate %823, %819, %815, %805, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %825 = stablehlo.dot_general %824, %677, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %826 = stablehlo.slice %693 [1:2:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %827 = stablehlo.reshape %826 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %828 = stablehlo.add %827, %825 : tensor<3x16xf32>
    %829 = stablehlo.multiply %828, %78 : tensor<3x16xf32>
    %830 = stablehlo.subtract %401, %79 : tensor<3x16xf32>
    %831 = stablehlo.multiply %79, %830 : tensor<3x16xf32>
    %832 = stablehlo.multiply %829, %831 : tensor<3x16xf32>
    %833 = stablehlo.multiply %828, %79 : tensor<3x16xf32>
    %834 = stablehlo.multiply %78, %78 : tensor<3x16xf32>
    %835 = stablehlo.subtract %401, %834 : tensor<3x16xf32>
    %836 = stablehlo.multiply %833, %835 : tensor<3x16xf32>
    %837 = stablehlo.multiply %811, %91 : tensor<3x16xf32>
    %838 = stablehlo.add %837, %836 : tensor<3x16xf32>
    %839 = stablehlo.multiply %838, %73 : tensor<3x16xf32>
    %840 = stablehlo.multiply %72, %72 : tensor<3x16xf32>
    %841 = stablehlo.subtract %401, %840 : tensor<3x16xf32>
    %842 = stablehlo.multiply %839, %841 : tensor<3x16xf32>
    %843 = stablehlo.multiply %838, %61 : tensor<3x16xf32>
    %844 = stablehlo.subtract %401, %75 : tensor<3x16xf32>
    %845 = stablehlo.multiply %75, %844 : tensor<3x16xf32>
    %846 = stablehlo.multiply %843, %845 : tensor<3x16xf32>
    %847 = stablehlo.multiply %838, %72 : tensor<3x16xf32>
    %848 = stablehlo.subtract %401, %73 : tensor<3x16xf32>
    %849 = stablehlo.multiply %73, %848 : tensor<3x16xf32>
    %850 = stablehlo.multiply %847, %849 : tensor<3x16xf32>
    %851 = stablehlo.concatenate %850, %846, %842, %832, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %852 = stablehlo.dot_general %851, %677, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %853 = stablehlo.slice %693 [0:1:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %854 = stablehlo.reshape %853 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %855 = stablehlo.add %854, %852 : tensor<3x16xf32>
    %856 = stablehlo.multiply %855, %62 : tensor<3x16xf32>
    %857 = stablehlo.subtract %401, %63 : tensor<3x16xf32>
    %858 = stablehlo.multiply %63, %857 : tensor<3x16xf32>
    %859 = stablehlo.multiply %856, %858 : tensor<3x16xf32>
    %860 = stablehlo.multiply %855, %63 : tensor<3x16xf32>
    %861 = stablehlo.multiply %62, %62 : tensor<3x16xf32>
    %862 = stablehlo.subtract %401, %861 : tensor<3x16xf32>
    %863 = stablehlo.multiply %860, %862 : tensor<3x16xf32>
    %864 = stablehlo.multiply %838, %75 : tensor<3x16xf32>
    %865 = stablehlo.add %864, %863 : tensor<3x16xf32>
    %866 = stablehlo.multiply %865, %57 : tensor<3x16xf32>
    %867 = stablehlo.multiply %56, %56 : tensor<3x16xf32>
    %868 = stablehlo.subtract %401, %867 : tensor<3x16xf32>
    %869 = stablehlo.multiply %866, %868 : tensor<3x16xf32>
    %870 = stablehlo.multiply %865, %46 : tensor<3x16xf32>
    %871 = stablehlo.subtract %401, %59 : tensor<3x16xf32>
    %872 = stablehlo.multiply %59, %871 : tensor<3x16xf32>
    %873 = stablehlo.multiply %870, %872 : tensor<3x16xf32>
    %874 = stablehlo.multiply %865, %56 : tensor<3x16xf32>
    %875 = stablehlo.subtract %401, %57 : tensor<3x16xf32>
    %876 = stablehlo.multiply %57, %875 : tensor<3x16xf32>
    %877 = stablehlo.multiply %874, %876 : tensor<3x16xf32>
    %878 = stablehlo.concatenate %877, %873, %869, %859, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %879 = stablehlo.reduce(%878 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %880 = stablehlo.reshape %879 : (tensor<64xf32>) -> tensor<1x64xf32>
    %881 = stablehlo.reshape %880 : (tensor<1x64xf32>) -> tensor<64xf32>
    %882 = stablehlo.reduce(%851 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %883 = stablehlo.reshape %882 : (tensor<64xf32>) -> tensor<1x64xf32>
    %884 = stablehlo.reshape %883 : (tensor<1x64xf32>) -> tensor<64xf32>
    %885 = stablehlo.reduce(%824 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %886 = stablehlo.reshape %885 : (tensor<64xf32>) -> tensor<1x64xf32>
    %887 = stablehlo.reshape %886 : (tensor<1x64xf32>) -> tensor<64xf32>
    %888 = stablehlo.reduce(%797 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %889 = stablehlo.reshape %888 : (tensor<64xf32>) -> tensor<1x64xf32>
    %890 = stablehlo.reshape %889 : (tensor<1x64xf32>) -> tensor<64xf32>
    %891 = stablehlo.reduce(%770 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %892 = stablehlo.reshape %891 : (tensor<64xf32>) -> tensor<1x64xf32>
    %893 = stablehlo.reshape %892 : (tensor<1x64xf32>) -> tensor<64xf32>
    %894 = stablehlo.reduce(%743 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %895 = stablehlo.reshape %894 : (tensor<64xf32>) -> tensor<1x64xf32>
    %896 = stablehlo.reshape %895 : (tensor<1x64xf32>) -> tensor<64xf32>
    %897 = stablehlo.reduce(%716 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %898 = stablehlo.reshape %897 : (tensor<64xf32>) -> tensor<1x64xf32>
    %899 = stablehlo.reshape %898 : (tensor<1x64xf32>) -> tensor<64xf32>
    %900 = stablehlo.add %899, %896 : tensor<64xf32>
    %901 = stablehlo.add %900, %893 : tensor<64xf32>
    %902 = stablehlo.add %901, %890 : tensor<64xf32>
    %903 = stablehlo.add %902, %887 : tensor<64xf32>
    %904 = stablehlo.add %903, %884 : tensor<64xf32>
    %905 = stablehlo.add %904, %881 : tensor<64xf32>
    %906 = stablehlo.add %611, %905 : tensor<64xf32>
    %907 = stablehlo.transpose %878, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %908 = stablehlo.dot_general %907, %20, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %909 = stablehlo.transpose %908, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %910 = stablehlo.transpose %909, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %911 = stablehlo.transpose %851, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %912 = stablehlo.dot_general %911, %21, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %913 = stablehlo.transpose %912, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %914 = stablehlo.transpose %913, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %915 = stablehlo.transpose %824, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %916 = stablehlo.dot_general %915, %22, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %917 = stablehlo.transpose %916, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %918 = stablehlo.transpose %917, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %919 = stablehlo.transpose %797, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %920 = stablehlo.dot_general %919, %23, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %921 = stablehlo.transpose %920, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %922 = stablehlo.transpose %921, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %923 = stablehlo.transpose %770, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %924 = stablehlo.dot_general %923, %24, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %925 = stablehlo.transpose %924, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %926 = stablehlo.transpose %925, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %927 = stablehlo.transpose %743, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %928 = stablehlo.dot_general %927, %25, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %929 = stablehlo.transpose %928, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %930 = stablehlo.transpose %929, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %931 = stablehlo.transpose %716, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %932 = stablehlo.dot_general %931, %26, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %933 = stablehlo.transpose %932, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %934 = stablehlo.transpose %933, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %935 = stablehlo.add %934, %930 : tensor<64x16xf32>
    %936 = stablehlo.add %935, %926 : tensor<64x16xf32>
    %937 = stablehlo.add %936, %922 : tensor<64x16xf32>
    %938 = stablehlo.add %937, %918 : tensor<64x16xf32>
    %939 = stablehlo.add %938, %914 : tensor<64x16xf32>
    %940 = stablehlo.add %939, %910 : tensor<64x16xf32>
    %941 = stablehlo.add %647, %940 : tensor<64x16xf32>
    %942 = stablehlo.dot_general %907, %46, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %943 = stablehlo.transpose %942, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %944 = stablehlo.transpose %943, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %945 = stablehlo.dot_general %911, %64, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %946 = stablehlo.transpose %945, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %947 = stablehlo.transpose %946, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %948 = stablehlo.dot_general %915, %80, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %949 = stablehlo.transpose %948, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %950 = stablehlo.transpose %949, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %951 = stablehlo.dot_general %919, %96, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %952 = stablehlo.transpose %951, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %953 = stablehlo.transpose %952, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %954 = stablehlo.dot_general %923, %112, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %955 = stablehlo.transpose %954, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %956 = stablehlo.transpose %955, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %957 = stablehlo.dot_general %927, %128, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %958 = stablehlo.transpose %957, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %959 = stablehlo.transpose %958, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %960 = stablehlo.dot_general %931, %144, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %961 = stablehlo.transpose %960, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %962 = stablehlo.transpose %961, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %963 = stablehlo.add %962, %959 : tensor<64x16xf32>
    %964 = stablehlo.add %963, %956 : tensor<64x16xf32>
    %965 = stablehlo.add %964, %953 : tensor<64x16xf32>
    %966 = stablehlo.add %965, %950 : tensor<64x16xf32>
    %967 = stablehlo.add %966, %947 : tensor<64x16xf32>
    %968 = stablehlo.add %967, %944 : tensor<64x16xf32>
    %969 = stablehlo.add %647, %968 : tensor<64x16xf32>
    %970 = stablehlo.transpose %3, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %971 = stablehlo.dot_general %716, %970, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %972 = stablehlo.dot_general %743, %970, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %973 = stablehlo.dot_general %770, %970, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %974 = stablehlo.dot_general %797, %970, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %975 = stablehlo.dot_general %824, %970, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %976 = stablehlo.dot_general %851, %970, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %977 = stablehlo.dot_general %878, %970, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %978 = stablehlo.reshape %977 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %979 = stablehlo.reshape %976 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %980 = stablehlo.reshape %975 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %981 = stablehlo.reshape %974 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %982 = stablehlo.reshape %973 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %983 = stablehlo.reshape %972 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %984 = stablehlo.reshape %971 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %985 = stablehlo.concatenate %978, %979, %980, %981, %982, %983, %984, dim = 0 : (tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>) -> tensor<7x3x16xf32>
    %986 = stablehlo.multiply %985, %5 : tensor<7x3x16xf32>
    %987 = stablehlo.reshape %arg6 : (tensor<7x3xi64>) -> tensor<21x1xi64>
    %988 = stablehlo.reshape %986 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %992 = "stablehlo.scatter"(%386, %987, %988) ({
      ^bb0(%989: tensor<f32>, %990: tensor<f32>):
      %991 = stablehlo.add %989, %990 : tensor<f32>
      stablehlo.return %991 : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<30x16xf32>, tensor<21x1xi64>, tensor<21x16xf32>) -> tensor<30x16xf32>
    %993 = stablehlo.add %386, %992 : tensor<30x16xf32>
    %994 = stablehlo.broadcast_in_dim %arg26, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %995 = stablehlo.multiply %993, %994 : tensor<30x16xf32>
    %996 = stablehlo.add %arg5, %995 : tensor<30x16xf32>
    %997 = stablehlo.transpose %393, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %998 = stablehlo.transpose %997, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %999 = stablehlo.multiply %998, %994 : tensor<30x16xf32>
    %1000 = stablehlo.add %arg0, %999 : tensor<30x16xf32>
    %1001 = stablehlo.reshape %379 : (tensor<1x30xf32>) -> tensor<30xf32>
    %1002 = stablehlo.broadcast_in_dim %arg26, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %1003 = stablehlo.multiply %1001, %1002 : tensor<30xf32>
    %1004 = stablehlo.add %arg13, %1003 : tensor<30xf32>
    %1005 = stablehlo.broadcast_in_dim %arg26, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %1006 = stablehlo.multiply %941, %1005 : tensor<64x16xf32>
    %1007 = stablehlo.add %arg2, %1006 : tensor<64x16xf32>
    %1008 = stablehlo.multiply %969, %1005 : tensor<64x16xf32>
    %1009 = stablehlo.add %arg8, %1008 : tensor<64x16xf32>
    %1010 = stablehlo.broadcast_in_dim %arg26, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1011 = stablehlo.multiply %906, %1010 : tensor<64xf32>
    %1012 = stablehlo.add %arg7, %1011 : tensor<64xf32>
    %1013 = stablehlo.add %arg9, %1011 : tensor<64xf32>
    %1014 = stablehlo.multiply %648, %1005 : tensor<64x16xf32>
    %1015 = stablehlo.add %arg1, %1014 : tensor<64x16xf32>
    %1016 = stablehlo.multiply %676, %1005 : tensor<64x16xf32>
    %1017 = stablehlo.add %arg11, %1016 : tensor<64x16xf32>
    %1018 = stablehlo.multiply %612, %1010 : tensor<64xf32>
    %1019 = stablehlo.add %arg10, %1018 : tensor<64xf32>
    %1020 = stablehlo.add %arg12, %1018 : tensor<64xf32>
    return %353, %379, %393, %612, %648, %612, %676, %906, %941, %906, %969, %993, %996, %1000, %1004, %1007, %1009, %1012, %1013, %1015, %1017, %1019, %1020 : tensor<f32>, tensor<1x30xf32>, tensor<30x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>
  }
}
