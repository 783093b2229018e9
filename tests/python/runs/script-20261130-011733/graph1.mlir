module @graph1 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "100"} {
  func.func public @main(%arg0: tensor<5x16xf32> {tf.aliasing_output = 16 : i32}, %arg1: tensor<16x20xf32> {tf.aliasing_output = 8 : i32}, %arg2: tensor<16xf32> {tf.aliasing_output = 10 : i32}, %arg3: tensor<8x20xf32>, %arg4: tensor<16xf32> {tf.aliasing_output = 12 : i32}, %arg5: tensor<16xf32> {tf.aliasing_output = 14 : i32}, %arg6: tensor<5xf32> {tf.aliasing_output = 18 : i32}, %arg7: tensor<8xi64>, %arg8: tensor<1x5xf32> {tf.aliasing_output = 1 : i32}, %arg9: tensor<5x16xf32> {tf.aliasing_output = 2 : i32}, %arg10: tensor<16xf32> {tf.aliasing_output = 3 : i32}, %arg11: tensor<16xf32> {tf.aliasing_output = 4 : i32}, %arg12: tensor<1x16xf32> {tf.aliasing_output = 5 : i32}, %arg13: tensor<16x20xf32> {tf.aliasing_output = 6 : i32}, %arg14: tensor<f32>, %arg15: tensor<16x20xf32> {tf.aliasing_output = 7 : i32}, %arg16: tensor<f32>, %arg17: tensor<f32>, %arg18: tensor<16xf32> {tf.aliasing_output = 9 : i32}, %arg19: tensor<16xf32> {tf.aliasing_output = 11 : i32}, %arg20: tensor<16xf32> {tf.aliasing_output = 13 : i32}, %arg21: tensor<5x16xf32> {tf.aliasing_output = 15 : i32}, %arg22: tensor<5xf32> {tf.aliasing_output = 17 : i32}) -> (tensor<f32>, tensor<1x5xf32>, tensor<5x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<1x16xf32>, tensor<16x20xf32>, tensor<16x20xf32>, tensor<16x20xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5x16xf32>, tensor<5x16xf32>, tensor<5xf32>, tensor<5xf32>) {
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
    %2 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<16x20xf32>) -> tensor<20x16xf32>
    %3 = stablehlo.dot_general %arg3, %2, contracting_dims = [1] x [0] : (tensor<8x20xf32>, tensor<20x16xf32>) -> tensor<8x16xf32>
    %4 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
    %5 = stablehlo.add %3, %4 : tensor<8x16xf32>
    %6 = stablehlo.constant dense<0.7071067811865476> : tensor<f32>
    %7 = stablehlo.constant dense<0.5> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %9 = stablehlo.multiply %5, %8 : tensor<8x16xf32>
    %10 = chlo.erf %9 : tensor<8x16xf32> -> tensor<8x16xf32>
    %11 = stablehlo.constant dense<1.0> : tensor<8x16xf32>
    %12 = stablehlo.add %10, %11 : tensor<8x16xf32>
    %13 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %14 = stablehlo.multiply %5, %13 : tensor<8x16xf32>
    %15 = stablehlo.multiply %14, %12 : tensor<8x16xf32>
    %16 = stablehlo.constant dense<1e-05> : tensor<f32>
    %17 = stablehlo.constant dense<16.0> : tensor<8x16xf32>
    %18 = stablehlo.constant dense<0.0> : tensor<f32>
    %19 = stablehlo.reduce(%15 init: %18) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
    %21 = stablehlo.divide %20, %17 : tensor<8x16xf32>
    %22 = stablehlo.subtract %15, %21 : tensor<8x16xf32>
    %23 = stablehlo.multiply %22, %22 : tensor<8x16xf32>
    %24 = stablehlo.reduce(%23 init: %18) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
    %25 = stablehlo.constant dense<16.0> : tensor<8xf32>
    %26 = stablehlo.divide %19, %25 : tensor<8xf32>
    %27 = stablehlo.divide %24, %25 : tensor<8xf32>
    %28 = stablehlo.reshape %27 : (tensor<8xf32>) -> tensor<8x1xf32>
    %29 = stablehlo.reshape %26 : (tensor<8xf32>) -> tensor<8x1xf32>
    %30 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
    %31 = stablehlo.add %28, %30 : tensor<8x1xf32>
    %32 = stablehlo.rsqrt %31 : tensor<8x1xf32>
    %33 = stablehlo.broadcast_in_dim %29, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x16xf32>
    %34 = stablehlo.subtract %15, %33 : tensor<8x16xf32>
    %35 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x16xf32>
    %36 = stablehlo.multiply %34, %35 : tensor<8x16xf32>
    %37 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
    %38 = stablehlo.multiply %36, %37 : tensor<8x16xf32>
    %39 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
    %40 = stablehlo.add %38, %39 : tensor<8x16xf32>
    %41 = stablehlo.dot_general %40, %1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x5xf32>) -> tensor<8x5xf32>
    %42 = stablehlo.broadcast_in_dim %arg6, dims = [1] : (tensor<5xf32>) -> tensor<8x5xf32>
    %43 = stablehlo.add %41, %42 : tensor<8x5xf32>
    %44 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %45 = stablehlo.reduce(%43 init: %44) applies stablehlo.maximum across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0] : (tensor<8xf32>) -> tensor<8x5xf32>
    %47 = stablehlo.subtract %43, %46 : tensor<8x5xf32>
    %48 = stablehlo.exponential %47 : tensor<8x5xf32>
    %49 = stablehlo.reduce(%48 init: %18) applies stablehlo.add across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0] : (tensor<8xf32>) -> tensor<8x5xf32>
    %51 = stablehlo.log %50 : tensor<8x5xf32>
    %52 = stablehlo.subtract %47, %51 : tensor<8x5xf32>
    %53 = stablehlo.constant dense<-100> : tensor<8xi64>
    %54 = stablehlo.compare NE, %arg7, %53 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
    %55 = stablehlo.iota dim = 1 : tensor<8x5xi64>
    %56 = stablehlo.broadcast_in_dim %arg7, dims = [0] : (tensor<8xi64>) -> tensor<8x5xi64>
    %57 = stablehlo.compare EQ, %55, %56 : (tensor<8x5xi64>, tensor<8x5xi64>) -> tensor<8x5xi1>
    %58 = stablehlo.broadcast_in_dim %54, dims = [0] : (tensor<8xi1>) -> tensor<8x5xi1>
    %59 = stablehlo.and %57, %58 : tensor<8x5xi1>
    %60 = stablehlo.constant dense<1.0> : tensor<8x5xf32>
    %61 = stablehlo.multiply %52, %60 : tensor<8x5xf32>
    %62 = stablehlo.constant dense<0.0> : tensor<8x5xf32>
    %63 = stablehlo.select %59, %61, %62 : tensor<8x5xi1>, tensor<8x5xf32>
    %64 = stablehlo.reduce(%63 init: %18) applies stablehlo.add across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
    %65 = stablehlo.negate %64 : tensor<8xf32>
    %66 = stablehlo.select %59, %60, %62 : tensor<8x5xi1>, tensor<8x5xf32>
    %67 = stablehlo.reduce(%66 init: %18) applies stablehlo.add across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
    %68 = stablehlo.reduce(%67 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %69 = stablehlo.reduce(%65 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %70 = stablehlo.divide %69, %68 : tensor<f32>
    %71 = stablehlo.constant dense<1.0> : tensor<f32>
    %72 = stablehlo.constant dense<1.0> : tensor<f32>
    %73 = stablehlo.constant dense<0.0> : tensor<f32>
    %74 = stablehlo.compare NE, %68, %73 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %75 = stablehlo.select %74, %68, %72 : tensor<i1>, tensor<f32>
    %76 = stablehlo.divide %71, %75 : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [] : (tensor<f32>) -> tensor<8x5xf32>
    %78 = stablehlo.multiply %77, %60 : tensor<8x5xf32>
    %79 = stablehlo.negate %78 : tensor<8x5xf32>
    %80 = stablehlo.select %59, %79, %62 : tensor<8x5xi1>, tensor<8x5xf32>
    %81 = stablehlo.reduce(%80 init: %18) applies stablehlo.add across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
    %82 = stablehlo.broadcast_in_dim %81, dims = [0] : (tensor<8xf32>) -> tensor<8x5xf32>
    %83 = stablehlo.exponential %52 : tensor<8x5xf32>
    %84 = stablehlo.multiply %83, %82 : tensor<8x5xf32>
    %85 = stablehlo.subtract %80, %84 : tensor<8x5xf32>
    %86 = stablehlo.reduce(%85 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<8x5xf32>, tensor<f32>) -> tensor<5xf32>
    %87 = stablehlo.reshape %86 : (tensor<5xf32>) -> tensor<1x5xf32>
    %88 = stablehlo.reshape %87 : (tensor<1x5xf32>) -> tensor<5xf32>
    %89 = stablehlo.reshape %arg8 : (tensor<1x5xf32>) -> tensor<5xf32>
    %90 = stablehlo.constant dense<0.0> : tensor<5xf32>
    %91 = stablehlo.reshape %90 : (tensor<5xf32>) -> tensor<1x5xf32>
    %92 = stablehlo.reshape %91 : (tensor<1x5xf32>) -> tensor<5xf32>
    %93 = stablehlo.add %92, %88 : tensor<5xf32>
    %94 = stablehlo.reshape %93 : (tensor<5xf32>) -> tensor<1x5xf32>
    %95 = stablehlo.transpose %85, dims = [1, 0] : (tensor<8x5xf32>) -> tensor<5x8xf32>
    %96 = stablehlo.dot_general %95, %40, contracting_dims = [1] x [0] : (tensor<5x8xf32>, tensor<8x16xf32>) -> tensor<5x16xf32>
    %97 = stablehlo.transpose %96, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
    %98 = stablehlo.transpose %97, dims = [1, 0] : (tensor<16x5xf32>) -> tensor<5x16xf32>
    %99 = stablehlo.transpose %arg9, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
    %100 = stablehlo.transpose %99, dims = [1, 0] : (tensor<16x5xf32>) -> tensor<5x16xf32>
    %101 = stablehlo.constant dense<0.0> : tensor<5x16xf32>
    %102 = stablehlo.transpose %101, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
    %103 = stablehlo.transpose %102, dims = [1, 0] : (tensor<16x5xf32>) -> tensor<5x16xf32>
    %104 = stablehlo.transpose %103, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
    %105 = stablehlo.transpose %104, dims = [1, 0] : (tensor<16x5xf32>) -> tensor<5x16xf32>
    %106 = stablehlo.add %105, %98 : tensor<5x16xf32>
    %107 = stablehlo.transpose %106, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
    %108 = stablehlo.transpose %107, dims = [1, 0] : (tensor<16x5xf32>) -> tensor<5x16xf32>
    %109 = stablehlo.transpose %1, dims = [1, 0] : (tensor<16x5xf32>) -> tensor<5x16xf32>
    %110 = stablehlo.dot_general %85, %109, contracting_dims = [1] x [0] : (tensor<8x5xf32>, tensor<5x16xf32>) -> tensor<8x16xf32>
    %111 = stablehlo.constant dense<16> : tensor<i64>
    %112 = stablehlo.multiply %110, %37 : tensor<8x16xf32>
    %113 = stablehlo.multiply %112, %36 : tensor<8x16xf32>
    %114 = stablehlo.reduce(%113 init: %18) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
    %115 = stablehlo.reshape %114 : (tensor<8xf32>) -> tensor<8x1xf32>
    %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x16xf32>
    %117 = stablehlo.multiply %36, %116 : tensor<8x16xf32>
    %118 = stablehlo.reduce(%112 init: %18) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
    %119 = stablehlo.reshape %118 : (tensor<8xf32>) -> tensor<8x1xf32>
    %120 = stablehlo.convert %111 : (tensor<i64>) -> tensor<f32>
    %121 = stablehlo.broadcast_in_dim %120, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %122 = stablehlo.multiply %112, %121 : tensor<8x16xf32>
    %123 = stablehlo.broadcast_in_dim %119, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x16xf32>
    %124 = stablehlo.subtract %122, %123 : tensor<8x16xf32>
    %125 = stablehlo.subtract %124, %117 : tensor<8x16xf32>
    %126 = stablehlo.broadcast_in_dim %120, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
    %127 = stablehlo.divide %32, %126 : tensor<8x1xf32>
    %128 = stablehlo.broadcast_in_dim %127, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x16xf32>
    %129 = stablehlo.multiply %128, %125 : tensor<8x16xf32>
    %130 = stablehlo.multiply %110, %36 : tensor<8x16xf32>
    %131 = stablehlo.reduce(%130 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %132 = stablehlo.reduce(%110 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %133 = stablehlo.constant dense<0.0> : tensor<16xf32>
    %134 = stablehlo.add %133, %131 : tensor<16xf32>
    %135 = stablehlo.add %133, %132 : tensor<16xf32>
    %136 = stablehlo.constant dense<-0.5> : tensor<f32>
    %137 = stablehlo.constant dense<0.3989422804014327> : tensor<f32>
    %138 = stablehlo.multiply %5, %5 : tensor<8x16xf32>
    %139 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %140 = stablehlo.multiply %138, %139 : tensor<8x16xf32>
    %141 = stablehlo.exponential %140 : tensor<8x16xf32>
    %142 = stablehlo.broadcast_in_dim %137, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %143 = stablehlo.multiply %141, %142 : tensor<8x16xf32>
    %144 = stablehlo.multiply %5, %143 : tensor<8x16xf32>
    %145 = stablehlo.multiply %12, %13 : tensor<8x16xf32>
    %146 = stablehlo.add %145, %144 : tensor<8x16xf32>
    %147 = stablehlo.multiply %129, %146 : tensor<8x16xf32>
    %148 = stablehlo.reduce(%147 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %149 = stablehlo.reshape %148 : (tensor<16xf32>) -> tensor<1x16xf32>
    %150 = stablehlo.reshape %149 : (tensor<1x16xf32>) -> tensor<16xf32>
    %151 = stablehlo.reshape %arg12 : (tensor<1x16xf32>) -> tensor<16xf32>
    %152 = stablehlo.reshape %133 : (tensor<16xf32>) -> tensor<1x16xf32>
    %153 = stablehlo.reshape %152 : (tensor<1x16xf32>) -> tensor<16xf32>
    %154 = stablehlo.add %153, %150 : tensor<16xf32>
    %155 = stablehlo.reshape %154 : (tensor<16xf32>) -> tensor<1x16xf32>
    %156 = stablehlo.transpose %147, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %157 = stablehlo.dot_general %156, %arg3, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x20xf32>) -> tensor<16x20xf32>
    %158 = stablehlo.transpose %157, dims = [1, 0] : (tensor<16x20xf32>) -> tensor<20x16xf32>
    %159 = stablehlo.transpose %158, dims = [1, 0] : (tensor<20x16xf32>) -> tensor<16x20xf32>
    %160 = stablehlo.transpose %arg13, dims = [1, 0] : (tensor<16x20xf32>) -> tensor<20x16xf32>
    %161 = stablehlo.transpose %160, dims = [1, 0] : (tensor<20x16xf32>) -> tensor<16x20xf32>
    %162 = stablehlo.constant dense<0.0> : tensor<16x20xf32>
    %163 = stablehlo.transpose %162, dims = [1, 0] : (tensor<16x20xf32>) -> tensor<20x16xf32>
    %164 = stablehlo.transpose %163, dims = [1, 0] : (tensor<20x16xf32>) -> tensor<16x20xf32>
    %165 = stablehlo.transpose %164, dims = [1, 0] : (tensor<16x20xf32>) -> tensor<20x16xf32>
    %166 = stablehlo.transpose %165, dims = [1, 0] : (tensor<20x16xf32>) -> tensor<16x20xf32>
    %167 = stablehlo.add %166, %159 : tensor<16x20xf32>
    %168 = stablehlo.transpose %167, dims = [1, 0] : (tensor<16x20xf32>) -> tensor<20x16xf32>
    %169 = stablehlo.transpose %168, dims = [1, 0] : (tensor<20x16xf32>) -> tensor<16x20xf32>
    %170 = stablehlo.transpose %169, dims = [1, 0] : (tensor<16x20xf32>) -> tensor<20x16xf32>
    %171 = stablehlo.transpose %170, dims = [1, 0] : (tensor<20x16xf32>) -> tensor<16x20xf32>
    %172 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %173 = stablehlo.multiply %arg1, %172 : tensor<16x20xf32>
    %174 = stablehlo.add %171, %173 : tensor<16x20xf32>
    %175 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %176 = stablehlo.multiply %arg15, %175 : tensor<16x20xf32>
    %177 = stablehlo.add %176, %174 : tensor<16x20xf32>
    %178 = stablehlo.multiply %177, %175 : tensor<16x20xf32>
    %179 = stablehlo.add %174, %178 : tensor<16x20xf32>
    %180 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %181 = stablehlo.multiply %179, %180 : tensor<16x20xf32>
    %182 = stablehlo.add %arg1, %181 : tensor<16x20xf32>
    %183 = stablehlo.reshape %155 : (tensor<1x16xf32>) -> tensor<16xf32>
    %184 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %185 = stablehlo.multiply %arg2, %184 : tensor<16xf32>
    %186 = stablehlo.add %183, %185 : tensor<16xf32>
    %187 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %188 = stablehlo.multiply %arg18, %187 : tensor<16xf32>
    %189 = stablehlo.add %188, %186 : tensor<16xf32>
    %190 = stablehlo.multiply %189, %187 : tensor<16xf32>
    %191 = stablehlo.add %186, %190 : tensor<16xf32>
    %192 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %193 = stablehlo.multiply %191, %192 : tensor<16xf32>
    %194 = stablehlo.add %arg2, %193 : tensor<16xf32>
    %195 = stablehlo.multiply %arg4, %184 : tensor<16xf32>
    %196 = stablehlo.add %134, %195 : tensor<16xf32>
    %197 = stablehlo.multiply %arg19, %187 : tensor<16xf32>
    %198 = stablehlo.add %197, %196 : tensor<16xf32>
    %199 = stablehlo.multiply %198, %187 : tensor<16xf32>
    %200 = stablehlo.add %196, %199 : tensor<16xf32>
    %201 = stablehlo.multiply %200, %192 : tensor<16xf32>
    %202 = stablehlo.add %arg4, %201 : tensor<16xf32>
    %203 = stablehlo.multiply %arg5, %184 : tensor<16xf32>
    %204 = stablehlo.add %135, %203 : tensor<16xf32>
    %205 = stablehlo.multiply %arg20, %187 : tensor<16xf32>
    %206 = stablehlo.add %205, %204 : tensor<16xf32>
    %207 = stablehlo.multiply %206, %187 : tensor<16xf32>
    %208 = stablehlo.add %204, %207 : tensor<16xf32>
    %209 = stablehlo.multiply %208, %192 : tensor<16xf32>
    %210 = stablehlo.add %arg5, %209 : tensor<16xf32>
    %211 = stablehlo.transpose %108, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
    %212 = stablehlo.transpose %211, dims = [1, 0] : (tensor<16x5xf32>) -> tensor<5x16xf32>
    %213 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %214 = stablehlo.multiply %arg0, %213 : tensor<5x16xf32>
    %215 = stablehlo.add %212, %214 : tensor<5x16xf32>
    %216 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %217 = stablehlo.multiply %arg21, %216 : tensor<5x16xf32>
    %218 = stablehlo.add %217, %215 : tensor<5x16xf32>
    %219 = stablehlo.multiply %218, %216 : tensor<5x16xf32>
    %220 = stablehlo.add %215, %219 : tensor<5x16xf32>
    %221 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %222 = stablehlo.multiply %220, %221 : tensor<5x16xf32>
    %223 = stablehlo.add %arg0, %222 : tensor<5x16xf32>
    %224 = stablehlo.reshape %94 : (tensor<1x5xf32>) -> tensor<5xf32>
    %225 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %226 = stablehlo.multiply %arg6, %225 : tensor<5xf32>
    %227 = stablehlo.add %224, %226 : tensor<5xf32>
    %228 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %229 = stablehlo.multiply %arg22, %228 : tensor<5xf32>
    %230 = stablehlo.add %229, %227 : tensor<5xf32>
    %231 = stablehlo.multiply %230, %228 : tensor<5xf32>
    %232 = stablehlo.add %227, %231 : tensor<5xf32>
    %233 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %234 = stablehlo.multiply %232, %233 : tensor<5xf32>
    %235 = stablehlo.add %arg6, %234 : tensor<5xf32>
    return %70, %94, %108, %134, %135, %155, %169, %177, %182, %189, %194, %198, %202, %206, %210, %218, %223, %230, %235 : tensor<f32>, tensor<1x5xf32>, tensor<5x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<1x16xf32>, tensor<16x20xf32>, tensor<16x20xf32>, tensor<16x20xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5x16xf32>, tensor<5x16xf32>, tensor<5xf32>, tensor<5xf32>
  }
}
