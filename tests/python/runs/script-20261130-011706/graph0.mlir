module @graph0 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "88"} {
  func.func public @main(%arg0: tensor<5x16xf32> {tf.aliasing_output = 21 : i32}, %arg1: tensor<16x20xf32> {tf.aliasing_output = 9 : i32}, %arg2: tensor<16xf32> {tf.aliasing_output = 12 : i32}, %arg3: tensor<8x20xf32>, %arg4: tensor<16xf32> {tf.aliasing_output = 15 : i32}, %arg5: tensor<16xf32> {tf.aliasing_output = 18 : i32}, %arg6: tensor<5xf32> {tf.aliasing_output = 24 : i32}, %arg7: tensor<8xi64>, %arg8: tensor<f32>, %arg9: tensor<f32>, %arg10: tensor<f32>, %arg11: tensor<f32>, %arg12: tensor<f32>, %arg13: tensor<f32>, %arg14: tensor<f32>) -> (tensor<f32>, tensor<5x16xf32>, tensor<1x5xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x20xf32>, tensor<1x16xf32>, tensor<16x20xf32>, tensor<16x20xf32>, tensor<16x20xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5x16xf32>, tensor<5x16xf32>, tensor<5x16xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
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
    %86 = stablehlo.transpose %85, dims = [1, 0] : (tensor<8x5xf32>) -> tensor<5x8xf32>
    %87 = stablehlo.dot_general %86, %40, contracting_dims = [1] x [0] : (tensor<5x8xf32>, tensor<8x16xf32>) -> tensor<5x16xf32>
    %88 = stablehlo.reduce(%85 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<8x5xf32>, tensor<f32>) -> tensor<5xf32>
    %89 = stablehlo.reshape %88 : (tensor<5xf32>) -> tensor<1x5xf32>
    %90 = stablehlo.transpose %1, dims = [1, 0] : (tensor<16x5xf32>) -> tensor<5x16xf32>
    %91 = stablehlo.dot_general %85, %90, contracting_dims = [1] x [0] : (tensor<8x5xf32>, tensor<5x16xf32>) -> tensor<8x16xf32>
    %92 = stablehlo.constant dense<16> : tensor<i64>
    %93 = stablehlo.multiply %91, %37 : tensor<8x16xf32>
    %94 = stablehlo.multiply %93, %36 : tensor<8x16xf32>
    %95 = stablehlo.reduce(%94 init: %18) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
    %96 = stablehlo.reshape %95 : (tensor<8xf32>) -> tensor<8x1xf32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x16xf32>
    %98 = stablehlo.multiply %36, %97 : tensor<8x16xf32>
    %99 = stablehlo.reduce(%93 init: %18) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
    %100 = stablehlo.reshape %99 : (tensor<8xf32>) -> tensor<8x1xf32>
    %101 = stablehlo.convert %92 : (tensor<i64>) -> tensor<f32>
    %102 = stablehlo.broadcast_in_dim %101, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %103 = stablehlo.multiply %93, %102 : tensor<8x16xf32>
    %104 = stablehlo.broadcast_in_dim %100, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x16xf32>
    %105 = stablehlo.subtract %103, %104 : tensor<8x16xf32>
    %106 = stablehlo.subtract %105, %98 : tensor<8x16xf32>
    %107 = stablehlo.broadcast_in_dim %101, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
    %108 = stablehlo.divide %32, %107 : tensor<8x1xf32>
    %109 = stablehlo.broadcast_in_dim %108, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x16xf32>
    %110 = stablehlo.multiply %109, %106 : tensor<8x16xf32>
    %111 = stablehlo.multiply %91, %36 : tensor<8x16xf32>
    %112 = stablehlo.reduce(%111 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %113 = stablehlo.reduce(%91 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %114 = stablehlo.constant dense<-0.5> : tensor<f32>
    %115 = stablehlo.constant dense<0.3989422804014327> : tensor<f32>
    %116 = stablehlo.multiply %5, %5 : tensor<8x16xf32>
    %117 = stablehlo.broadcast_in_dim %114, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %118 = stablehlo.multiply %116, %117 : tensor<8x16xf32>
    %119 = stablehlo.exponential %118 : tensor<8x16xf32>
    %120 = stablehlo.broadcast_in_dim %115, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %121 = stablehlo.multiply %119, %120 : tensor<8x16xf32>
    %122 = stablehlo.multiply %5, %121 : tensor<8x16xf32>
    %123 = stablehlo.multiply %12, %13 : tensor<8x16xf32>
    %124 = stablehlo.add %123, %122 : tensor<8x16xf32>
    %125 = stablehlo.multiply %110, %124 : tensor<8x16xf32>
    %126 = stablehlo.transpose %125, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %127 = stablehlo.dot_general %126, %arg3, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x20xf32>) -> tensor<16x20xf32>
    %128 = stablehlo.reduce(%125 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %129 = stablehlo.reshape %128 : (tensor<16xf32>) -> tensor<1x16xf32>
    %130 = stablehlo.transpose %127, dims = [1, 0] : (tensor<16x20xf32>) -> tensor<20x16xf32>
    %131 = stablehlo.transpose %130, dims = [1, 0] : (tensor<20x16xf32>) -> tensor<16x20xf32>
    %132 = stablehlo.constant dense<0.0> : tensor<16x20xf32>
    %133 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %134 = stablehlo.multiply %132, %133 : tensor<16x20xf32>
    %135 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %136 = stablehlo.multiply %131, %135 : tensor<16x20xf32>
    %137 = stablehlo.add %134, %136 : tensor<16x20xf32>
    %138 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %139 = stablehlo.multiply %132, %138 : tensor<16x20xf32>
    %140 = stablehlo.multiply %131, %131 : tensor<16x20xf32>
    %141 = stablehlo.broadcast_in_dim %arg11, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %142 = stablehlo.multiply %140, %141 : tensor<16x20xf32>
    %143 = stablehlo.add %139, %142 : tensor<16x20xf32>
    %144 = stablehlo.sqrt %143 : tensor<16x20xf32>
    %145 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %146 = stablehlo.divide %144, %145 : tensor<16x20xf32>
    %147 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %148 = stablehlo.add %146, %147 : tensor<16x20xf32>
    %149 = stablehlo.divide %137, %148 : tensor<16x20xf32>
    %150 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %151 = stablehlo.multiply %149, %150 : tensor<16x20xf32>
    %152 = stablehlo.add %arg1, %151 : tensor<16x20xf32>
    %153 = stablehlo.reshape %129 : (tensor<1x16xf32>) -> tensor<16xf32>
    %154 = stablehlo.constant dense<0.0> : tensor<16xf32>
    %155 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %156 = stablehlo.multiply %154, %155 : tensor<16xf32>
    %157 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %158 = stablehlo.multiply %153, %157 : tensor<16xf32>
    %159 = stablehlo.add %156, %158 : tensor<16xf32>
    %160 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %161 = stablehlo.multiply %154, %160 : tensor<16xf32>
    %162 = stablehlo.multiply %153, %153 : tensor<16xf32>
    %163 = stablehlo.broadcast_in_dim %arg11, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %164 = stablehlo.multiply %162, %163 : tensor<16xf32>
    %165 = stablehlo.add %161, %164 : tensor<16xf32>
    %166 = stablehlo.sqrt %165 : tensor<16xf32>
    %167 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %168 = stablehlo.divide %166, %167 : tensor<16xf32>
    %169 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %170 = stablehlo.add %168, %169 : tensor<16xf32>
    %171 = stablehlo.divide %159, %170 : tensor<16xf32>
    %172 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %173 = stablehlo.multiply %171, %172 : tensor<16xf32>
    %174 = stablehlo.add %arg2, %173 : tensor<16xf32>
    %175 = stablehlo.multiply %112, %157 : tensor<16xf32>
    %176 = stablehlo.add %156, %175 : tensor<16xf32>
    %177 = stablehlo.multiply %112, %112 : tensor<16xf32>
    %178 = stablehlo.multiply %177, %163 : tensor<16xf32>
    %179 = stablehlo.add %161, %178 : tensor<16xf32>
    %180 = stablehlo.sqrt %179 : tensor<16xf32>
    %181 = stablehlo.divide %180, %167 : tensor<16xf32>
    %182 = stablehlo.add %181, %169 : tensor<16xf32>
    %183 = stablehlo.divide %176, %182 : tensor<16xf32>
    %184 = stablehlo.multiply %183, %172 : tensor<16xf32>
    %185 = stablehlo.add %arg4, %184 : tensor<16xf32>
    %186 = stablehlo.multiply %113, %157 : tensor<16xf32>
    %187 = stablehlo.add %156, %186 : tensor<16xf32>
    %188 = stablehlo.multiply %113, %113 : tensor<16xf32>
    %189 = stablehlo.multiply %188, %163 : tensor<16xf32>
    %190 = stablehlo.add %161, %189 : tensor<16xf32>
    %191 = stablehlo.sqrt %190 : tensor<16xf32>
    %192 = stablehlo.divide %191, %167 : tensor<16xf32>
    %193 = stablehlo.add %192, %169 : tensor<16xf32>
    %194 = stablehlo.divide %187, %193 : tensor<16xf32>
    %195 = stablehlo.multiply %194, %172 : tensor<16xf32>
    %196 = stablehlo.add %arg5, %195 : tensor<16xf32>
    %197 = stablehlo.transpose %87, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
    %198 = stablehlo.transpose %197, dims = [1, 0] : (tensor<16x5xf32>) -> tensor<5x16xf32>
    %199 = stablehlo.constant dense<0.0> : tensor<5x16xf32>
    %200 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %201 = stablehlo.multiply %199, %200 : tensor<5x16xf32>
    %202 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %203 = stablehlo.multiply %198, %202 : tensor<5x16xf32>
    %204 = stablehlo.add %201, %203 : tensor<5x16xf32>
    %205 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %206 = stablehlo.multiply %199, %205 : tensor<5x16xf32>
    %207 = stablehlo.multiply %198, %198 : tensor<5x16xf32>
    %208 = stablehlo.broadcast_in_dim %arg11, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %209 = stablehlo.multiply %207, %208 : tensor<5x16xf32>
    %210 = stablehlo.add %206, %209 : tensor<5x16xf32>
    %211 = stablehlo.sqrt %210 : tensor<5x16xf32>
    %212 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %213 = stablehlo.divide %211, %212 : tensor<5x16xf32>
    %214 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %215 = stablehlo.add %213, %214 : tensor<5x16xf32>
    %216 = stablehlo.divide %204, %215 : tensor<5x16xf32>
    %217 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %218 = stablehlo.multiply %216, %217 : tensor<5x16xf32>
    %219 = stablehlo.add %arg0, %218 : tensor<5x16xf32>
    %220 = stablehlo.reshape %89 : (tensor<1x5xf32>) -> tensor<5xf32>
    %221 = stablehlo.constant dense<0.0> : tensor<5xf32>
    %222 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %223 = stablehlo.multiply %221, %222 : tensor<5xf32>
    %224 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %225 = stablehlo.multiply %220, %224 : tensor<5xf32>
    %226 = stablehlo.add %223, %225 : tensor<5xf32>
    %227 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %228 = stablehlo.multiply %221, %227 : tensor<5xf32>
    %229 = stablehlo.multiply %220, %220 : tensor<5xf32>
    %230 = stablehlo.broadcast_in_dim %arg11, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %231 = stablehlo.multiply %229, %230 : tensor<5xf32>
    %232 = stablehlo.add %228, %231 : tensor<5xf32>
    %233 = stablehlo.sqrt %232 : tensor<5xf32>
    %234 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %235 = stablehlo.divide %233, %234 : tensor<5xf32>
    %236 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %237 = stablehlo.add %235, %236 : tensor<5xf32>
    %238 = stablehlo.divide %226, %237 : tensor<5xf32>
    %239 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %240 = stablehlo.multiply %238, %239 : tensor<5xf32>
    %241 = stablehlo.add %arg6, %240 : tensor<5xf32>
    return %70, %87, %89, %112, %113, %127, %129, %137, %143, %152, %159, %165, %174, %176, %179, %185, %187, %190, %196, %204, %210, %219, %226, %232, %241 : tensor<f32>, tensor<5x16xf32>, tensor<1x5xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x20xf32>, tensor<1x16xf32>, tensor<16x20xf32>, tensor<16x20xf32>, tensor<16x20xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5x16xf32>, tensor<5x16xf32>, tensor<5x16xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
  }
}
