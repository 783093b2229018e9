module @graph1 attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "130"} {
  func.func public @main(%arg0: tensor<10x64xf32> {tf.aliasing_output = 13 : i32}, %arg1: tensor<64x40xf32> {tf.aliasing_output = 7 : i32}, %arg2: tensor<64xf32> {tf.aliasing_output = 10 : i32}, %arg3: tensor<16x40xf32>, %arg4: tensor<10xf32> {tf.aliasing_output = 16 : i32}, %arg5: tensor<16xi64>, %arg6: tensor<1x10xf32> {tf.aliasing_output = 4 : i32}, %arg7: tensor<10x64xf32> {tf.aliasing_output = 3 : i32}, %arg8: tensor<1x64xf32> {tf.aliasing_output = 2 : i32}, %arg9: tensor<64x40xf32> {tf.aliasing_output = 1 : i32}, %arg10: tensor<f32>, %arg11: tensor<64x40xf32> {tf.aliasing_output = 5 : i32}, %arg12: tensor<f32>, %arg13: tensor<f32>, %arg14: tensor<64x40xf32> {tf.aliasing_output = 6 : i32}, %arg15: tensor<f32>, %arg16: tensor<f32>, %arg17: tensor<f32>, %arg18: tensor<f32>, %arg19: tensor<f32>, %arg20: tensor<f32>, %arg21: tensor<64xf32> {tf.aliasing_output = 8 : i32}, %arg22: tensor<64xf32> {tf.aliasing_output = 9 : i32}, %arg23: tensor<10x64xf32> {tf.aliasing_output = 11 : i32}, %arg24: tensor<10x64xf32> {tf.aliasing_output = 12 : i32}, %arg25: tensor<10xf32> {tf.aliasing_output = 14 : i32}, %arg26: tensor<10xf32> {tf.aliasing_output = 15 : i32}) -> (tensor<f32>, tensor<64x40xf32>, tensor<1x64xf32>, tensor<10x64xf32>, tensor<1x10xf32>, tensor<64x40xf32>, tensor<64x40xf32>, tensor<64x40xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) {
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
    %65 = stablehlo.reshape %arg6 : (tensor<1x10xf32>) -> tensor<10xf32>
    %66 = stablehlo.constant dense<0.0> : tensor<10xf32>
    %67 = stablehlo.reshape %66 : (tensor<10xf32>) -> tensor<1x10xf32>
    %68 = stablehlo.reshape %67 : (tensor<1x10xf32>) -> tensor<10xf32>
    %69 = stablehlo.add %68, %64 : tensor<10xf32>
    %70 = stablehlo.reshape %69 : (tensor<10xf32>) -> tensor<1x10xf32>
    %71 = stablehlo.reshape %70 : (tensor<1x10xf32>) -> tensor<10xf32>
    %72 = stablehlo.transpose %61, dims = [1, 0] : (tensor<16x10xf32>) -> tensor<10x16xf32>
    %73 = stablehlo.dot_general %72, %15, contracting_dims = [1] x [0] : (tensor<10x16xf32>, tensor<16x64xf32>) -> tensor<10x64xf32>
    %74 = stablehlo.transpose %73, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %75 = stablehlo.transpose %74, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %76 = stablehlo.transpose %arg7, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %77 = stablehlo.transpose %76, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %78 = stablehlo.constant dense<0.0> : tensor<10x64xf32>
    %79 = stablehlo.transpose %78, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %80 = stablehlo.transpose %79, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %81 = stablehlo.transpose %80, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %82 = stablehlo.transpose %81, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %83 = stablehlo.add %82, %75 : tensor<10x64xf32>
    %84 = stablehlo.transpose %83, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %85 = stablehlo.transpose %84, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %86 = stablehlo.transpose %85, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %87 = stablehlo.transpose %86, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %88 = stablehlo.reshape %87 : (tensor<10x64xf32>) -> tensor<640xf32>
    %89 = stablehlo.transpose %1, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %90 = stablehlo.dot_general %61, %89, contracting_dims = [1] x [0] : (tensor<16x10xf32>, tensor<10x64xf32>) -> tensor<16x64xf32>
    %91 = stablehlo.constant dense<-0.5> : tensor<f32>
    %92 = stablehlo.constant dense<0.3989422804014327> : tensor<f32>
    %93 = stablehlo.multiply %5, %5 : tensor<16x64xf32>
    %94 = stablehlo.broadcast_in_dim %91, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %95 = stablehlo.multiply %93, %94 : tensor<16x64xf32>
    %96 = stablehlo.exponential %95 : tensor<16x64xf32>
    %97 = stablehlo.broadcast_in_dim %92, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %98 = stablehlo.multiply %96, %97 : tensor<16x64xf32>
    %99 = stablehlo.multiply %5, %98 : tensor<16x64xf32>
    %100 = stablehlo.multiply %12, %13 : tensor<16x64xf32>
    %101 = stablehlo.add %100, %99 : tensor<16x64xf32>
    %102 = stablehlo.multiply %90, %101 : tensor<16x64xf32>
    %103 = stablehlo.reduce(%102 init: %24) applies stablehlo.add across dimensions = [0] : (tensor<16x64xf32>, tensor<f32>) -> tensor<64xf32>
    %104 = stablehlo.reshape %103 : (tensor<64xf32>) -> tensor<1x64xf32>
    %105 = stablehlo.reshape %104 : (tensor<1x64xf32>) -> tensor<64xf32>
    %106 = stablehlo.reshape %arg8 : (tensor<1x64xf32>) -> tensor<64xf32>
    %107 = stablehlo.constant dense<0.0> : tensor<64xf32>
    %108 = stablehlo.reshape %107 : (tensor<64xf32>) -> tensor<1x64xf32>
    %109 = stablehlo.reshape %108 : (tensor<1x64xf32>) -> tensor<64xf32>
    %110 = stablehlo.add %109, %105 : tensor<64xf32>
    %111 = stablehlo.reshape %110 : (tensor<64xf32>) -> tensor<1x64xf32>
    %112 = stablehlo.reshape %111 : (tensor<1x64xf32>) -> tensor<64xf32>
    %113 = stablehlo.transpose %102, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %114 = stablehlo.dot_general %113, %arg3, contracting_dims = [1] x [0] : (tensor<64x16xf32>, tensor<16x40xf32>) -> tensor<64x40xf32>
    %115 = stablehlo.transpose %114, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %116 = stablehlo.transpose %115, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %117 = stablehlo.transpose %arg9, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %118 = stablehlo.transpose %117, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %119 = stablehlo.constant dense<0.0> : tensor<64x40xf32>
    %120 = stablehlo.transpose %119, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %121 = stablehlo.transpose %120, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %122 = stablehlo.transpose %121, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %123 = stablehlo.transpose %122, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %124 = stablehlo.add %123, %116 : tensor<64x40xf32>
    %125 = stablehlo.transpose %124, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %126 = stablehlo.transpose %125, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %127 = stablehlo.transpose %126, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %128 = stablehlo.transpose %127, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %129 = stablehlo.reshape %128 : (tensor<64x40xf32>) -> tensor<2560xf32>
    %130 = stablehlo.concatenate %129, %112, %88, %71, dim = 0 : (tensor<2560xf32>, tensor<64xf32>, tensor<640xf32>, tensor<10xf32>) -> tensor<3274xf32>
    %134 = "stablehlo.all_reduce"(%130) ({
      ^bb0(%131: tensor<f32>, %132: tensor<f32>):
      %133 = stablehlo.add %131, %132 : tensor<f32>
      stablehlo.return %133 : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3274xf32>) -> tensor<3274xf32>
    %135 = stablehlo.slice %134 [0:2560:1] : (tensor<3274xf32>) -> tensor<2560xf32>
    %136 = stablehlo.slice %134 [2560:2624:1] : (tensor<3274xf32>) -> tensor<64xf32>
    %137 = stablehlo.slice %134 [2624:3264:1] : (tensor<3274xf32>) -> tensor<640xf32>
    %138 = stablehlo.slice %134 [3264:3274:1] : (tensor<3274xf32>) -> tensor<10xf32>
    %139 = stablehlo.reshape %135 : (tensor<2560xf32>) -> tensor<64x40xf32>
    %140 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %141 = stablehlo.multiply %139, %140 : tensor<64x40xf32>
    %142 = stablehlo.transpose %141, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %143 = stablehlo.transpose %142, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %144 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %145 = stablehlo.multiply %136, %144 : tensor<64xf32>
    %146 = stablehlo.reshape %145 : (tensor<64xf32>) -> tensor<1x64xf32>
    %147 = stablehlo.reshape %137 : (tensor<640xf32>) -> tensor<10x64xf32>
    %148 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %149 = stablehlo.multiply %147, %148 : tensor<10x64xf32>
    %150 = stablehlo.transpose %149, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %151 = stablehlo.transpose %150, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %152 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %153 = stablehlo.multiply %138, %152 : tensor<10xf32>
    %154 = stablehlo.reshape %153 : (tensor<10xf32>) -> tensor<1x10xf32>
    %155 = stablehlo.transpose %143, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %156 = stablehlo.transpose %155, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %157 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %158 = stablehlo.multiply %arg11, %157 : tensor<64x40xf32>
    %159 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %160 = stablehlo.multiply %156, %159 : tensor<64x40xf32>
    %161 = stablehlo.add %158, %160 : tensor<64x40xf32>
    %162 = stablehlo.broadcast_in_dim %arg15, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %163 = stablehlo.multiply %arg14, %162 : tensor<64x40xf32>
    %164 = stablehlo.multiply %156, %156 : tensor<64x40xf32>
    %165 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %166 = stablehlo.multiply %164, %165 : tensor<64x40xf32>
    %167 = stablehlo.add %163, %166 : tensor<64x40xf32>
    %168 = stablehlo.sqrt %167 : tensor<64x40xf32>
    %169 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %170 = stablehlo.divide %168, %169 : tensor<64x40xf32>
    %171 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %172 = stablehlo.add %170, %171 : tensor<64x40xf32>
    %173 = stablehlo.broadcast_in_dim %arg19, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %174 = stablehlo.multiply %arg1, %173 : tensor<64x40xf32>
    %175 = stablehlo.divide %161, %172 : tensor<64x40xf32>
    %176 = stablehlo.broadcast_in_dim %arg20, dims = [] : (tensor<f32>) -> tensor<64x40xf32>
    %177 = stablehlo.multiply %175, %176 : tensor<64x40xf32>
    %178 = stablehlo.add %174, %177 : tensor<64x40xf32>
    %179 = stablehlo.reshape %146 : (tensor<1x64xf32>) -> tensor<64xf32>
    %180 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %181 = stablehlo.multiply %arg21, %180 : tensor<64xf32>
    %182 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %183 = stablehlo.multiply %179, %182 : tensor<64xf32>
    %184 = stablehlo.add %181, %183 : tensor<64xf32>
    %185 = stablehlo.broadcast_in_dim %arg15, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %186 = stablehlo.multiply %arg22, %185 : tensor<64xf32>
    %187 = stablehlo.multiply %179, %179 : tensor<64xf32>
    %188 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %189 = stablehlo.multiply %187, %188 : tensor<64xf32>
    %190 = stablehlo.add %186, %189 : tensor<64xf32>
    %191 = stablehlo.sqrt %190 : tensor<64xf32>
    %192 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %193 = stablehlo.divide %191, %192 : tensor<64xf32>
    %194 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %195 = stablehlo.add %193, %194 : tensor<64xf32>
    %196 = stablehlo.broadcast_in_dim %arg19, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %197 = stablehlo.multiply %arg2, %196 : tensor<64xf32>
    %198 = stablehlo.divide %184, %195 : tensor<64xf32>
    %199 = stablehlo.broadcast_in_dim %arg20, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %200 = stablehlo.multiply %198, %199 : tensor<64xf32>
    %201 = stablehlo.add %197, %200 : tensor<64xf32>
    %202 = stablehlo.transpose %151, dims = [1, 0] : (tensor<10x64xf32>) -> tensor<64x10xf32>
    %203 = stablehlo.transpose %202, dims = [1, 0] : (tensor<64x10xf32>) -> tensor<10x64xf32>
    %204 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %205 = stablehlo.multiply %arg23, %204 : tensor<10x64xf32>
    %206 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %207 = stablehlo.multiply %203, %206 : tensor<10x64xf32>
    %208 = stablehlo.add %205, %207 : tensor<10x64xf32>
    %209 = stablehlo.broadcast_in_dim %arg15, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %210 = stablehlo.multiply %arg24, %209 : tensor<10x64xf32>
    %211 = stablehlo.multiply %203, %203 : tensor<10x64xf32>
    %212 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %213 = stablehlo.multiply %211, %212 : tensor<10x64xf32>
    %214 = stablehlo.add %210, %213 : tensor<10x64xf32>
    %215 = stablehlo.sqrt %214 : tensor<10x64xf32>
    %216 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %217 = stablehlo.divide %215, %216 : tensor<10x64xf32>
    %218 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %219 = stablehlo.add %217, %218 : tensor<10x64xf32>
    %220 = stablehlo.broadcast_in_dim %arg19, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %221 = stablehlo.multiply %arg0, %220 : tensor<10x64xf32>
    %222 = stablehlo.divide %208, %219 : tensor<10x64xf32>
    %223 = stablehlo.broadcast_in_dim %arg20, dims = [] : (tensor<f32>) -> tensor<10x64xf32>
    %224 = stablehlo.multiply %222, %223 : tensor<10x64xf32>
    %225 = stablehlo.add %221, %224 : tensor<10x64xf32>
    %226 = stablehlo.reshape %154 : (tensor<1x10xf32>) -> tensor<10xf32>
    %227 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %228 = stablehlo.multiply %arg25, %227 : tensor<10xf32>
    %229 = stablehlo.broadcast_in_dim %arg13, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %230 = stablehlo.multiply %226, %229 : tensor<10xf32>
    %231 = stablehlo.add %228, %230 : tensor<10xf32>
    %232 = stablehlo.broadcast_in_dim %arg15, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %233 = stablehlo.multiply %arg26, %232 : tensor<10xf32>
    %234 = stablehlo.multiply %226, %226 : tensor<10xf32>
    %235 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %236 = stablehlo.multiply %234, %235 : tensor<10xf32>
    %237 = stablehlo.add %233, %236 : tensor<10xf32>
    %238 = stablehlo.sqrt %237 : tensor<10xf32>
    %239 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %240 = stablehlo.divide %238, %239 : tensor<10xf32>
    %241 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %242 = stablehlo.add %240, %241 : tensor<10xf32>
    %243 = stablehlo.broadcast_in_dim %arg19, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %244 = stablehlo.multiply %arg4, %243 : tensor<10xf32>
    %245 = stablehlo.divide %231, %242 : tensor<10xf32>
    %246 = stablehlo.broadcast_in_dim %arg20, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %247 = stablehlo.multiply %245, %246 : tensor<10xf32>
    %248 = stablehlo.add %244, %247 : tensor<10xf32>
    return %46, %143, %146, %151, %154, %161, %167, %178, %184, %190, %201, %208, %214, %225, %231, %237, %248 : tensor<f32>, tensor<64x40xf32>, tensor<1x64xf32>, tensor<10x64xf32>, tensor<1x10xf32>, tensor<64x40xf32>, tensor<64x40xf32>, tensor<64x40xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>
  }
}
