module @graph0 attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "100"} {
  func.func public @main(%arg0: tensor<10x64xf32> {tf.aliasing_output = 13 : i32}, %arg1: tensor<64x40xf32> {tf.aliasing_output = 7 : i32}, %arg2: tensor<64xf32> {tf.aliasing_output = 10 : i32}, %arg3: tensor<16x40xf32>, %arg4: tensor<10xf32> {tf.aliasing_output = 16 : i32}, %arg5: tensor<16xi64>, %arg6: tensor<f32>, %arg7: tensor<f32>, %arg8: tensor<f32>, %arg9: tensor<f32>, %arg10: tensor<f32>, %arg11: tensor<f32>, %arg12: tensor<f32>, %arg13: tensor<f32>, %arg14: tensor<f32>) -> (tensor<f32>, tensor<64x40xf32>, tensor<1x64xf32>, tensor<10x64xf32>, tensor<1x10xf32>, tensor<64x40xf32>, tensor<64x40xf32>, tensor<64x40xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) {
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %2 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %3 = stablehlo.dot_general %arg3, %2, contracting_dims = [1] x [0] : (tensor<16x40xf32>, tensor<40x64xf32>) -> tensor<16x64xf32>
    %4 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<64xf32>) -> tensor<16x64xf32>
    %5 = stablehlo.add %3, %4 : tensor<16x64xf32>
    %6 = stablehlo.constant dense<0.7071067811865476> : tensor<f32>
    %7 = stablehlo.constant dense<0.5> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %9 = stablehlo.multiply %5, %8 : tensor<16x64xf32>
    %10 = chlo.erf %9 : tensor<16x64xf32> -> tensor<16x64xf32>
    %11 = stablehlo.constant dense<1.0> : tensor<16x64xf32>
    %12 = stablehlo.add %10, %11 : tensor<16x64xf32>
    %13 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %14 = stablehlo.multiply %5, %13 : tensor<16x64xf32>
    %15 = stablehlo.multiply %14, %12 : tensor<16x64xf32>
    %16 = stablehlo.dot_general %15, %1, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x10xf32>) -> tensor<16x10xf32>
    %17 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<10xf32>) -> tensor<16x10xf32>
    %18 = stablehlo.add %16, %17 : tensor<16x10xf32>
    %19 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.reduce(%18 init: %19) applies stablehlo.maximum across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<16xf32>) -> tensor<16x10xf32>
    %22 = stablehlo.subtract %18, %21 : tensor<16x10xf32>
    %23 = stablehlo.exponential %22 : tensor<16x10xf32>
    %24 = stablehlo.constant dense<0.0> : tensor<f32>
    %25 = stablehlo.reduce(%23 init: %24) applies stablehlo.add across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<16xf32>) -> tensor<16x10xf32>
    %27 = stablehlo.log %26 : tensor<16x10xf32>
    %28 = stablehlo.subtract %22, %27 : tensor<16x10xf32>
    %29 = stablehlo.constant dense<-100> : tensor<16xi64>
    %30 = stablehlo.compare NE, %arg5, %29 : (tensor<16xi64>, tensor<16xi64>) -> tensor<16xi1>
    %31 = stablehlo.iota dim = 1 : tensor<16x10xi64>
    %32 = stablehlo.broadcast_in_dim %arg5, dims = [0] : (tensor<16xi64>) -> tensor<16x10xi64>
    %33 = stablehlo.compare EQ, %31, %32 : (tensor<16x10xi64>, tensor<16x10xi64>) -> tensor<16x10xi1>
    %34 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<16xi1>) -> tensor<16x10xi1>
    %35 = stablehlo.and %33, %34 : tensor<16x10xi1>
    %36 = stablehlo.constant dense<1.0> : tensor<16x10xf32>
    %37 = stablehlo.multiply %28, %36 : tensor<16x10xf32>
    %38 = stablehlo.constant dense<0.0> : tensor<16x10xf32>
    %39 = stablehlo.select %35, %37, %38 : tensor<16x10xi1>, tensor<16x10xf32>
    %40 = stablehlo.reduce(%39 init: %24) applies stablehlo.add across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %41 = stablehlo.negate %40 : tensor<16xf32>
    %42 = stablehlo.select %35, %36, %38 : tensor<16x10xi1>, tensor<16x10xf32>
    %43 = stablehlo.reduce(%42 init: %24) applies stablehlo.add across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %44 = stablehlo.reduce(%43 init: %24) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %45 = stablehlo.reduce(%41 init: %24) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %46 = stablehlo.divide %45, %44 : tensor<f32>
    %47 = stablehlo.constant dense<1.0> : tensor<f32>
    %48 = stablehlo.constant dense<1.0> : tensor<f32>
    %49 = stablehlo.constant dense<0.0> : tensor<f32>
    %50 = stablehlo.compare NE, %44, %49 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %51 = stablehlo.select %50, %44, %48 : tensor<i1>, tensor<f32>
    %52 = stablehlo.divide %47, %51 : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [] : (tensor<f32>) -> tensor<16x10xf32>
    %54 = stablehlo.multiply %53, %36 : tensor<16x10xf32>
    %55 = stablehlo.negate %54 : tensor<16x10xf32>
    %56 = stablehlo.select %35, %55, %38 : tensor<16x10xi1>, tensor<16x10xf32>
    %57 = stablehlo.reduce(%56 init: %24) applies stablehlo.add across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0] : (tensor<16xf32>) -> tensor<16x10xf32>
    %59 = stablehlo.exponential %28 : tensor<16x10xf32>
    %60 = stablehlo.multiply %59, %58 : tensor<16x10xf32>
    %61 = stablehlo.subtract %56, %60 : tensor<16x10xf32>
    %62 = stablehlo.reduce(%61 init: %24) applies stablehlo.add across dimensions = [0] : (tensor<16x10xf32>, tensor<f32>) -> tensor<10xf32>
    %63 = stablehlo.reshape %62 : (tensor<10xf32>) -> tensor<1x10xf32>
    %64 = stablehlo.reshape %63 : (tensor<1x10xf32>) -> tensor<10xf32>
    %65 = stablehlo.transpose %61, dims = [1, 0] : (tensor<16x10xf32>) -> tensor<10x16xf32>
    %66 = stablehlo.dot_general %65, %15, contracting_dims = [1] x [0] : (tensor<10x16xf32>, tensor<16x64xf32>) -> tensor<10x64xf32>
    %67 = stablehlo.transpose %66, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %68 = stablehlo.transpose %67, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %69 = stablehlo.reshape %68 : (tensor<10x64xf32>) -> tensor<640xf32>
    %70 = stablehlo.transpose %1, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %71 = stablehlo.dot_general %61, %70, contracting_dims = [1] x [0] : (tensor<16x10xf32>, tensor<10x64xf32>) -> tensor<16x64xf32>
    %72 = stablehlo.constant dense<-0.5> : tensor<f32>
    %73 = stablehlo.constant dense<0.3989422804014327> : tensor<f32>
    %74 = stablehlo.multiply %5, %5 : tensor<16x64xf32>
    %75 = stablehlo.broadcast_in_dim %72, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %76 = stablehlo.multiply %74, %75 : tensor<16x64xf32>
    %77 = stablehlo.exponential %76 : tensor<16x64xf32>
    %78 = stablehlo.broadcast_in_dim %73, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %79 = stablehlo.multiply %77, %78 : tensor<16x64xf32>
    %80 = stablehlo.multiply %5, %79 : tensor<16x64xf32>
    %81 = stablehlo.multiply %12, %13 : tensor<16x64xf32>
    %82 = stablehlo.add %81, %80 : tensor<16x64xf32>
    %83 = stablehlo.multiply %71, %82 : tensor<16x64xf32>
    %84 = stablehlo.reduce(%83 init: %24) applies stablehlo.add across dimensions = [0] : (tensor<16x64xf32>, tensor<f32>) -> tensor<64xf32>
    %85 = stablehlo.reshape %84 : (tensor<64xf32>) -> tensor<1x64xf32>
    %86 = stablehlo.reshape %85 : (tensor<1x64xf32>) -> tensor<64xf32>
    %87 = stablehlo.transpose %83, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %88 = stablehlo.dot_general %87, %arg3, contracting_dims = [1] x [0] : (tensor<64x16xf32>, tensor<16x40xf32>) -> tensor<64x40xf32>
    %89 = stablehlo.transpose %88, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %90 = stablehlo.transpose %89, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %91 = stablehlo.reshape %90 : (tensor<64x40xf32>) -> tensor<2560xf32>
    %92 = stablehlo.concatenate %91, %86, %69, %64, dim = 0 : (tensor<2560xf32>, tensor<64xf32>, tensor<640xf32>, tensor<10xf32>) -> tensor<3274xf32>
    %96 = "stablehlo.all_reduce"(%92) ({
      ^bb0(%93: tensor<f32>, %94: tensor<f32>):
      %95 = stablehlo.add %93, %94 : tensor<f32>
      stablehlo.return %95 : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3274xf32>) -> tensor<3274xf32>
    %97 = stablehlo.slice %96 [0:2560:1] : (tensor<3274xf32>) -> tensor<2560xf32>
    %98 = stablehlo.slice %96 [2560:2624:1] : (tensor<3274xf32>) -> tensor<64xf32>
    %99 = stablehlo.slice %96 [2624:3264:1] : (tensor<3274xf32>) -> tensor<640xf32>
    %100 = stablehlo.slice %96 [3264:3274:1] : (tensor<3274xf32>) -> tensor<10xf32>
    %101 = stablehlo.reshape %97 : (tensor<2560xf32>) -> tensor<64x40xf32>
    %102 = stablehlo.broadcast_in_dim %arg6, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %103 = stablehlo.multiply %101, %102 : tensor<64x40xf32>
    %104 = stablehlo.transpose %103, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %105 = stablehlo.transpose %104, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %106 = stablehlo.broadcast_in_dim %arg6, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %107 = stablehlo.multiply %98, %106 : tensor<64xf32>
    %108 = stablehlo.reshape %107 : (tensor<64xf32>) -> tensor<1x64xf32>
    %109 = stablehlo.reshape %99 : (tensor<640xf32>) -> tensor<10x64xf32>
    %110 = stablehlo.broadcast_in_dim %arg6, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %111 = stablehlo.multiply %109, %110 : tensor<10x64xf32>
    %112 = stablehlo.transpose %111, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %113 = stablehlo.transpose %112, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %114 = stablehlo.broadcast_in_dim %arg6, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %115 = stablehlo.multiply %100, %114 : tensor<10xf32>
    %116 = stablehlo.reshape %115 : (tensor<10xf32>) -> tensor<1x10xf32>
    %117 = stablehlo.transpose %105, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %118 = stablehlo.transpose %117, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %119 = stablehlo.constant dense<0.0> : tensor<64x40xf32>
    %120 = stablehlo.broadcast_in_dim %arg7, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %121 = stablehlo.multiply %119, %120 : tensor<64x40xf32>
    %122 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %123 = stablehlo.multiply %118, %122 : tensor<64x40xf32>
    %124 = stablehlo.add %121, %123 : tensor<64x40xf32>
    %125 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %126 = stablehlo.multiply %119, %125 : tensor<64x40xf32>
    %127 = stablehlo.multiply %118, %118 : tensor<64x40xf32>
    %128 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %129 = stablehlo.multiply %127, %128 : tensor<64x40xf32>
    %130 = stablehlo.add %126, %129 : tensor<64x40xf32>
    %131 = stablehlo.sqrt %130 : tensor<64x40xf32>
    %132 = stablehlo.broadcast_in_dim %arg11, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %133 = stablehlo.divide %131, %132 : tensor<64x40xf32>
    %134 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %135 = stablehlo.add %133, %134 : tensor<64x40xf32>
    %136 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %137 = stablehlo.multiply %arg1, %136 : tensor<64x40xf32>
    %138 = stablehlo.divide %124, %135 : tensor<64x40xf32>
    %139 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %140 = stablehlo.multiply %138, %139 : tensor<64x40xf32>
    %141 = stablehlo.add %137, %140 : tensor<64x40xf32>
    %142 = stablehlo.reshape %108 : (tensor<1x64xf32>) -> tensor<64xf32>
    %143 = stablehlo.constant dense<0.0> : tensor<64xf32>
    %144 = stablehlo.broadcast_in_dim %arg7, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %145 = stablehlo.multiply %143, %144 : tensor<64xf32>
    %146 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %147 = stablehlo.multiply %142, %146 : tensor<64xf32>
    %148 = stablehlo.add %145, %147 : tensor<64xf32>
    %149 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %150 = stablehlo.multiply %143, %149 : tensor<64xf32>
    %151 = stablehlo.multiply %142, %142 : tensor<64xf32>
    %152 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %153 = stablehlo.multiply %151, %152 : tensor<64xf32>
    %154 = stablehlo.add %150, %153 : tensor<64xf32>
    %155 = stablehlo.sqrt %154 : tensor<64xf32>
    %156 = stablehlo.broadcast_in_dim %arg11, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %157 = stablehlo.divide %155, %156 : tensor<64xf32>
    %158 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %159 = stablehlo.add %157, %158 : tensor<64xf32>
    %160 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %161 = stablehlo.multiply %arg2, %160 : tensor<64xf32>
    %162 = stablehlo.divide %148, %159 : tensor<64xf32>
    %163 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %164 = stablehlo.multiply %162, %163 : tensor<64xf32>
    %165 = stablehlo.add %161, %164 : tensor<64xf32>
    %166 = stablehlo.transpose %113, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %167 = stablehlo.transpose %166, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %168 = stablehlo.constant dense<0.0> : tensor<10x64xf32>
    %169 = stablehlo.broadcast_in_dim %arg7, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %170 = stablehlo.multiply %168, %169 : tensor<10x64xf32>
    %171 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %172 = stablehlo.multiply %167, %171 : tensor<10x64xf32>
    %173 = stablehlo.add %170, %172 : tensor<10x64xf32>
    %174 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %175 = stablehlo.multiply %168, %174 : tensor<10x64xf32>
    %176 = stablehlo.multiply %167, %167 : tensor<10x64xf32>
    %177 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %178 = stablehlo.multiply %176, %177 : tensor<10x64xf32>
    %179 = stablehlo.add %175, %178 : tensor<10x64xf32>
    %180 = stablehlo.sqrt %179 : tensor<10x64xf32>
    %181 = stablehlo.broadcast_in_dim %arg11, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %182 = stablehlo.divide %180, %181 : tensor<10x64xf32>
    %183 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %184 = stablehlo.add %182, %183 : tensor<10x64xf32>
    %185 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %186 = stablehlo.multiply %arg0, %185 : tensor<10x64xf32>
    %187 = stablehlo.divide %173, %184 : tensor<10x64xf32>
    %188 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %189 = stablehlo.multiply %187, %188 : tensor<10x64xf32>
    %190 = stablehlo.add %186, %189 : tensor<10x64xf32>
    %191 = stablehlo.reshape %116 : (tensor<1x10xf32>) -> tensor<10xf32>
    %192 = stablehlo.constant dense<0.0> : tensor<10xf32>
    %193 = stablehlo.broadcast_in_dim %arg7, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %194 = stablehlo.multiply %192, %193 : tensor<10xf32>
    %195 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %196 = stablehlo.multiply %191, %195 : tensor<10xf32>
    %197 = stablehlo.add %194, %196 : tensor<10xf32>
    %198 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %199 = stablehlo.multiply %192, %198 : tensor<10xf32>
    %200 = stablehlo.multiply %191, %191 : tensor<10xf32>
    %201 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %202 = stablehlo.multiply %200, %201 : tensor<10xf32>
    %203 = stablehlo.add %199, %202 : tensor<10xf32>
    %204 = stablehlo.sqrt %203 : tensor<10xf32>
    %205 = stablehlo.broadcast_in_dim %arg11, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %206 = stablehlo.divide %204, %205 : tensor<10xf32>
    %207 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %208 = stablehlo.add %206, %207 : tensor<10xf32>
    %209 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %210 = stablehlo.multiply %arg4, %209 : tensor<10xf32>
    %211 = stablehlo.divide %197, %208 : tensor<10xf32>
    %212 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %213 = stablehlo.multiply %211, %212 : tensor<10xf32>
    %214 = stablehlo.add %210, %213 : tensor<10xf32>
    return %46, %105, %108, %113, %116, %124, %130, %141, %148, %154, %165, %173, %179, %190, %197, %203, %214 : tensor<f32>, tensor<64x40xf32>, tensor<1x64xf32>, tensor<10x64xf32>, tensor<1x10xf32>, tensor<64x40xf32>, tensor<64x40xf32>, tensor<64x40xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>
  }
}
