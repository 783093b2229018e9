module @graph0 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "52"} {
  func.func public @main(%arg0: tensor<5x16xf32> {tf.aliasing_output = 16 : i32}, %arg1: tensor<16x20xf32> {tf.aliasing_output = 8 : i32}, %arg2: tensor<16xf32> {tf.aliasing_output = 10 : i32}, %arg3: tensor<8x20xf32>, %arg4: tensor<16xf32> {tf.aliasing_output = 12 : i32}, %arg5: tensor<16xf32> {tf.aliasing_output = 14 : i32}, %arg6: tensor<5xf32> {tf.aliasing_output = 18 : i32}, %arg7: tensor<8xi64>, %arg8: tensor<f32>, %arg9: tensor<f32>, %arg10: tensor<f32>) -> (tensor<f32>, tensor<5x16xf32>, tensor<1x5xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x20xf32>, tensor<1x16xf32>, tensor<16x20xf32>, tensor<16x20xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5x16xf32>, tensor<5x16xf32>, tensor<5xf32>, tensor<5xf32>) {
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
    %132 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %133 = stablehlo.multiply %arg1, %132 : tensor<16x20xf32>
    %134 = stablehlo.add %131, %133 : tensor<16x20xf32>
    %135 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %136 = stablehlo.multiply %134, %135 : tensor<16x20xf32>
    %137 = stablehlo.add %134, %136 : tensor<16x20xf32>
    %138 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
    %139 = stablehlo.multiply %137, %138 : tensor<16x20xf32>
    %140 = stablehlo.add %arg1, %139 : tensor<16x20xf32>
    %141 = stablehlo.reshape %129 : (tensor<1x16xf32>) -> tensor<16xf32>
    %142 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %143 = stablehlo.multiply %arg2, %142 : tensor<16xf32>
    %144 = stablehlo.add %141, %143 : tensor<16xf32>
    %145 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %146 = stablehlo.multiply %144, %145 : tensor<16xf32>
    %147 = stablehlo.add %144, %146 : tensor<16xf32>
    %148 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %149 = stablehlo.multiply %147, %148 : tensor<16xf32>
    %150 = stablehlo.add %arg2, %149 : tensor<16xf32>
    %151 = stablehlo.multiply %arg4, %142 : tensor<16xf32>
    %152 = stablehlo.add %112, %151 : tensor<16xf32>
    %153 = stablehlo.multiply %152, %145 : tensor<16xf32>
    %154 = stablehlo.add %152, %153 : tensor<16xf32>
    %155 = stablehlo.multiply %154, %148 : tensor<16xf32>
    %156 = stablehlo.add %arg4, %155 : tensor<16xf32>
    %157 = stablehlo.multiply %arg5, %142 : tensor<16xf32>
    %158 = stablehlo.add %113, %157 : tensor<16xf32>
    %159 = stablehlo.multiply %158, %145 : tensor<16xf32>
    %160 = stablehlo.add %158, %159 : tensor<16xf32>
    %161 = stablehlo.multiply %160, %148 : tensor<16xf32>
    %162 = stablehlo.add %arg5, %161 : tensor<16xf32>
    %163 = stablehlo.transpose %87, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
    %164 = stablehlo.transpose %163, dims = [1, 0] : (tensor<16x5xf32>) -> tensor<5x16xf32>
    %165 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %166 = stablehlo.multiply %arg0, %165 : tensor<5x16xf32>
    %167 = stablehlo.add %164, %166 : tensor<5x16xf32>
    %168 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %169 = stablehlo.multiply %167, %168 : tensor<5x16xf32>
    %170 = stablehlo.add %167, %169 : tensor<5x16xf32>
    %171 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<5x16xf32>
    %172 = stablehlo.multiply %170, %171 : tensor<5x16xf32>
    %173 = stablehlo.add %arg0, %172 : tensor<5x16xf32>
    %174 = stablehlo.reshape %89 : (tensor<1x5xf32>) -> tensor<5xf32>
    %175 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %176 = stablehlo.multiply %arg6, %175 : tensor<5xf32>
    %177 = stablehlo.add %174, %176 : tensor<5xf32>
    %178 = stablehlo.broadcast_in_dim %arg9, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %179 = stablehlo.multiply %177, %178 : tensor<5xf32>
    %180 = stablehlo.add %177, %179 : tensor<5xf32>
    %181 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %182 = stablehlo.multiply %180, %181 : tensor<5xf32>
    %183 = stablehlo.add %arg6, %182 : tensor<5xf32>
    return %70, %87, %89, %112, %113, %127, %129, %134, %140, %144, %150, %152, %156, %158, %162, %167, %173, %177, %183 : tensor<f32>, tensor<5x16xf32>, tensor<1x5xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x20xf32>, tensor<1x16xf32>, tensor<16x20xf32>, tensor<16x20xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5x16xf32>, tensor<5x16xf32>, tensor<5xf32>, tensor<5xf32>
  }
}
