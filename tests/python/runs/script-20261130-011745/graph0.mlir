module @graph0 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "778"} {
  func.func public @main(%arg0: tensor<30x16xf32> {tf.aliasing_output = 13 : i32}, %arg1: tensor<64x16xf32> {tf.aliasing_output = 19 : i32}, %arg2: tensor<64x16xf32> {tf.aliasing_output = 15 : i32}, %arg3: tensor<7x3x16xf32>, %arg4: tensor<f32>, %arg5: tensor<30x16xf32> {tf.aliasing_output = 12 : i32}, %arg6: tensor<7x3xi64>, %arg7: tensor<64xf32> {tf.aliasing_output = 17 : i32}, %arg8: tensor<64x16xf32> {tf.aliasing_output = 16 : i32}, %arg9: tensor<64xf32> {tf.aliasing_output = 18 : i32}, %arg10: tensor<64xf32> {tf.aliasing_output = 21 : i32}, %arg11: tensor<64x16xf32> {tf.aliasing_output = 20 : i32}, %arg12: tensor<64xf32> {tf.aliasing_output = 22 : i32}, %arg13: tensor<30xf32> {tf.aliasing_output = 14 : i32}, %arg14: tensor<21xi64>, %arg15: tensor<f32>) -> (tensor<f32>, tensor<30x16xf32>, tensor<1x30xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>) {
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
    %371 = stablehlo.transpose %370, dims = [1, 0] : (tensor<21x30xf32>) -> tensor<30x21xf32>
    %372 = stablehlo.dot_general %371, %320, contracting_dims = [1] x [0] : (tensor<30x21xf32>, tensor<21x16xf32>) -> tensor<30x16xf32>
    %373 = stablehlo.reduce(%370 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<21x30xf32>, tensor<f32>) -> tensor<30xf32>
    %374 = stablehlo.reshape %373 : (tensor<30xf32>) -> tensor<1x30xf32>
    %375 = stablehlo.transpose %186, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %376 = stablehlo.transpose %1, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %377 = stablehlo.dot_general %370, %376, contracting_dims = [1] x [0] : (tensor<21x30xf32>, tensor<30x16xf32>) -> tensor<21x16xf32>
    %378 = stablehlo.reshape %377 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %379 = stablehlo.slice %378 [6:7:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %380 = stablehlo.reshape %379 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %381 = stablehlo.multiply %380, %309 : tensor<3x16xf32>
    %382 = stablehlo.constant dense<1.0> : tensor<3x16xf32>
    %383 = stablehlo.subtract %382, %310 : tensor<3x16xf32>
    %384 = stablehlo.multiply %310, %383 : tensor<3x16xf32>
    %385 = stablehlo.multiply %381, %384 : tensor<3x16xf32>
    %386 = stablehlo.multiply %380, %310 : tensor<3x16xf32>
    %387 = stablehlo.multiply %309, %309 : tensor<3x16xf32>
    %388 = stablehlo.subtract %382, %387 : tensor<3x16xf32>
    %389 = stablehlo.multiply %386, %388 : tensor<3x16xf32>
    %390 = stablehlo.multiply %389, %304 : tensor<3x16xf32>
    %391 = stablehlo.multiply %303, %303 : tensor<3x16xf32>
    %392 = stablehlo.subtract %382, %391 : tensor<3x16xf32>
    %393 = stablehlo.multiply %390, %392 : tensor<3x16xf32>
    %394 = stablehlo.multiply %389, %292 : tensor<3x16xf32>
    %395 = stablehlo.subtract %382, %306 : tensor<3x16xf32>
    %396 = stablehlo.multiply %306, %395 : tensor<3x16xf32>
    %397 = stablehlo.multiply %394, %396 : tensor<3x16xf32>
    %398 = stablehlo.multiply %389, %303 : tensor<3x16xf32>
    %399 = stablehlo.subtract %382, %304 : tensor<3x16xf32>
    %400 = stablehlo.multiply %304, %399 : tensor<3x16xf32>
    %401 = stablehlo.multiply %398, %400 : tensor<3x16xf32>
    %402 = stablehlo.concatenate %401, %397, %393, %385, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %403 = stablehlo.dot_general %402, %375, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %404 = stablehlo.slice %378 [5:6:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %405 = stablehlo.reshape %404 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %406 = stablehlo.add %405, %403 : tensor<3x16xf32>
    %407 = stablehlo.multiply %406, %293 : tensor<3x16xf32>
    %408 = stablehlo.subtract %382, %294 : tensor<3x16xf32>
    %409 = stablehlo.multiply %294, %408 : tensor<3x16xf32>
    %410 = stablehlo.multiply %407, %409 : tensor<3x16xf32>
    %411 = stablehlo.multiply %406, %294 : tensor<3x16xf32>
    %412 = stablehlo.multiply %293, %293 : tensor<3x16xf32>
    %413 = stablehlo.subtract %382, %412 : tensor<3x16xf32>
    %414 = stablehlo.multiply %411, %413 : tensor<3x16xf32>
    %415 = stablehlo.multiply %389, %306 : tensor<3x16xf32>
    %416 = stablehlo.add %415, %414 : tensor<3x16xf32>
    %417 = stablehlo.multiply %416, %288 : tensor<3x16xf32>
    %418 = stablehlo.multiply %287, %287 : tensor<3x16xf32>
    %419 = stablehlo.subtract %382, %418 : tensor<3x16xf32>
    %420 = stablehlo.multiply %417, %419 : tensor<3x16xf32>
    %421 = stablehlo.multiply %416, %276 : tensor<3x16xf32>
    %422 = stablehlo.subtract %382, %290 : tensor<3x16xf32>
    %423 = stablehlo.multiply %290, %422 : tensor<3x16xf32>
    %424 = stablehlo.multiply %421, %423 : tensor<3x16xf32>
    %425 = stablehlo.multiply %416, %287 : tensor<3x16xf32>
    %426 = stablehlo.subtract %382, %288 : tensor<3x16xf32>
    %427 = stablehlo.multiply %288, %426 : tensor<3x16xf32>
    %428 = stablehlo.multiply %425, %427 : tensor<3x16xf32>
    %429 = stablehlo.concatenate %428, %424, %420, %410, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %430 = stablehlo.dot_general %429, %375, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %431 = stablehlo.slice %378 [4:5:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %432 = stablehlo.reshape %431 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %433 = stablehlo.add %432, %430 : tensor<3x16xf32>
    %434 = stablehlo.multiply %433, %277 : tensor<3x16xf32>
    %435 = stablehlo.subtract %382, %278 : tensor<3x16xf32>
    %436 = stablehlo.multiply %278, %435 : tensor<3x16xf32>
    %437 = stablehlo.multiply %434, %436 : tensor<3x16xf32>
    %438 = stablehlo.multiply %433, %278 : tensor<3x16xf32>
    %439 = stablehlo.multiply %277, %277 : tensor<3x16xf32>
    %440 = stablehlo.subtract %382, %439 : tensor<3x16xf32>
    %441 = stablehlo.multiply %438, %440 : tensor<3x16xf32>
    %442 = stablehlo.multiply %416, %290 : tensor<3x16xf32>
    %443 = stablehlo.add %442, %441 : tensor<3x16xf32>
    %444 = stablehlo.multiply %443, %272 : tensor<3x16xf32>
    %445 = stablehlo.multiply %271, %271 : tensor<3x16xf32>
    %446 = stablehlo.subtract %382, %445 : tensor<3x16xf32>
    %447 = stablehlo.multiply %444, %446 : tensor<3x16xf32>
    %448 = stablehlo.multiply %443, %260 : tensor<3x16xf32>
    %449 = stablehlo.subtract %382, %274 : tensor<3x16xf32>
    %450 = stablehlo.multiply %274, %449 : tensor<3x16xf32>
    %451 = stablehlo.multiply %448, %450 : tensor<3x16xf32>
    %452 = stablehlo.multiply %443, %271 : tensor<3x16xf32>
    %453 = stablehlo.subtract %382, %272 : tensor<3x16xf32>
    %454 = stablehlo.multiply %272, %453 : tensor<3x16xf32>
    %455 = stablehlo.multiply %452, %454 : tensor<3x16xf32>
    %456 = stablehlo.concatenate %455, %451, %447, %437, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %457 = stablehlo.dot_general %456, %375, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %458 = stablehlo.slice %378 [3:4:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %459 = stablehlo.reshape %458 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %460 = stablehlo.add %459, %457 : tensor<3x16xf32>
    %461 = stablehlo.multiply %460, %261 : tensor<3x16xf32>
    %462 = stablehlo.subtract %382, %262 : tensor<3x16xf32>
    %463 = stablehlo.multiply %262, %462 : tensor<3x16xf32>
    %464 = stablehlo.multiply %461, %463 : tensor<3x16xf32>
    %465 = stablehlo.multiply %460, %262 : tensor<3x16xf32>
    %466 = stablehlo.multiply %261, %261 : tensor<3x16xf32>
    %467 = stablehlo.subtract %382, %466 : tensor<3x16xf32>
    %468 = stablehlo.multiply %465, %467 : tensor<3x16xf32>
    %469 = stablehlo.multiply %443, %274 : tensor<3x16xf32>
    %470 = stablehlo.add %469, %468 : tensor<3x16xf32>
    %471 = stablehlo.multiply %470, %256 : tensor<3x16xf32>
    %472 = stablehlo.multiply %255, %255 : tensor<3x16xf32>
    %473 = stablehlo.subtract %382, %472 : tensor<3x16xf32>
    %474 = stablehlo.multiply %471, %473 : tensor<3x16xf32>
    %475 = stablehlo.multiply %470, %244 : tensor<3x16xf32>
    %476 = stablehlo.subtract %382, %258 : tensor<3x16xf32>
    %477 = stablehlo.multiply %258, %476 : tensor<3x16xf32>
    %478 = stablehlo.multiply %475, %477 : tensor<3x16xf32>
    %479 = stablehlo.multiply %470, %255 : tensor<3x16xf32>
    %480 = stablehlo.subtract %382, %256 : tensor<3x16xf32>
    %481 = stablehlo.multiply %256, %480 : tensor<3x16xf32>
    %482 = stablehlo.multiply %479, %481 : tensor<3x16xf32>
    %483 = stablehlo.concatenate %482, %478, %474, %464, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %484 = stablehlo.dot_general %483, %375, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %485 = stablehlo.slice %378 [2:3:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %486 = stablehlo.reshape %485 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %487 = stablehlo.add %486, %484 : tensor<3x16xf32>
    %488 = stablehlo.multiply %487, %245 : tensor<3x16xf32>
    %489 = stablehlo.subtract %382, %246 : tensor<3x16xf32>
    %490 = stablehlo.multiply %246, %489 : tensor<3x16xf32>
    %491 = stablehlo.multiply %488, %490 : tensor<3x16xf32>
    %492 = stablehlo.multiply %487, %246 : tensor<3x16xf32>
    %493 = stablehlo.multiply %245, %245 : tensor<3x16xf32>
    %494 = stablehlo.subtract %382, %493 : tensor<3x16xf32>
    %495 = stablehlo.multiply %492, %494 : tensor<3x16xf32>
    %496 = stablehlo.multiply %470, %258 : tensor<3x16xf32>
    %497 = stablehlo.add %496, %495 : tensor<3x16xf32>
    %498 = stablehlo.multiply %497, %240 : tensor<3x16xf32>
    %499 = stablehlo.multiply %239, %239 : tensor<3x16xf32>
    %500 = stablehlo.subtract %382, %499 : tensor<3x16xf32>
    %501 = stablehlo.multiply %498, %500 : tensor<3x16xf32>
    %502 = stablehlo.multiply %497, %228 : tensor<3x16xf32>
    %503 = stablehlo.subtract %382, %242 : tensor<3x16xf32>
    %504 = stablehlo.multiply %242, %503 : tensor<3x16xf32>
    %505 = stablehlo.multiply %502, %504 : tensor<3x16xf32>
    %506 = stablehlo.multiply %497, %239 : tensor<3x16xf32>
    %507 = stablehlo.subtract %382, %240 : tensor<3x16xf32>
    %508 = stablehlo.multiply %240, %507 : tensor<3x16xf32>
    %509 = stablehlo.multiply %506, %508 : tensor<3x16xf32>
    %510 = stablehlo.concatenate %509, %505, %501, %491, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %511 = stablehlo.dot_general %510, %375, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %512 = stablehlo.slice %378 [1:2:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %513 = stablehlo.reshape %512 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %514 = stablehlo.add %513, %511 : tensor<3x16xf32>
    %515 = stablehlo.multiply %514, %229 : tensor<3x16xf32>
    %516 = stablehlo.subtract %382, %230 : tensor<3x16xf32>
    %517 = stablehlo.multiply %230, %516 : tensor<3x16xf32>
    %518 = stablehlo.multiply %515, %517 : tensor<3x16xf32>
    %519 = stablehlo.multiply %514, %230 : tensor<3x16xf32>
    %520 = stablehlo.multiply %229, %229 : tensor<3x16xf32>
    %521 = stablehlo.subtract %382, %520 : tensor<3x16xf32>
    %522 = stablehlo.multiply %519, %521 : tensor<3x16xf32>
    %523 = stablehlo.multiply %497, %242 : tensor<3x16xf32>
    %524 = stablehlo.add %523, %522 : tensor<3x16xf32>
    %525 = stablehlo.multiply %524, %224 : tensor<3x16xf32>
    %526 = stablehlo.multiply %223, %223 : tensor<3x16xf32>
    %527 = stablehlo.subtract %382, %526 : tensor<3x16xf32>
    %528 = stablehlo.multiply %525, %527 : tensor<3x16xf32>
    %529 = stablehlo.multiply %524, %212 : tensor<3x16xf32>
    %530 = stablehlo.subtract %382, %226 : tensor<3x16xf32>
    %531 = stablehlo.multiply %226, %530 : tensor<3x16xf32>
    %532 = stablehlo.multiply %529, %531 : tensor<3x16xf32>
    %533 = stablehlo.multiply %524, %223 : tensor<3x16xf32>
    %534 = stablehlo.subtract %382, %224 : tensor<3x16xf32>
    %535 = stablehlo.multiply %224, %534 : tensor<3x16xf32>
    %536 = stablehlo.multiply %533, %535 : tensor<3x16xf32>
    %537 = stablehlo.concatenate %536, %532, %528, %518, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %538 = stablehlo.dot_general %537, %375, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %539 = stablehlo.slice %378 [0:1:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %540 = stablehlo.reshape %539 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %541 = stablehlo.add %540, %538 : tensor<3x16xf32>
    %542 = stablehlo.multiply %541, %213 : tensor<3x16xf32>
    %543 = stablehlo.subtract %382, %214 : tensor<3x16xf32>
    %544 = stablehlo.multiply %214, %543 : tensor<3x16xf32>
    %545 = stablehlo.multiply %542, %544 : tensor<3x16xf32>
    %546 = stablehlo.multiply %541, %214 : tensor<3x16xf32>
    %547 = stablehlo.multiply %213, %213 : tensor<3x16xf32>
    %548 = stablehlo.subtract %382, %547 : tensor<3x16xf32>
    %549 = stablehlo.multiply %546, %548 : tensor<3x16xf32>
    %550 = stablehlo.multiply %524, %226 : tensor<3x16xf32>
    %551 = stablehlo.add %550, %549 : tensor<3x16xf32>
    %552 = stablehlo.multiply %551, %208 : tensor<3x16xf32>
    %553 = stablehlo.multiply %207, %207 : tensor<3x16xf32>
    %554 = stablehlo.subtract %382, %553 : tensor<3x16xf32>
    %555 = stablehlo.multiply %552, %554 : tensor<3x16xf32>
    %556 = stablehlo.multiply %551, %47 : tensor<3x16xf32>
    %557 = stablehlo.subtract %382, %210 : tensor<3x16xf32>
    %558 = stablehlo.multiply %210, %557 : tensor<3x16xf32>
    %559 = stablehlo.multiply %556, %558 : tensor<3x16xf32>
    %560 = stablehlo.multiply %551, %207 : tensor<3x16xf32>
    %561 = stablehlo.subtract %382, %208 : tensor<3x16xf32>
    %562 = stablehlo.multiply %208, %561 : tensor<3x16xf32>
    %563 = stablehlo.multiply %560, %562 : tensor<3x16xf32>
    %564 = stablehlo.concatenate %563, %559, %555, %545, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %565 = stablehlo.reduce(%564 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %566 = stablehlo.reshape %565 : (tensor<64xf32>) -> tensor<1x64xf32>
    %567 = stablehlo.reshape %566 : (tensor<1x64xf32>) -> tensor<64xf32>
    %568 = stablehlo.reduce(%537 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %569 = stablehlo.reshape %568 : (tensor<64xf32>) -> tensor<1x64xf32>
    %570 = stablehlo.reshape %569 : (tensor<1x64xf32>) -> tensor<64xf32>
    %571 = stablehlo.reduce(%510 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %572 = stablehlo.reshape %571 : (tensor<64xf32>) -> tensor<1x64xf32>
    %573 = stablehlo.reshape %572 : (tensor<1x64xf32>) -> tensor<64xf32>
    %574 = stablehlo.reduce(%483 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %575 = stablehlo.reshape %574 : (tensor<64xf32>) -> tensor<1x64xf32>
    %576 = stablehlo.reshape %575 : (tensor<1x64xf32>) -> tensor<64xf32>
    %577 = stablehlo.reduce(%456 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %578 = stablehlo.reshape %577 : (tensor<64xf32>) -> tensor<1x64xf32>
    %579 = stablehlo.reshape %578 : (tensor<1x64xf32>) -> tensor<64xf32>
    %580 = stablehlo.reduce(%429 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %581 = stablehlo.reshape %580 : (tensor<64xf32>) -> tensor<1x64xf32>
    %582 = stablehlo.reshape %581 : (tensor<1x64xf32>) -> tensor<64xf32>
    %583 = stablehlo.reduce(%402 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %584 = stablehlo.reshape %583 : (tensor<64xf32>) -> tensor<1x64xf32>
    %585 = stablehlo.reshape %584 : (tensor<1x64xf32>) -> tensor<64xf32>
    %586 = stablehlo.add %585, %582 : tensor<64xf32>
    %587 = stablehlo.add %586, %579 : tensor<64xf32>
    %588 = stablehlo.add %587, %576 : tensor<64xf32>
    %589 = stablehlo.add %588, %573 : tensor<64xf32>
    %590 = stablehlo.add %589, %570 : tensor<64xf32>
    %591 = stablehlo.add %590, %567 : tensor<64xf32>
    %592 = stablehlo.transpose %564, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %593 = stablehlo.dot_general %592, %176, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %594 = stablehlo.transpose %593, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %595 = stablehlo.transpose %594, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %596 = stablehlo.transpose %537, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %597 = stablehlo.dot_general %596, %177, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %598 = stablehlo.transpose %597, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %599 = stablehlo.transpose %598, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %600 = stablehlo.transpose %510, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %601 = stablehlo.dot_general %600, %178, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %602 = stablehlo.transpose %601, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %603 = stablehlo.transpose %602, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %604 = stablehlo.transpose %483, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %605 = stablehlo.dot_general %604, %179, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %606 = stablehlo.transpose %605, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %607 = stablehlo.transpose %606, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %608 = stablehlo.transpose %456, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %609 = stablehlo.dot_general %608, %180, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %610 = stablehlo.transpose %609, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %611 = stablehlo.transpose %610, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %612 = stablehlo.transpose %429, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %613 = stablehlo.dot_general %612, %181, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %614 = stablehlo.transpose %613, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %615 = stablehlo.transpose %614, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %616 = stablehlo.transpose %402, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %617 = stablehlo.dot_general %616, %182, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %618 = stablehlo.transpose %617, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %619 = stablehlo.transpose %618, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %620 = stablehlo.add %619, %615 : tensor<64x16xf32>
    %621 = stablehlo.add %620, %611 : tensor<64x16xf32>
    %622 = stablehlo.add %621, %607 : tensor<64x16xf32>
    %623 = stablehlo.add %622, %603 : tensor<64x16xf32>
    %624 = stablehlo.add %623, %599 : tensor<64x16xf32>
    %625 = stablehlo.add %624, %595 : tensor<64x16xf32>
    %626 = stablehlo.dot_general %592, %47, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %627 = stablehlo.transpose %626, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %628 = stablehlo.transpose %627, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %629 = stablehlo.dot_general %596, %215, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %630 = stablehlo.transpose %629, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %631 = stablehlo.transpose %630, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %632 = stablehlo.dot_general %600, %231, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %633 = stablehlo.transpose %632, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %634 = stablehlo.transpose %633, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %635 = stablehlo.dot_general %604, %247, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %636 = stablehlo.transpose %635, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %637 = stablehlo.transpose %636, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %638 = stablehlo.dot_general %608, %263, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %639 = stablehlo.transpose %638, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %640 = stablehlo.transpose %639, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %641 = stablehlo.dot_general %612, %279, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %642 = stablehlo.transpose %641, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %643 = stablehlo.transpose %642, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %644 = stablehlo.dot_general %616, %295, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %645 = stablehlo.transpose %644, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %646 = stablehlo.transpose %645, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %647 = stablehlo.add %646, %643 : tensor<64x16xf32>
    %648 = stablehlo.add %647, %640 : tensor<64x16xf32>
    %649 = stablehlo.add %648, %637 : tensor<64x16xf32>
    %650 = stablehlo.add %649, %634 : tensor<64x16xf32>
    %651 = stablehlo.add %650, %631 : tensor<64x16xf32>
    %652 = stablehlo.add %651, %628 : tensor<64x16xf32>
    %653 = stablehlo.transpose %30, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %654 = stablehlo.transpose %2, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %655 = stablehlo.dot_general %402, %654, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %656 = stablehlo.dot_general %429, %654, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %657 = stablehlo.dot_general %456, %654, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %658 = stablehlo.dot_general %483, %654, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %659 = stablehlo.dot_general %510, %654, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %660 = stablehlo.dot_general %537, %654, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %661 = stablehlo.dot_general %564, %654, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %662 = stablehlo.reshape %661 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %663 = stablehlo.reshape %660 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %664 = stablehlo.reshape %659 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %665 = stablehlo.reshape %658 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %666 = stablehlo.reshape %657 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %667 = stablehlo.reshape %656 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %668 = stablehlo.reshape %655 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %669 = stablehlo.concatenate %662, %663, %664, %665, %666, %667, %668, dim = 0 : (tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>) -> tensor<7x3x16xf32>
    %670 = stablehlo.slice %669 [6:7:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %671 = stablehlo.reshape %670 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %672 = stablehlo.multiply %671, %158 : tensor<3x16xf32>
    %673 = stablehlo.subtract %382, %159 : tensor<3x16xf32>
    %674 = stablehlo.multiply %159, %673 : tensor<3x16xf32>
    %675 = stablehlo.multiply %672, %674 : tensor<3x16xf32>
    %676 = stablehlo.multiply %671, %159 : tensor<3x16xf32>
    %677 = stablehlo.multiply %158, %158 : tensor<3x16xf32>
    %678 = stablehlo.subtract %382, %677 : tensor<3x16xf32>
    %679 = stablehlo.multiply %676, %678 : tensor<3x16xf32>
    %680 = stablehlo.multiply %679, %153 : tensor<3x16xf32>
    %681 = stablehlo.multiply %152, %152 : tensor<3x16xf32>
    %682 = stablehlo.subtract %382, %681 : tensor<3x16xf32>
    %683 = stablehlo.multiply %680, %682 : tensor<3x16xf32>
    %684 = stablehlo.multiply %679, %141 : tensor<3x16xf32>
    %685 = stablehlo.subtract %382, %155 : tensor<3x16xf32>
    %686 = stablehlo.multiply %155, %685 : tensor<3x16xf32>
    %687 = stablehlo.multiply %684, %686 : tensor<3x16xf32>
    %688 = stablehlo.multiply %679, %152 : tensor<3x16xf32>
    %689 = stablehlo.subtract %382, %153 : tensor<3x16xf32>
    %690 = stablehlo.multiply %153, %689 : tensor<3x16xf32>
    %691 = stablehlo.multiply %688, %690 : tensor<3x16xf32>
    %692 = stablehlo.concatenate %691, %687, %683, %675, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %693 = stablehlo.dot_general %692, %653, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %694 = stablehlo.slice %669 [5:6:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %695 = stablehlo.reshape %694 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %696 = stablehlo.add %695, %693 : tensor<3x16xf32>
    %697 = stablehlo.multiply %696, %142 : tensor<3x16xf32>
    %698 = stablehlo.subtract %382, %143 : tensor<3x16xf32>
    %699 = stablehlo.multiply %143, %698 : tensor<3x16xf32>
    %700 = stablehlo.multiply %697, %699 : tensor<3x16xf32>
    %701 = stablehlo.multiply %696, %143 : tensor<3x16xf32>
    %702 = stablehlo.multiply %142, %142 : tensor<3x16xf32>
    %703 = stablehlo.subtract %382, %702 : tensor<3x16xf32>
    %704 = stablehlo.multiply %701, %703 : tensor<3x16xf32>
    %705 = stablehlo.multiply %679, %155 : tensor<3x16xf32>
    %706 = stablehlo.add %705, %704 : tensor<3x16xf32>
    %707 = stablehlo.multiply %706, %137 : tensor<3x16xf32>
    %708 = stablehlo.multiply %136, %136 : tensor<3x16xf32>
    %709 = stablehlo.subtract %382, %708 : tensor<3x16xf32>
    %710 = stablehlo.multiply %707, %709 : tensor<3x16xf32>
    %711 = stablehlo.multiply %706, %125 : tensor<3x16xf32>
    %712 = stablehlo.subtract %382, %139 : tensor<3x16xf32>
    %713 = stablehlo.multiply %139, %712 : tensor<3x16xf32>
    %714 = stablehlo.multiply %711, %713 : tensor<3x16xf32>
    %715 = stablehlo.multiply %706, %136 : tensor<3x16xf32>
    %716 = stablehlo.subtract %382, %137 : tensor<3x16xf32>
    %717 = stablehlo.multiply %137, %716 : tensor<3x16xf32>
    %718 = stablehlo.multiply %715, %717 : tensor<3x16xf32>
    %719 = stablehlo.concatenate %718, %714, %710, %700, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %720 = stablehlo.dot_general %719, %653, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %721 = stablehlo.slice %669 [4:5:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %722 = stablehlo.reshape %721 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %723 = stablehlo.add %722, %720 : tensor<3x16xf32>
    %724 = stablehlo.multiply %723, %126 : tensor<3x16xf32>
    %725 = stablehlo.subtract %382, %127 : tensor<3x16xf32>
    %726 = stablehlo.multiply %127, %725 : tensor<3x16xf32>
    %727 = stablehlo.multiply %724, %726 : tensor<3x16xf32>
    %728 = stablehlo.multiply %723, %127 : tensor<3x16xf32>
    %729 = stablehlo.multiply %126, %126 : tensor<3x16xf32>
    %730 = stablehlo.subtract %382, %729 : tensor<3x16xf32>
    %731 = stablehlo.multiply %728, %730 : tensor<3x16xf32>
    %732 = stablehlo.multiply %706, %139 : tensor<3x16xf32>
    %733 = stablehlo.add %732, %731 : tensor<3x16xf32>
    %734 = stablehlo.multiply %733, %121 : tensor<3x16xf32>
    %735 = stablehlo.multiply %120, %120 : tensor<3x16xf32>
    %736 = stablehlo.subtract %382, %735 : tensor<3x16xf32>
    %737 = stablehlo.multiply %734, %736 : tensor<3x16xf32>
    %738 = stablehlo.multiply %733, %109 : tensor<3x16xf32>
    %739 = stablehlo.subtract %382, %123 : tensor<3x16xf32>
    %740 = stablehlo.multiply %123, %739 : tensor<3x16xf32>
    %741 = stablehlo.multiply %738, %740 : tensor<3x16xf32>
    %742 = stablehlo.multiply %733, %120 : tensor<3x16xf32>
    %743 = stablehlo.subtract %382, %121 : tensor<3x16xf32>
    %744 = stablehlo.multiply %121, %743 : tensor<3x16xf32>
    %745 = stablehlo.multiply %742, %744 : tensor<3x16xf32>
    %746 = stablehlo.concatenate %745, %741, %737, %727, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %747 = stablehlo.dot_general %746, %653, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %748 = stablehlo.slice %669 [3:4:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %749 = stablehlo.reshape %748 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %750 = stablehlo.add %749, %747 : tensor<3x16xf32>
    %751 = stablehlo.multiply %750, %110 : tensor<3x16xf32>
    %752 = stablehlo.subtract %382, %111 : tensor<3x16xf32>
    %753 = stablehlo.multiply %111, %752 : tensor<3x16xf32>
    %754 = stablehlo.multiply %751, %753 : tensor<3x16xf32>
    %755 = stablehlo.multiply %750, %111 : tensor<3x16xf32>
    %756 = stablehlo.multiply %110, %110 : tensor<3x16xf32>
    %757 = stablehlo.subtract %382, %756 : tensor<3x16xf32>
    %758 = stablehlo.multiply %755, %757 : tensor<3x16xf32>
    %759 = stablehlo.multiply %733, %123 : tensor<3x16xf32>
    %760 = stablehlo.add %759, %758 : tensor<3x16xf32>
    %761 = stablehlo.multiply %760, %105 : tensor<3x16xf32>
    %762 = stablehlo.multiply %104, %104 : tensor<3x16xf32>
    %763 = stablehlo.subtract %382, %762 : tensor<3x16xf32>
    %764 = stablehlo.multiply %761, %763 : tensor<3x16xf32>
    %765 = stablehlo.multiply %760, %93 : tensor<3x16xf32>
    %766 = stablehlo.subtract %382, %107 : tensor<3x16xf32>
    %767 = stablehlo.multiply %107, %766 : tensor<3x16xf32>
    %768 = stablehlo.multiply %765, %767 : tensor<3x16xf32>
    %769 = stablehlo.multiply %760, %104 : tensor<3x16xf32>
    %770 = stablehlo.subtract %382, %105 : tensor<3x16xf32>
    %771 = stablehlo.multiply %105, %770 : tensor<3x16xf32>
    %772 = stablehlo.multiply %769, %771 : tensor<3x16xf32>
    %773 = stablehlo.concatenate %772, %768, %764, %754, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %774 = stablehlo.dot_general %773, %653, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %775 = stablehlo.slice %669 [2:3:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %776 = stablehlo.reshape %775 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %777 = stablehlo.add %776, %774 : tensor<3x16xf32>
    %778 = stablehlo.multiply %777, %94 : tensor<3x16xf32>
    %779 = stablehlo.subtract %382, %95 : tensor<3x16xf32>
    %780 = stablehlo.multiply %95, %779 : tensor<3x16xf32>
    %781 = stablehlo.multiply %778, %780 : tensor<3x16xf32>
    %782 = stablehlo.multiply %777, %95 : tensor<3x16xf32>
    %783 = stablehlo.multiply %94, %94 : tensor<3x16xf32>
    %784 = stablehlo.subtract %382, %783 : tensor<3x16xf32>
    %785 = stablehlo.multiply %782, %784 : tensor<3x16xf32>
    %786 = stablehlo.multiply %760, %107 : tensor<3x16xf32>
    %787 = stablehlo.add %786, %785 : tensor<3x16xf32>
    %788 = stablehlo.multiply %787, %89 : tensor<3x16xf32>
    %789 = stablehlo.multiply %88, %88 : tensor<3x16xf32>
    %790 = stablehlo.subtract %382, %789 : tensor<3x16xf32>
    %791 = stablehlo.multiply %788, %790 : tensor<3x16xf32>
    %792 = stablehlo.multiply %787, %77 : tensor<3x16xf32>
    %793 = stablehlo.subtract %382, %91 : tensor<3x16xf32>
    %794 = stablehlo.multiply %91, %793 : tensor<3x16xf32>
    %795 = stablehlo.multiply %792, %794 : tensor<3x16xf32>
    %796 = stablehlo.multiply %787, %88 : tensor<3x16xf32>
    %797 = stablehlo.subtract %382, %89 : tensor<3x16xf32>
    %798 = stablehlo.multiply %89, %797 : tensor<3x16xf32>
    %799 = stablehlo.multiply %796, %798 : tensor<3x16xf32>
    %800 = stablehlo.concatenate %799, %795, %791, %781, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %801 = stablehlo.dot_general %800, %653, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %802 = stablehlo.slice %669 [1:2:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %803 = stablehlo.reshape %802 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %804 = stablehlo.add %803, %801 : tensor<3x16xf32>
    %805 = stablehlo.multiply %804, %78 : tensor<3x16xf32>
    %806 = stablehlo.subtract %382, %79 : tensor<3x16xf32>
    %807 = stablehlo.multiply %79, %806 : tensor<3x16xf32>
    %808 = stablehlo.multiply %805, %807 : tensor<3x16xf32>
    %809 = stablehlo.multiply %804, %79 : tensor<3x16xf32>
    %810 = stablehlo.multiply %78, %78 : tensor<3x16xf32>
    %811 = stablehlo.subtract %382, %810 : tensor<3x16xf32>
    %812 = stablehlo.multiply %809, %811 : tensor<3x16xf32>
    %813 = stablehlo.multiply %787, %91 : tensor<3x16xf32>
    %814 = stablehlo.add %813, %812 : tensor<3x16xf32>
    %815 = stablehlo.multiply %814, %73 : tensor<3x16xf32>
    %816 = stablehlo.multiply %72, %72 : tensor<3x16xf32>
    %817 = stablehlo.subtract %382, %816 : tensor<3x16xf32>
    %818 = stablehlo.multiply %815, %817 : tensor<3x16xf32>
    %819 = stablehlo.multiply %814, %61 : tensor<3x16xf32>
    %820 = stablehlo.subtract %382, %75 : tensor<3x16xf32>
    %821 = stablehlo.multiply %75, %820 : tensor<3x16xf32>
    %822 = stablehlo.multiply %819, %821 : tensor<3x16xf32>
    %823 = stablehlo.multiply %814, %72 : tensor<3x16xf32>
    %824 = stablehlo.subtract %382, %73 : tensor<3x16xf32>
    %825 = stablehlo.multiply %73, %824 : tensor<3x16xf32>
    %826 = stablehlo.multiply %823, %825 : tensor<3x16xf32>
    %827 = stablehlo.concatenate %826, %822, %818, %808, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %828 = stablehlo.dot_general %827, %653, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %829 = stablehlo.slice %669 [0:1:1, 0:3:1, 0:16:1] : (tensor<7x3x16xf32>) -> tensor<1x3x16xf32>
    %830 = stablehlo.reshape %829 : (tensor<1x3x16xf32>) -> tensor<3x16xf32>
    %831 = stablehlo.add %830, %828 : tensor<3x16xf32>
    %832 = stablehlo.multiply %831, %62 : tensor<3x16xf32>
    %833 = stablehlo.subtract %382, %63 : tensor<3x16xf32>
    %834 = stablehlo.multiply %63, %833 : tensor<3x16xf32>
    %835 = stablehlo.multiply %832, %834 : tensor<3x16xf32>
    %836 = stablehlo.multiply %831, %63 : tensor<3x16xf32>
    %837 = stablehlo.multiply %62, %62 : tensor<3x16xf32>
    %838 = stablehlo.subtract %382, %837 : tensor<3x16xf32>
    %839 = stablehlo.multiply %836, %838 : tensor<3x16xf32>
    %840 = stablehlo.multiply %814, %75 : tensor<3x16xf32>
    %841 = stablehlo.add %840, %839 : tensor<3x16xf32>
    %842 = stablehlo.multiply %841, %57 : tensor<3x16xf32>
    %843 = stablehlo.multiply %56, %56 : tensor<3x16xf32>
    %844 = stablehlo.subtract %382, %843 : tensor<3x16xf32>
    %845 = stablehlo.multiply %842, %844 : tensor<3x16xf32>
    %846 = stablehlo.multiply %841, %46 : tensor<3x16xf32>
    %847 = stablehlo.subtract %382, %59 : tensor<3x16xf32>
    %848 = stablehlo.multiply %59, %847 : tensor<3x16xf32>
    %849 = stablehlo.multiply %846, %848 : tensor<3x16xf32>
    %850 = stablehlo.multiply %841, %56 : tensor<3x16xf32>
    %851 = stablehlo.subtract %382, %57 : tensor<3x16xf32>
    %852 = stablehlo.multiply %57, %851 : tensor<3x16xf32>
    %853 = stablehlo.multiply %850, %852 : tensor<3x16xf32>
    %854 = stablehlo.concatenate %853, %849, %845, %835, dim = 1 : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x64xf32>
    %855 = stablehlo.reduce(%854 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %856 = stablehlo.reshape %855 : (tensor<64xf32>) -> tensor<1x64xf32>
    %857 = stablehlo.reshape %856 : (tensor<1x64xf32>) -> tensor<64xf32>
    %858 = stablehlo.reduce(%827 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %859 = stablehlo.reshape %858 : (tensor<64xf32>) -> tensor<1x64xf32>
    %860 = stablehlo.reshape %859 : (tensor<1x64xf32>) -> tensor<64xf32>
    %861 = stablehlo.reduce(%800 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %862 = stablehlo.reshape %861 : (tensor<64xf32>) -> tensor<1x64xf32>
    %863 = stablehlo.reshape %862 : (tensor<1x64xf32>) -> tensor<64xf32>
    %864 = stablehlo.reduce(%773 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %865 = stablehlo.reshape %864 : (tensor<64xf32>) -> tensor<1x64xf32>
    %866 = stablehlo.reshape %865 : (tensor<1x64xf32>) -> tensor<64xf32>
    %867 = stablehlo.reduce(%746 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %868 = stablehlo.reshape %867 : (tensor<64xf32>) -> tensor<1x64xf32>
    %869 = stablehlo.reshape %868 : (tensor<1x64xf32>) -> tensor<64xf32>
    %870 = stablehlo.reduce(%719 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %871 = stablehlo.reshape %870 : (tensor<64xf32>) -> tensor<1x64xf32>
    %872 = stablehlo.reshape %871 : (tensor<1x64xf32>) -> tensor<64xf32>
    %873 = stablehlo.reduce(%692 init: %331) applies stablehlo.add across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %874 = stablehlo.reshape %873 : (tensor<64xf32>) -> tensor<1x64xf32>
    %875 = stablehlo.reshape %874 : (tensor<1x64xf32>) -> tensor<64xf32>
    %876 = stablehlo.add %875, %872 : tensor<64xf32>
    %877 = stablehlo.add %876, %869 : tensor<64xf32>
    %878 = stablehlo.add %877, %866 : tensor<64xf32>
    %879 = stablehlo.add %878, %863 : tensor<64xf32>
    %880 = stablehlo.add %879, %860 : tensor<64xf32>
    %881 = stablehlo.add %880, %857 : tensor<64xf32>
    %882 = stablehlo.transpose %854, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %883 = stablehlo.dot_general %882, %20, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %884 = stablehlo.transpose %883, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %885 = stablehlo.transpose %884, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %886 = stablehlo.transpose %827, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %887 = stablehlo.dot_general %886, %21, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %888 = stablehlo.transpose %887, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %889 = stablehlo.transpose %888, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %890 = stablehlo.transpose %800, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %891 = stablehlo.dot_general %890, %22, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %892 = stablehlo.transpose %891, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %893 = stablehlo.transpose %892, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %894 = stablehlo.transpose %773, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %895 = stablehlo.dot_general %894, %23, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %896 = stablehlo.transpose %895, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %897 = stablehlo.transpose %896, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %898 = stablehlo.transpose %746, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %899 = stablehlo.dot_general %898, %24, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %900 = stablehlo.transpose %899, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %901 = stablehlo.transpose %900, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %902 = stablehlo.transpose %719, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %903 = stablehlo.dot_general %902, %25, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %904 = stablehlo.transpose %903, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %905 = stablehlo.transpose %904, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %906 = stablehlo.transpose %692, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %907 = stablehlo.dot_general %906, %26, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %908 = stablehlo.transpose %907, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %909 = stablehlo.transpose %908, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %910 = stablehlo.add %909, %905 : tensor<64x16xf32>
    %911 = stablehlo.add %910, %901 : tensor<64x16xf32>
    %912 = stablehlo.add %911, %897 : tensor<64x16xf32>
    %913 = stablehlo.add %912, %893 : tensor<64x16xf32>
    %914 = stablehlo.add %913, %889 : tensor<64x16xf32>
    %915 = stablehlo.add %914, %885 : tensor<64x16xf32>
    %916 = stablehlo.dot_general %882, %46, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %917 = stablehlo.transpose %916, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %918 = stablehlo.transpose %917, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %919 = stablehlo.dot_general %886, %64, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %920 = stablehlo.transpose %919, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %921 = stablehlo.transpose %920, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %922 = stablehlo.dot_general %890, %80, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %923 = stablehlo.transpose %922, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %924 = stablehlo.transpose %923, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %925 = stablehlo.dot_general %894, %96, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %926 = stablehlo.transpose %925, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %927 = stablehlo.transpose %926, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %928 = stablehlo.dot_general %898, %112, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %929 = stablehlo.transpose %928, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %930 = stablehlo.transpose %929, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %931 = stablehlo.dot_general %902, %128, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %932 = stablehlo.transpose %931, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %933 = stablehlo.transpose %932, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %934 = stablehlo.dot_general %906, %144, contracting_dims = [1] x [0] : (tensor<64x3xf32>, tensor<3x16xf32>) -> tensor<64x16xf32>
    %935 = stablehlo.transpose %934, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %936 = stablehlo.transpose %935, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %937 = stablehlo.add %936, %933 : tensor<64x16xf32>
    %938 = stablehlo.add %937, %930 : tensor<64x16xf32>
    %939 = stablehlo.add %938, %927 : tensor<64x16xf32>
    %940 = stablehlo.add %939, %924 : tensor<64x16xf32>
    %941 = stablehlo.add %940, %921 : tensor<64x16xf32>
    %942 = stablehlo.add %941, %918 : tensor<64x16xf32>
    %943 = stablehlo.transpose %3, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %944 = stablehlo.dot_general %692, %943, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %945 = stablehlo.dot_general %719, %943, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %946 = stablehlo.dot_general %746, %943, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %947 = stablehlo.dot_general %773, %943, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %948 = stablehlo.dot_general %800, %943, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %949 = stablehlo.dot_general %827, %943, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %950 = stablehlo.dot_general %854, %943, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x16xf32>) -> tensor<3x16xf32>
    %951 = stablehlo.reshape %950 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %952 = stablehlo.reshape %949 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %953 = stablehlo.reshape %948 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %954 = stablehlo.reshape %947 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %955 = stablehlo.reshape %946 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %956 = stablehlo.reshape %945 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %957 = stablehlo.reshape %944 : (tensor<3x16xf32>) -> tensor<1x3x16xf32>
    %958 = stablehlo.concatenate %951, %952, %953, %954, %955, %956, %957, dim = 0 : (tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>) -> tensor<7x3x16xf32>
    %959 = stablehlo.multiply %958, %5 : tensor<7x3x16xf32>
    %960 = stablehlo.reshape %arg6 : (tensor<7x3xi64>) -> tensor<21x1xi64>
    %961 = stablehlo.reshape %959 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %962 = stablehlo.constant dense<0.0> : tensor<30x16xf32>
    %966 = "stablehlo.scatter"(%962, %960, %961) ({
      ^bb0(%963: tensor<f32>, %964: tensor<f32>):
      %965 = stablehlo.add %963, %964 : tensor<f32>
      stablehlo.return %965 : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<30x16xf32>, tensor<21x1xi64>, tensor<21x16xf32>) -> tensor<30x16xf32>
    %967 = stablehlo.broadcast_in_dim %arg15, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %968 = stablehlo.multiply %966, %967 : tensor<30x16xf32>
    %969 = stablehlo.add %arg5, %968 : tensor<30x16xf32>
    %970 = stablehlo.transpose %372, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %971 = stablehlo.transpose %970, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %972 = stablehlo.multiply %971, %967 : tensor<30x16xf32>
    %973 = stablehlo.add %arg0, %972 : tensor<30x16xf32>
    %974 = stablehlo.reshape %374 : (tensor<1x30xf32>) -> tensor<30xf32>
    %975 = stablehlo.broadcast_in_dim %arg15, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %976 = stablehlo.multiply %974, %975 : tensor<30xf32>
    %977 = stablehlo.add %arg13, %976 : tensor<30xf32>
    %978 = stablehlo.broadcast_in_dim %arg15, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %979 = stablehlo.multiply %915, %978 : tensor<64x16xf32>
    %980 = stablehlo.add %arg2, %979 : tensor<64x16xf32>
    %981 = stablehlo.multiply %942, %978 : tensor<64x16xf32>
    %982 = stablehlo.add %arg8, %981 : tensor<64x16xf32>
    %983 = stablehlo.broadcast_in_dim %arg15, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %984 = stablehlo.multiply %881, %983 : tensor<64xf32>
    %985 = stablehlo.add %arg7, %984 : tensor<64xf32>
    %986 = stablehlo.add %arg9, %984 : tensor<64xf32>
    %987 = stablehlo.multiply %625, %978 : tensor<64x16xf32>
    %988 = stablehlo.add %arg1, %987 : tensor<64x16xf32>
    %989 = stablehlo.multiply %652, %978 : tensor<64x16xf32>
    %990 = stablehlo.add %arg11, %989 : tensor<64x16xf32>
    %991 = stablehlo.multiply %591, %983 : tensor<64xf32>
    %992 = stablehlo.add %arg10, %991 : tensor<64xf32>
    %993 = stablehlo.add %arg12, %991 : tensor<64xf32>
    return %353, %372, %374, %591, %625, %591, %652, %881, %915, %881, %942, %966, %969, %973, %977, %980, %982, %985, %986, %988, %990, %992, %993 : tensor<f32>, tensor<30x16xf32>, tensor<1x30xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<64xf32>
  }
}
