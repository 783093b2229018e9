module @graph1 attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32, trnsim.traced_ops = "727"} {
  func.func public @main(%arg0: tensor<30x16xf32> {tf.aliasing_output = 33 : i32}, %arg1: tensor<7x3x16xf32>, %arg2: tensor<f32>, %arg3: tensor<16x32xf32> {tf.aliasing_output = 93 : i32}, %arg4: tensor<7x3x32xf32>, %arg5: tensor<32x16xf32> {tf.aliasing_output = 87 : i32}, %arg6: tensor<7x3x16xf32>, %arg7: tensor<16x16xf32> {tf.aliasing_output = 81 : i32}, %arg8: tensor<48x16xf32> {tf.aliasing_output = 75 : i32}, %arg9: tensor<7x3x16xf32>, %arg10: tensor<16x32xf32> {tf.aliasing_output = 57 : i32}, %arg11: tensor<7x3x32xf32>, %arg12: tensor<32x16xf32> {tf.aliasing_output = 51 : i32}, %arg13: tensor<7x3x16xf32>, %arg14: tensor<16x16xf32> {tf.aliasing_output = 45 : i32}, %arg15: tensor<48x16xf32> {tf.aliasing_output = 39 : i32}, %arg16: tensor<7x3x16xf32>, %arg17: tensor<30x16xf32> {tf.aliasing_output = 30 : i32}, %arg18: tensor<7x3xi64>, %arg19: tensor<48xf32> {tf.aliasing_output = 42 : i32}, %arg20: tensor<6x7x7xf32>, %arg21: tensor<f32>, %arg22: tensor<16xf32> {tf.aliasing_output = 48 : i32}, %arg23: tensor<16xf32> {tf.aliasing_output = 63 : i32}, %arg24: tensor<16xf32> {tf.aliasing_output = 66 : i32}, %arg25: tensor<32xf32> {tf.aliasing_output = 54 : i32}, %arg26: tensor<16xf32> {tf.aliasing_output = 60 : i32}, %arg27: tensor<16xf32> {tf.aliasing_output = 69 : i32}, %arg28: tensor<16xf32> {tf.aliasing_output = 72 : i32}, %arg29: tensor<48xf32> {tf.aliasing_output = 78 : i32}, %arg30: tensor<6x7x7xf32>, %arg31: tensor<16xf32> {tf.aliasing_output = 84 : i32}, %arg32: tensor<16xf32> {tf.aliasing_output = 99 : i32}, %arg33: tensor<16xf32> {tf.aliasing_output = 102 : i32}, %arg34: tensor<32xf32> {tf.aliasing_output = 90 : i32}, %arg35: tensor<16xf32> {tf.aliasing_output = 96 : i32}, %arg36: tensor<16xf32> {tf.aliasing_output = 105 : i32}, %arg37: tensor<16xf32> {tf.aliasing_output = 108 : i32}, %arg38: tensor<30xf32> {tf.aliasing_output = 36 : i32}, %arg39: tensor<21xi64>, %arg40: tensor<1x30xf32> {tf.aliasing_output = 1 : i32}, %arg41: tensor<30x16xf32> {tf.aliasing_output = 2 : i32}, %arg42: tensor<16xf32> {tf.aliasing_output = 3 : i32}, %arg43: tensor<16xf32> {tf.aliasing_output = 4 : i32}, %arg44: tensor<1x16xf32> {tf.aliasing_output = 5 : i32}, %arg45: tensor<16x32xf32> {tf.aliasing_output = 6 : i32}, %arg46: tensor<1x32xf32> {tf.aliasing_output = 7 : i32}, %arg47: tensor<32x16xf32> {tf.aliasing_output = 8 : i32}, %arg48: tensor<16xf32> {tf.aliasing_output = 9 : i32}, %arg49: tensor<16xf32> {tf.aliasing_output = 10 : i32}, %arg50: tensor<1x16xf32> {tf.aliasing_output = 11 : i32}, %arg51: tensor<16x16xf32> {tf.aliasing_output = 12 : i32}, %arg52: tensor<1x48xf32> {tf.aliasing_output = 13 : i32}, %arg53: tensor<48x16xf32> {tf.aliasing_output = 14 : i32}, %arg54: tensor<16xf32> {tf.aliasing_output = 15 : i32}, %arg55: tensor<16xf32> {tf.aliasing_output = 16 : i32}, %arg56: tensor<1x16xf32> {tf.aliasing_output = 17 : i32}, %arg57: tensor<16x32xf32> {tf.aliasing_output = 18 : i32}, %arg58: tensor<1x32xf32> {tf.aliasing_output = 19 : i32}, %arg59: tensor<32x16xf32> {tf.aliasing_output = 20 : i32}, %arg60: tensor<16xf32> {tf.aliasing_output = 21 : i32}, %arg61: tensor<16xf32> {tf.aliasing_output = 22 : i32}, %arg62: tensor<1x16xf32> {tf.aliasing_output = 23 : i32}, %arg63: tensor<16x16xf32> {tf.aliasing_output = 24 : i32}, %arg64: tensor<1x48xf32> {tf.aliasing_output = 25 : i32}, %arg65: tensor<48x16xf32> {tf.aliasing_output = 26 : i32}, %arg66: tensor<30x16xf32> {tf.aliasing_output = 27 : i32}, %arg67: tensor<30x16xf32> {tf.aliasing_output = 28 : i32}, %arg68: tensor<f32>, %arg69: tensor<30x16xf32> {tf.aliasing_output = 29 : i32}, %arg70: tensor<f32>, %arg71: tensor<f32>, %arg72: tensor<f32>, %arg73: tensor<f32>, %arg74: tensor<f32>, %arg75: tensor<f32>, %arg76: tensor<30x16xf32> {tf.aliasing_output = 31 : i32}, %arg77: tensor<30x16xf32> {tf.aliasing_output = 32 : i32}, %arg78: tensor<30xf32> {tf.aliasing_output = 34 : i32}, %arg79: tensor<30xf32> {tf.aliasing_output = 35 : i32}, %arg80: tensor<48x16xf32> {tf.aliasing_output = 37 : i32}, %arg81: tensor<48x16xf32> {tf.aliasing_output = 38 : i32}, %arg82: tensor<48xf32> {tf.aliasing_output = 40 : i32}, %arg83: tensor<48xf32> {tf.aliasing_output = 41 : i32}, %arg84: tensor<16x16xf32> {tf.aliasing_output = 43 : i32}, %arg85: tensor<16x16xf32> {tf.aliasing_output = 44 : i32}, %arg86: tensor<16xf32> {tf.aliasing_output = 46 : i32}, %arg87: tensor<16xf32> {tf.aliasing_output = 47 : i32}, %arg88: tensor<32x16xf32> {tf.aliasing_output = 49 : i32}, %arg89: tensor<32x16xf32> {tf.aliasing_output = 50 : i32}, %arg90: tensor<32xf32> {tf.aliasing_output = 52 : i32}, %arg91: tensor<32xf32> {tf.aliasing_output = 53 : i32}, %arg92: tensor<16x32xf32> {tf.aliasing_output = 55 : i32}, %arg93: tensor<16x32xf32> {tf.aliasing_output = 56 : i32}, %arg94: tensor<16xf32> {tf.aliasing_output = 58 : i32}, %arg95: tensor<16xf32> {tf.aliasing_output = 59 : i32}, %arg96: tensor<16xf32> {tf.aliasing_output = 61 : i32}, %arg97: tensor<16xf32> {tf.aliasing_output = 62 : i32}, %arg98: tensor<16xf32> {tf.aliasing_output = 64 : i32}, %arg99: tensor<16xf32> {tf.aliasing_output = 65 : i32}, %arg100: tensor<16xf32> {tf.aliasing_output = 67 : i32}, %arg101: tensor<16xf32> {tf.aliasing_output = 68 : i32}, %arg102: tensor<16xf32> {tf.aliasing_output = 70 : i32}, %arg103: tensor<16xf32> {tf.aliasing_output = 71 : i32}, %arg104: tensor<48x16xf32> {tf.aliasing_output = 73 : i32}, %arg105: tensor<48x16xf32> {tf.aliasing_output = 74 : i32}, %arg106: tensor<48xf32> {tf.aliasing_output = 76 : i32}, %arg107: tensor<48xf32> {tf.aliasing_output = 77 : i32}, %arg108: tensor<16x16xf32> {tf.aliasing_output = 79 : i32}, %arg109: tensor<16x16xf32> {tf.aliasing_output = 80 : i32}, %arg110: tensor<16xf32> {tf.aliasing_output = 82 : i32}, %arg111: tensor<16xf32> {tf.aliasing_output = 83 : i32}, %arg112: tensor<32x16xf32> {tf.aliasing_output = 85 : i32}, %arg113: tensor<32x16xf32> {tf.aliasing_output = 86 : i32}, %arg114: tensor<32xf32> {tf.aliasing_output = 88 : i32}, %arg115: tensor<32xf32> {tf.aliasing_output = 89 : i32}, %arg116: tensor<16x32xf32> {tf.aliasing_output = 91 : i32}, %arg117: tensor<16x32xf32> {tf.aliasing_output = 92 : i32}, %arg118: tensor<16xf32> {tf.aliasing_output = 94 : i32}, %arg119: tensor<16xf32> {tf.aliasing_output = 95 : i32}, %arg120: tensor<16xf32> {tf.aliasing_output = 97 : i32}, %arg121: tensor<16xf32> {tf.aliasing_output = 98 : i32}, %arg122: tensor<16xf32> {tf.aliasing_output = 100 : i32}, %arg123: tensor<16xf32> {tf.aliasing_output = 101 : i32}, %arg124: tensor<16xf32> {tf.aliasing_output = 103 : i32}, %arg125: tensor<16xf32> {tf.aliasing_output = 104 : i32}, %arg126: tensor<16xf32> {tf.aliasing_output = 106 : i32}, %arg127: tensor<16xf32> {tf.aliasing_output = 107 : i32}) -> (tensor<f32>, tensor<1x30xf32>, tensor<30x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<1x16xf32>, tensor<16x32xf32>, tensor<1x32xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<1x16xf32>, tensor<16x16xf32>, tensor<1x48xf32>, tensor<48x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<1x16xf32>, tensor<16x32xf32>, tensor<1x32xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<1x16xf32>, tensor<16x16xf32>, tensor<1x48xf32>, tensor<48x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30xf32>, tensor<30xf32>, tensor<30xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
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
    %262 = stablehlo.reduce(%261 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x30xf32>, tensor<f32>) -> tensor<30xf32>
    %263 = stablehlo.reshape %262 : (tensor<30xf32>) -> tensor<1x30xf32>
    %264 = stablehlo.reshape %263 : (tensor<1x30xf32>) -> tensor<30xf32>
    %265 = stablehlo.reshape %arg40 : (tensor<1x30xf32>) -> tensor<30xf32>
    %266 = stablehlo.constant dense<0.0> : tensor<30xf32>
    %267 = stablehlo.reshape %266 : (tensor<30xf32>) -> tensor<1x30xf32>
    %268 = stablehlo.reshape %267 : (tensor<1x30xf32>) -> tensor<30xf32>
    %269 = stablehlo.add %268, %264 : tensor<30xf32>
    %270 = stablehlo.reshape %269 : (tensor<30xf32>) -> tensor<1x30xf32>
    %271 = stablehlo.transpose %261, dims = [1, 0] : (tensor<21x30xf32>) -> tensor<30x21xf32>
    %272 = stablehlo.dot_general %271, %213, contracting_dims = [1] x [0] : (tensor<30x21xf32>, tensor<21x16xf32>) -> tensor<30x16xf32>
    %273 = stablehlo.transpose %272, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %274 = stablehlo.transpose %273, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %275 = stablehlo.transpose %arg41, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %276 = stablehlo.transpose %275, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %277 = stablehlo.constant dense<0.0> : tensor<30x16xf32>
    %278 = stablehlo.transpose %277, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %279 = stablehlo.transpose %278, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %280 = stablehlo.transpose %279, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %281 = stablehlo.transpose %280, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %282 = stablehlo.add %281, %274 : tensor<30x16xf32>
    %283 = stablehlo.transpose %282, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %284 = stablehlo.transpose %283, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %285 = stablehlo.transpose %1, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %286 = stablehlo.dot_general %261, %285, contracting_dims = [1] x [0] : (tensor<21x30xf32>, tensor<30x16xf32>) -> tensor<21x16xf32>
    %287 = stablehlo.reshape %286 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %288 = stablehlo.constant dense<16> : tensor<i64>
    %289 = stablehlo.multiply %287, %209 : tensor<7x3x16xf32>
    %290 = stablehlo.multiply %289, %208 : tensor<7x3x16xf32>
    %291 = stablehlo.reduce(%290 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %292 = stablehlo.reshape %291 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %293 = stablehlo.broadcast_in_dim %292, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %294 = stablehlo.multiply %208, %293 : tensor<7x3x16xf32>
    %295 = stablehlo.reduce(%289 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %296 = stablehlo.reshape %295 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %297 = stablehlo.convert %288 : (tensor<i64>) -> tensor<f32>
    %298 = stablehlo.broadcast_in_dim %297, dims = [] : (tensor<f32>) -> tensor<7x3x16xf32>
    %299 = stablehlo.multiply %289, %298 : tensor<7x3x16xf32>
    %300 = stablehlo.broadcast_in_dim %296, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %301 = stablehlo.subtract %299, %300 : tensor<7x3x16xf32>
    %302 = stablehlo.subtract %301, %294 : tensor<7x3x16xf32>
    %303 = stablehlo.broadcast_in_dim %297, dims = [] : (tensor<f32>) -> tensor<7x3x1xf32>
    %304 = stablehlo.divide %204, %303 : tensor<7x3x1xf32>
    %305 = stablehlo.broadcast_in_dim %304, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %306 = stablehlo.multiply %305, %302 : tensor<7x3x16xf32>
    %307 = stablehlo.multiply %287, %208 : tensor<7x3x16xf32>
    %308 = stablehlo.reduce(%307 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %309 = stablehlo.reduce(%287 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %310 = stablehlo.constant dense<0.0> : tensor<16xf32>
    %311 = stablehlo.add %310, %308 : tensor<16xf32>
    %312 = stablehlo.add %310, %309 : tensor<16xf32>
    %313 = stablehlo.multiply %306, %3 : tensor<7x3x16xf32>
    %314 = stablehlo.reshape %313 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %315 = stablehlo.reduce(%314 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x16xf32>, tensor<f32>) -> tensor<16xf32>
    %316 = stablehlo.reshape %315 : (tensor<16xf32>) -> tensor<1x16xf32>
    %317 = stablehlo.reshape %316 : (tensor<1x16xf32>) -> tensor<16xf32>
    %318 = stablehlo.reshape %arg44 : (tensor<1x16xf32>) -> tensor<16xf32>
    %319 = stablehlo.reshape %310 : (tensor<16xf32>) -> tensor<1x16xf32>
    %320 = stablehlo.reshape %319 : (tensor<1x16xf32>) -> tensor<16xf32>
    %321 = stablehlo.add %320, %317 : tensor<16xf32>
    %322 = stablehlo.reshape %321 : (tensor<16xf32>) -> tensor<1x16xf32>
    %323 = stablehlo.transpose %314, dims = [1, 0] : (tensor<21x16xf32>) -> tensor<16x21xf32>
    %324 = stablehlo.dot_general %323, %186, contracting_dims = [1] x [0] : (tensor<16x21xf32>, tensor<21x32xf32>) -> tensor<16x32xf32>
    %325 = stablehlo.transpose %324, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %326 = stablehlo.transpose %325, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %327 = stablehlo.transpose %arg45, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %328 = stablehlo.transpose %327, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %329 = stablehlo.constant dense<0.0> : tensor<16x32xf32>
    %330 = stablehlo.transpose %329, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %331 = stablehlo.transpose %330, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %332 = stablehlo.transpose %331, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %333 = stablehlo.transpose %332, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %334 = stablehlo.add %333, %326 : tensor<16x32xf32>
    %335 = stablehlo.transpose %334, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %336 = stablehlo.transpose %335, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %337 = stablehlo.transpose %4, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %338 = stablehlo.dot_general %314, %337, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x32xf32>) -> tensor<21x32xf32>
    %339 = stablehlo.reshape %338 : (tensor<21x32xf32>) -> tensor<7x3x32xf32>
    %340 = stablehlo.multiply %339, %6 : tensor<7x3x32xf32>
    %341 = stablehlo.compare GT, %184, %94 : (tensor<7x3x32xf32>, tensor<7x3x32xf32>) -> tensor<7x3x32xi1>
    %342 = stablehlo.select %341, %340, %94 : tensor<7x3x32xi1>, tensor<7x3x32xf32>
    %343 = stablehlo.reshape %342 : (tensor<7x3x32xf32>) -> tensor<21x32xf32>
    %344 = stablehlo.reduce(%343 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x32xf32>, tensor<f32>) -> tensor<32xf32>
    %345 = stablehlo.reshape %344 : (tensor<32xf32>) -> tensor<1x32xf32>
    %346 = stablehlo.reshape %345 : (tensor<1x32xf32>) -> tensor<32xf32>
    %347 = stablehlo.reshape %arg46 : (tensor<1x32xf32>) -> tensor<32xf32>
    %348 = stablehlo.constant dense<0.0> : tensor<32xf32>
    %349 = stablehlo.reshape %348 : (tensor<32xf32>) -> tensor<1x32xf32>
    %350 = stablehlo.reshape %349 : (tensor<1x32xf32>) -> tensor<32xf32>
    %351 = stablehlo.add %350, %346 : tensor<32xf32>
    %352 = stablehlo.reshape %351 : (tensor<32xf32>) -> tensor<1x32xf32>
    %353 = stablehlo.transpose %343, dims = [1, 0] : (tensor<21x32xf32>) -> tensor<32x21xf32>
    %354 = stablehlo.dot_general %353, %179, contracting_dims = [1] x [0] : (tensor<32x21xf32>, tensor<21x16xf32>) -> tensor<32x16xf32>
    %355 = stablehlo.transpose %354, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %356 = stablehlo.transpose %355, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %357 = stablehlo.transpose %arg47, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %358 = stablehlo.transpose %357, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %359 = stablehlo.constant dense<0.0> : tensor<32x16xf32>
    %360 = stablehlo.transpose %359, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %361 = stablehlo.transpose %360, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %362 = stablehlo.transpose %361, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %363 = stablehlo.transpose %362, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %364 = stablehlo.add %363, %356 : tensor<32x16xf32>
    %365 = stablehlo.transpose %364, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %366 = stablehlo.transpose %365, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %367 = stablehlo.transpose %7, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %368 = stablehlo.dot_general %343, %367, contracting_dims = [1] x [0] : (tensor<21x32xf32>, tensor<32x16xf32>) -> tensor<21x16xf32>
    %369 = stablehlo.reshape %368 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %370 = stablehlo.add %306, %369 : tensor<7x3x16xf32>
    %371 = stablehlo.multiply %370, %175 : tensor<7x3x16xf32>
    %372 = stablehlo.multiply %371, %174 : tensor<7x3x16xf32>
    %373 = stablehlo.reduce(%372 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %374 = stablehlo.reshape %373 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %375 = stablehlo.broadcast_in_dim %374, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %376 = stablehlo.multiply %174, %375 : tensor<7x3x16xf32>
    %377 = stablehlo.reduce(%371 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %378 = stablehlo.reshape %377 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %379 = stablehlo.multiply %371, %298 : tensor<7x3x16xf32>
    %380 = stablehlo.broadcast_in_dim %378, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %381 = stablehlo.subtract %379, %380 : tensor<7x3x16xf32>
    %382 = stablehlo.subtract %381, %376 : tensor<7x3x16xf32>
    %383 = stablehlo.divide %170, %303 : tensor<7x3x1xf32>
    %384 = stablehlo.broadcast_in_dim %383, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %385 = stablehlo.multiply %384, %382 : tensor<7x3x16xf32>
    %386 = stablehlo.multiply %370, %174 : tensor<7x3x16xf32>
    %387 = stablehlo.reduce(%386 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %388 = stablehlo.reduce(%370 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %389 = stablehlo.add %310, %387 : tensor<16xf32>
    %390 = stablehlo.add %310, %388 : tensor<16xf32>
    %391 = stablehlo.multiply %385, %8 : tensor<7x3x16xf32>
    %392 = stablehlo.reshape %391 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %393 = stablehlo.reduce(%392 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x16xf32>, tensor<f32>) -> tensor<16xf32>
    %394 = stablehlo.reshape %393 : (tensor<16xf32>) -> tensor<1x16xf32>
    %395 = stablehlo.reshape %394 : (tensor<1x16xf32>) -> tensor<16xf32>
    %396 = stablehlo.reshape %arg50 : (tensor<1x16xf32>) -> tensor<16xf32>
    %397 = stablehlo.add %320, %395 : tensor<16xf32>
    %398 = stablehlo.reshape %397 : (tensor<16xf32>) -> tensor<1x16xf32>
    %399 = stablehlo.transpose %392, dims = [1, 0] : (tensor<21x16xf32>) -> tensor<16x21xf32>
    %400 = stablehlo.dot_general %399, %152, contracting_dims = [1] x [0] : (tensor<16x21xf32>, tensor<21x16xf32>) -> tensor<16x16xf32>
    %401 = stablehlo.transpose %400, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %402 = stablehlo.transpose %401, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %403 = stablehlo.transpose %arg51, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %404 = stablehlo.transpose %403, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %405 = stablehlo.constant dense<0.0> : tensor<16x16xf32>
    %406 = stablehlo.transpose %405, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %407 = stablehlo.transpose %406, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %408 = stablehlo.transpose %407, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %409 = stablehlo.transpose %408, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %410 = stablehlo.add %409, %402 : tensor<16x16xf32>
    %411 = stablehlo.transpose %410, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %412 = stablehlo.transpose %411, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %413 = stablehlo.transpose %9, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %414 = stablehlo.dot_general %392, %413, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x16xf32>) -> tensor<21x16xf32>
    %415 = stablehlo.reshape %414 : (tensor<21x16xf32>) -> tensor<7x6x8xf32>
    %416 = stablehlo.transpose %415, dims = [1, 0, 2] : (tensor<7x6x8xf32>) -> tensor<6x7x8xf32>
    %417 = stablehlo.transpose %149, dims = [0, 2, 1] : (tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
    %418 = stablehlo.dot_general %417, %416, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x7xf32>, tensor<6x7x8xf32>) -> tensor<6x7x8xf32>
    %419 = stablehlo.transpose %418, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %420 = stablehlo.reshape %419 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %421 = stablehlo.transpose %133, dims = [0, 2, 1] : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
    %422 = stablehlo.dot_general %416, %421, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x8xf32>, tensor<6x8x7xf32>) -> tensor<6x7x7xf32>
    %423 = stablehlo.multiply %422, %134 : tensor<6x7x7xf32>
    %424 = stablehlo.multiply %423, %148 : tensor<6x7x7xf32>
    %425 = stablehlo.reduce(%424 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<6x7x7xf32>, tensor<f32>) -> tensor<6x7xf32>
    %426 = stablehlo.broadcast_in_dim %425, dims = [0, 1] : (tensor<6x7xf32>) -> tensor<6x7x7xf32>
    %427 = stablehlo.multiply %148, %426 : tensor<6x7x7xf32>
    %428 = stablehlo.subtract %424, %427 : tensor<6x7x7xf32>
    %429 = stablehlo.transpose %140, dims = [0, 2, 1] : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
    %430 = stablehlo.dot_general %429, %428, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x8x7xf32>, tensor<6x7x7xf32>) -> tensor<6x8x7xf32>
    %431 = stablehlo.transpose %430, dims = [0, 2, 1] : (tensor<6x8x7xf32>) -> tensor<6x7x8xf32>
    %432 = stablehlo.transpose %431, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %433 = stablehlo.reshape %432 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %434 = stablehlo.transpose %137, dims = [0, 2, 1] : (tensor<6x8x7xf32>) -> tensor<6x7x8xf32>
    %435 = stablehlo.dot_general %428, %434, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x7xf32>, tensor<6x7x8xf32>) -> tensor<6x7x8xf32>
    %436 = stablehlo.divide %435, %43 : tensor<6x7x8xf32>
    %437 = stablehlo.transpose %436, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %438 = stablehlo.reshape %437 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %439 = stablehlo.concatenate %438, %433, %420, dim = 2 : (tensor<7x3x16xf32>, tensor<7x3x16xf32>, tensor<7x3x16xf32>) -> tensor<7x3x48xf32>
    %440 = stablehlo.reshape %439 : (tensor<7x3x48xf32>) -> tensor<21x48xf32>
    %441 = stablehlo.reduce(%440 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x48xf32>, tensor<f32>) -> tensor<48xf32>
    %442 = stablehlo.reshape %441 : (tensor<48xf32>) -> tensor<1x48xf32>
    %443 = stablehlo.reshape %442 : (tensor<1x48xf32>) -> tensor<48xf32>
    %444 = stablehlo.reshape %arg52 : (tensor<1x48xf32>) -> tensor<48xf32>
    %445 = stablehlo.constant dense<0.0> : tensor<48xf32>
    %446 = stablehlo.reshape %445 : (tensor<48xf32>) -> tensor<1x48xf32>
    %447 = stablehlo.reshape %446 : (tensor<1x48xf32>) -> tensor<48xf32>
    %448 = stablehlo.add %447, %443 : tensor<48xf32>
    %449 = stablehlo.reshape %448 : (tensor<48xf32>) -> tensor<1x48xf32>
    %450 = stablehlo.transpose %440, dims = [1, 0] : (tensor<21x48xf32>) -> tensor<48x21xf32>
    %451 = stablehlo.dot_general %450, %124, contracting_dims = [1] x [0] : (tensor<48x21xf32>, tensor<21x16xf32>) -> tensor<48x16xf32>
    %452 = stablehlo.transpose %451, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %453 = stablehlo.transpose %452, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %454 = stablehlo.transpose %arg53, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %455 = stablehlo.transpose %454, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %456 = stablehlo.constant dense<0.0> : tensor<48x16xf32>
    %457 = stablehlo.transpose %456, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %458 = stablehlo.transpose %457, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %459 = stablehlo.transpose %458, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %460 = stablehlo.transpose %459, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %461 = stablehlo.add %460, %453 : tensor<48x16xf32>
    %462 = stablehlo.transpose %461, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %463 = stablehlo.transpose %462, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %464 = stablehlo.transpose %10, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %465 = stablehlo.dot_general %440, %464, contracting_dims = [1] x [0] : (tensor<21x48xf32>, tensor<48x16xf32>) -> tensor<21x16xf32>
    %466 = stablehlo.reshape %465 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %467 = stablehlo.add %385, %466 : tensor<7x3x16xf32>
    %468 = stablehlo.multiply %467, %120 : tensor<7x3x16xf32>
    %469 = stablehlo.multiply %468, %119 : tensor<7x3x16xf32>
    %470 = stablehlo.reduce(%469 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %471 = stablehlo.reshape %470 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %472 = stablehlo.broadcast_in_dim %471, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %473 = stablehlo.multiply %119, %472 : tensor<7x3x16xf32>
    %474 = stablehlo.reduce(%468 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %475 = stablehlo.reshape %474 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %476 = stablehlo.multiply %468, %298 : tensor<7x3x16xf32>
    %477 = stablehlo.broadcast_in_dim %475, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %478 = stablehlo.subtract %476, %477 : tensor<7x3x16xf32>
    %479 = stablehlo.subtract %478, %473 : tensor<7x3x16xf32>
    %480 = stablehlo.divide %115, %303 : tensor<7x3x1xf32>
    %481 = stablehlo.broadcast_in_dim %480, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %482 = stablehlo.multiply %481, %479 : tensor<7x3x16xf32>
    %483 = stablehlo.multiply %467, %119 : tensor<7x3x16xf32>
    %484 = stablehlo.reduce(%483 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %485 = stablehlo.reduce(%467 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %486 = stablehlo.add %310, %484 : tensor<16xf32>
    %487 = stablehlo.add %310, %485 : tensor<16xf32>
    %488 = stablehlo.multiply %482, %11 : tensor<7x3x16xf32>
    %489 = stablehlo.reshape %488 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %490 = stablehlo.reduce(%489 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x16xf32>, tensor<f32>) -> tensor<16xf32>
    %491 = stablehlo.reshape %490 : (tensor<16xf32>) -> tensor<1x16xf32>
    %492 = stablehlo.reshape %491 : (tensor<1x16xf32>) -> tensor<16xf32>
    %493 = stablehlo.reshape %arg56 : (tensor<1x16xf32>) -> tensor<16xf32>
    %494 = stablehlo.add %320, %492 : tensor<16xf32>
    %495 = stablehlo.reshape %494 : (tensor<16xf32>) -> tensor<1x16xf32>
    %496 = stablehlo.transpose %489, dims = [1, 0] : (tensor<21x16xf32>) -> tensor<16x21xf32>
    %497 = stablehlo.dot_general %496, %97, contracting_dims = [1] x [0] : (tensor<16x21xf32>, tensor<21x32xf32>) -> tensor<16x32xf32>
    %498 = stablehlo.transpose %497, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %499 = stablehlo.transpose %498, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %500 = stablehlo.transpose %arg57, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %501 = stablehlo.transpose %500, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %502 = stablehlo.add %333, %499 : tensor<16x32xf32>
    %503 = stablehlo.transpose %502, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %504 = stablehlo.transpose %503, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %505 = stablehlo.transpose %12, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %506 = stablehlo.dot_general %489, %505, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x32xf32>) -> tensor<21x32xf32>
    %507 = stablehlo.reshape %506 : (tensor<21x32xf32>) -> tensor<7x3x32xf32>
    %508 = stablehlo.multiply %507, %13 : tensor<7x3x32xf32>
    %509 = stablehlo.compare GT, %95, %94 : (tensor<7x3x32xf32>, tensor<7x3x32xf32>) -> tensor<7x3x32xi1>
    %510 = stablehlo.select %509, %508, %94 : tensor<7x3x32xi1>, tensor<7x3x32xf32>
    %511 = stablehlo.reshape %510 : (tensor<7x3x32xf32>) -> tensor<21x32xf32>
    %512 = stablehlo.reduce(%511 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x32xf32>, tensor<f32>) -> tensor<32xf32>
    %513 = stablehlo.reshape %512 : (tensor<32xf32>) -> tensor<1x32xf32>
    %514 = stablehlo.reshape %513 : (tensor<1x32xf32>) -> tensor<32xf32>
    %515 = stablehlo.reshape %arg58 : (tensor<1x32xf32>) -> tensor<32xf32>
    %516 = stablehlo.add %350, %514 : tensor<32xf32>
    %517 = stablehlo.reshape %516 : (tensor<32xf32>) -> tensor<1x32xf32>
    %518 = stablehlo.transpose %511, dims = [1, 0] : (tensor<21x32xf32>) -> tensor<32x21xf32>
    %519 = stablehlo.dot_general %518, %89, contracting_dims = [1] x [0] : (tensor<32x21xf32>, tensor<21x16xf32>) -> tensor<32x16xf32>
    %520 = stablehlo.transpose %519, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %521 = stablehlo.transpose %520, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %522 = stablehlo.transpose %arg59, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %523 = stablehlo.transpose %522, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %524 = stablehlo.add %363, %521 : tensor<32x16xf32>
    %525 = stablehlo.transpose %524, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %526 = stablehlo.transpose %525, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %527 = stablehlo.transpose %14, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %528 = stablehlo.dot_general %511, %527, contracting_dims = [1] x [0] : (tensor<21x32xf32>, tensor<32x16xf32>) -> tensor<21x16xf32>
    %529 = stablehlo.reshape %528 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %530 = stablehlo.add %482, %529 : tensor<7x3x16xf32>
    %531 = stablehlo.multiply %530, %85 : tensor<7x3x16xf32>
    %532 = stablehlo.multiply %531, %84 : tensor<7x3x16xf32>
    %533 = stablehlo.reduce(%532 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %534 = stablehlo.reshape %533 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %535 = stablehlo.broadcast_in_dim %534, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %536 = stablehlo.multiply %84, %535 : tensor<7x3x16xf32>
    %537 = stablehlo.reduce(%531 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<7x3xf32>
    %538 = stablehlo.reshape %537 : (tensor<7x3xf32>) -> tensor<7x3x1xf32>
    %539 = stablehlo.multiply %531, %298 : tensor<7x3x16xf32>
    %540 = stablehlo.broadcast_in_dim %538, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %541 = stablehlo.subtract %539, %540 : tensor<7x3x16xf32>
    %542 = stablehlo.subtract %541, %536 : tensor<7x3x16xf32>
    %543 = stablehlo.divide %80, %303 : tensor<7x3x1xf32>
    %544 = stablehlo.broadcast_in_dim %543, dims = [0, 1, 2] : (tensor<7x3x1xf32>) -> tensor<7x3x16xf32>
    %545 = stablehlo.multiply %544, %542 : tensor<7x3x16xf32>
    %546 = stablehlo.multiply %530, %84 : tensor<7x3x16xf32>
    %547 = stablehlo.reduce(%546 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %548 = stablehlo.reduce(%530 init: %51) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3x16xf32>, tensor<f32>) -> tensor<16xf32>
    %549 = stablehlo.add %310, %547 : tensor<16xf32>
    %550 = stablehlo.add %310, %548 : tensor<16xf32>
    %551 = stablehlo.multiply %545, %15 : tensor<7x3x16xf32>
    %552 = stablehlo.reshape %551 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %553 = stablehlo.reduce(%552 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x16xf32>, tensor<f32>) -> tensor<16xf32>
    %554 = stablehlo.reshape %553 : (tensor<16xf32>) -> tensor<1x16xf32>
    %555 = stablehlo.reshape %554 : (tensor<1x16xf32>) -> tensor<16xf32>
    %556 = stablehlo.reshape %arg62 : (tensor<1x16xf32>) -> tensor<16xf32>
    %557 = stablehlo.add %320, %555 : tensor<16xf32>
    %558 = stablehlo.reshape %557 : (tensor<16xf32>) -> tensor<1x16xf32>
    %559 = stablehlo.transpose %552, dims = [1, 0] : (tensor<21x16xf32>) -> tensor<16x21xf32>
    %560 = stablehlo.dot_general %559, %58, contracting_dims = [1] x [0] : (tensor<16x21xf32>, tensor<21x16xf32>) -> tensor<16x16xf32>
    %561 = stablehlo.transpose %560, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %562 = stablehlo.transpose %561, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %563 = stablehlo.transpose %arg63, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %564 = stablehlo.transpose %563, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %565 = stablehlo.add %409, %562 : tensor<16x16xf32>
    %566 = stablehlo.transpose %565, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %567 = stablehlo.transpose %566, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %568 = stablehlo.transpose %16, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %569 = stablehlo.dot_general %552, %568, contracting_dims = [1] x [0] : (tensor<21x16xf32>, tensor<16x16xf32>) -> tensor<21x16xf32>
    %570 = stablehlo.reshape %569 : (tensor<21x16xf32>) -> tensor<7x6x8xf32>
    %571 = stablehlo.transpose %570, dims = [1, 0, 2] : (tensor<7x6x8xf32>) -> tensor<6x7x8xf32>
    %572 = stablehlo.transpose %55, dims = [0, 2, 1] : (tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
    %573 = stablehlo.dot_general %572, %571, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x7xf32>, tensor<6x7x8xf32>) -> tensor<6x7x8xf32>
    %574 = stablehlo.transpose %573, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %575 = stablehlo.reshape %574 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %576 = stablehlo.transpose %35, dims = [0, 2, 1] : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
    %577 = stablehlo.dot_general %571, %576, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x8xf32>, tensor<6x8x7xf32>) -> tensor<6x7x7xf32>
    %578 = stablehlo.multiply %577, %37 : tensor<6x7x7xf32>
    %579 = stablehlo.multiply %578, %54 : tensor<6x7x7xf32>
    %580 = stablehlo.reduce(%579 init: %51) applies stablehlo.add across dimensions = [2] : (tensor<6x7x7xf32>, tensor<f32>) -> tensor<6x7xf32>
    %581 = stablehlo.broadcast_in_dim %580, dims = [0, 1] : (tensor<6x7xf32>) -> tensor<6x7x7xf32>
    %582 = stablehlo.multiply %54, %581 : tensor<6x7x7xf32>
    %583 = stablehlo.subtract %579, %582 : tensor<6x7x7xf32>
    %584 = stablehlo.transpose %44, dims = [0, 2, 1] : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
    %585 = stablehlo.dot_general %584, %583, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x8x7xf32>, tensor<6x7x7xf32>) -> tensor<6x8x7xf32>
    %586 = stablehlo.transpose %585, dims = [0, 2, 1] : (tensor<6x8x7xf32>) -> tensor<6x7x8xf32>
    %587 = stablehlo.transpose %586, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %588 = stablehlo.reshape %587 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %589 = stablehlo.transpose %40, dims = [0, 2, 1] : (tensor<6x8x7xf32>) -> tensor<6x7x8xf32>
    %590 = stablehlo.dot_general %583, %589, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x7xf32>, tensor<6x7x8xf32>) -> tensor<6x7x8xf32>
    %591 = stablehlo.divide %590, %43 : tensor<6x7x8xf32>
    %592 = stablehlo.transpose %591, dims = [1, 0, 2] : (tensor<6x7x8xf32>) -> tensor<7x6x8xf32>
    %593 = stablehlo.reshape %592 : (tensor<7x6x8xf32>) -> tensor<7x3x16xf32>
    %594 = stablehlo.concatenate %593, %588, %575, dim = 2 : (tensor<7x3x16xf32>, tensor<7x3x16xf32>, tensor<7x3x16xf32>) -> tensor<7x3x48xf32>
    %595 = stablehlo.reshape %594 : (tensor<7x3x48xf32>) -> tensor<21x48xf32>
    %596 = stablehlo.reduce(%595 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<21x48xf32>, tensor<f32>) -> tensor<48xf32>
    %597 = stablehlo.reshape %596 : (tensor<48xf32>) -> tensor<1x48xf32>
    %598 = stablehlo.reshape %597 : (tensor<1x48xf32>) -> tensor<48xf32>
    %599 = stablehlo.reshape %arg64 : (tensor<1x48xf32>) -> tensor<48xf32>
    %600 = stablehlo.add %447, %598 : tensor<48xf32>
    %601 = stablehlo.reshape %600 : (tensor<48xf32>) -> tensor<1x48xf32>
    %602 = stablehlo.transpose %595, dims = [1, 0] : (tensor<21x48xf32>) -> tensor<48x21xf32>
    %603 = stablehlo.dot_general %602, %26, contracting_dims = [1] x [0] : (tensor<48x21xf32>, tensor<21x16xf32>) -> tensor<48x16xf32>
    %604 = stablehlo.transpose %603, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %605 = stablehlo.transpose %604, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %606 = stablehlo.transpose %arg65, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %607 = stablehlo.transpose %606, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %608 = stablehlo.add %460, %605 : tensor<48x16xf32>
    %609 = stablehlo.transpose %608, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %610 = stablehlo.transpose %609, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %611 = stablehlo.transpose %17, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %612 = stablehlo.dot_general %595, %611, contracting_dims = [1] x [0] : (tensor<21x48xf32>, tensor<48x16xf32>) -> tensor<21x16xf32>
    %613 = stablehlo.reshape %612 : (tensor<21x16xf32>) -> tensor<7x3x16xf32>
    %614 = stablehlo.add %545, %613 : tensor<7x3x16xf32>
    %615 = stablehlo.multiply %614, %18 : tensor<7x3x16xf32>
    %616 = stablehlo.reshape %arg18 : (tensor<7x3xi64>) -> tensor<21x1xi64>
    %617 = stablehlo.reshape %615 : (tensor<7x3x16xf32>) -> tensor<21x16xf32>
    %621 = "stablehlo.scatter"(%277, %616, %617) ({
      ^bb0(%618: tensor<f32>, %619: tensor<f32>):
      %620 = stablehlo.add %618, %619 : tensor<f32>
      stablehlo.return %620 : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<30x16xf32>, tensor<21x1xi64>, tensor<21x16xf32>) -> tensor<30x16xf32>
    %622 = stablehlo.add %277, %621 : tensor<30x16xf32>
    %623 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %624 = stablehlo.multiply %arg67, %623 : tensor<30x16xf32>
    %625 = stablehlo.broadcast_in_dim %arg68, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %626 = stablehlo.multiply %622, %625 : tensor<30x16xf32>
    %627 = stablehlo.add %624, %626 : tensor<30x16xf32>
    %628 = stablehlo.broadcast_in_dim %arg70, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %629 = stablehlo.multiply %arg69, %628 : tensor<30x16xf32>
    %630 = stablehlo.multiply %622, %622 : tensor<30x16xf32>
    %631 = stablehlo.broadcast_in_dim %arg71, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %632 = stablehlo.multiply %630, %631 : tensor<30x16xf32>
    %633 = stablehlo.add %629, %632 : tensor<30x16xf32>
    %634 = stablehlo.sqrt %633 : tensor<30x16xf32>
    %635 = stablehlo.broadcast_in_dim %arg72, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %636 = stablehlo.divide %634, %635 : tensor<30x16xf32>
    %637 = stablehlo.broadcast_in_dim %arg73, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %638 = stablehlo.add %636, %637 : tensor<30x16xf32>
    %639 = stablehlo.broadcast_in_dim %arg74, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %640 = stablehlo.multiply %arg17, %639 : tensor<30x16xf32>
    %641 = stablehlo.divide %627, %638 : tensor<30x16xf32>
    %642 = stablehlo.broadcast_in_dim %arg75, dims = [] : (tensor<f32>) -> tensor<30x16xf32>
    %643 = stablehlo.multiply %641, %642 : tensor<30x16xf32>
    %644 = stablehlo.add %640, %643 : tensor<30x16xf32>
    %645 = stablehlo.transpose %284, dims = [1, 0] : (tensor<30x16xf32>) -> tensor<16x30xf32>
    %646 = stablehlo.transpose %645, dims = [1, 0] : (tensor<16x30xf32>) -> tensor<30x16xf32>
    %647 = stablehlo.multiply %arg76, %623 : tensor<30x16xf32>
    %648 = stablehlo.multiply %646, %625 : tensor<30x16xf32>
    %649 = stablehlo.add %647, %648 : tensor<30x16xf32>
    %650 = stablehlo.multiply %arg77, %628 : tensor<30x16xf32>
    %651 = stablehlo.multiply %646, %646 : tensor<30x16xf32>
    %652 = stablehlo.multiply %651, %631 : tensor<30x16xf32>
    %653 = stablehlo.add %650, %652 : tensor<30x16xf32>
    %654 = stablehlo.sqrt %653 : tensor<30x16xf32>
    %655 = stablehlo.divide %654, %635 : tensor<30x16xf32>
    %656 = stablehlo.add %655, %637 : tensor<30x16xf32>
    %657 = stablehlo.multiply %arg0, %639 : tensor<30x16xf32>
    %658 = stablehlo.divide %649, %656 : tensor<30x16xf32>
    %659 = stablehlo.multiply %658, %642 : tensor<30x16xf32>
    %660 = stablehlo.add %657, %659 : tensor<30x16xf32>
    %661 = stablehlo.reshape %270 : (tensor<1x30xf32>) -> tensor<30xf32>
    %662 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %663 = stablehlo.multiply %arg78, %662 : tensor<30xf32>
    %664 = stablehlo.broadcast_in_dim %arg68, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %665 = stablehlo.multiply %661, %664 : tensor<30xf32>
    %666 = stablehlo.add %663, %665 : tensor<30xf32>
    %667 = stablehlo.broadcast_in_dim %arg70, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %668 = stablehlo.multiply %arg79, %667 : tensor<30xf32>
    %669 = stablehlo.multiply %661, %661 : tensor<30xf32>
    %670 = stablehlo.broadcast_in_dim %arg71, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %671 = stablehlo.multiply %669, %670 : tensor<30xf32>
    %672 = stablehlo.add %668, %671 : tensor<30xf32>
    %673 = stablehlo.sqrt %672 : tensor<30xf32>
    %674 = stablehlo.broadcast_in_dim %arg72, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %675 = stablehlo.divide %673, %674 : tensor<30xf32>
    %676 = stablehlo.broadcast_in_dim %arg73, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %677 = stablehlo.add %675, %676 : tensor<30xf32>
    %678 = stablehlo.broadcast_in_dim %arg74, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %679 = stablehlo.multiply %arg38, %678 : tensor<30xf32>
    %680 = stablehlo.divide %666, %677 : tensor<30xf32>
    %681 = stablehlo.broadcast_in_dim %arg75, dims = [] : (tensor<f32>) -> tensor<30xf32>
    %682 = stablehlo.multiply %680, %681 : tensor<30xf32>
    %683 = stablehlo.add %679, %682 : tensor<30xf32>
    %684 = stablehlo.transpose %610, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %685 = stablehlo.transpose %684, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %686 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %687 = stablehlo.multiply %arg80, %686 : tensor<48x16xf32>
    %688 = stablehlo.broadcast_in_dim %arg68, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %689 = stablehlo.multiply %685, %688 : tensor<48x16xf32>
    %690 = stablehlo.add %687, %689 : tensor<48x16xf32>
    %691 = stablehlo.broadcast_in_dim %arg70, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %692 = stablehlo.multiply %arg81, %691 : tensor<48x16xf32>
    %693 = stablehlo.multiply %685, %685 : tensor<48x16xf32>
    %694 = stablehlo.broadcast_in_dim %arg71, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %695 = stablehlo.multiply %693, %694 : tensor<48x16xf32>
    %696 = stablehlo.add %692, %695 : tensor<48x16xf32>
    %697 = stablehlo.sqrt %696 : tensor<48x16xf32>
    %698 = stablehlo.broadcast_in_dim %arg72, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %699 = stablehlo.divide %697, %698 : tensor<48x16xf32>
    %700 = stablehlo.broadcast_in_dim %arg73, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %701 = stablehlo.add %699, %700 : tensor<48x16xf32>
    %702 = stablehlo.broadcast_in_dim %arg74, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %703 = stablehlo.multiply %arg15, %702 : tensor<48x16xf32>
    %704 = stablehlo.divide %690, %701 : tensor<48x16xf32>
    %705 = stablehlo.broadcast_in_dim %arg75, dims = [] : (tensor<f32>) -> tensor<48x16xf32>
    %706 = stablehlo.multiply %704, %705 : tensor<48x16xf32>
    %707 = stablehlo.add %703, %706 : tensor<48x16xf32>
    %708 = stablehlo.reshape %601 : (tensor<1x48xf32>) -> tensor<48xf32>
    %709 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %710 = stablehlo.multiply %arg82, %709 : tensor<48xf32>
    %711 = stablehlo.broadcast_in_dim %arg68, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %712 = stablehlo.multiply %708, %711 : tensor<48xf32>
    %713 = stablehlo.add %710, %712 : tensor<48xf32>
    %714 = stablehlo.broadcast_in_dim %arg70, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %715 = stablehlo.multiply %arg83, %714 : tensor<48xf32>
    %716 = stablehlo.multiply %708, %708 : tensor<48xf32>
    %717 = stablehlo.broadcast_in_dim %arg71, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %718 = stablehlo.multiply %716, %717 : tensor<48xf32>
    %719 = stablehlo.add %715, %718 : tensor<48xf32>
    %720 = stablehlo.sqrt %719 : tensor<48xf32>
    %721 = stablehlo.broadcast_in_dim %arg72, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %722 = stablehlo.divide %720, %721 : tensor<48xf32>
    %723 = stablehlo.broadcast_in_dim %arg73, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %724 = stablehlo.add %722, %723 : tensor<48xf32>
    %725 = stablehlo.broadcast_in_dim %arg74, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %726 = stablehlo.multiply %arg19, %725 : tensor<48xf32>
    %727 = stablehlo.divide %713, %724 : tensor<48xf32>
    %728 = stablehlo.broadcast_in_dim %arg75, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %729 = stablehlo.multiply %727, %728 : tensor<48xf32>
    %730 = stablehlo.add %726, %729 : tensor<48xf32>
    %731 = stablehlo.transpose %567, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %732 = stablehlo.transpose %731, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %733 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %734 = stablehlo.multiply %arg84, %733 : tensor<16x16xf32>
    %735 = stablehlo.broadcast_in_dim %arg68, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %736 = stablehlo.multiply %732, %735 : tensor<16x16xf32>
    %737 = stablehlo.add %734, %736 : tensor<16x16xf32>
    %738 = stablehlo.broadcast_in_dim %arg70, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %739 = stablehlo.multiply %arg85, %738 : tensor<16x16xf32>
    %740 = stablehlo.multiply %732, %732 : tensor<16x16xf32>
    %741 = stablehlo.broadcast_in_dim %arg71, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %742 = stablehlo.multiply %740, %741 : tensor<16x16xf32>
    %743 = stablehlo.add %739, %742 : tensor<16x16xf32>
    %744 = stablehlo.sqrt %743 : tensor<16x16xf32>
    %745 = stablehlo.broadcast_in_dim %arg72, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %746 = stablehlo.divide %744, %745 : tensor<16x16xf32>
    %747 = stablehlo.broadcast_in_dim %arg73, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %748 = stablehlo.add %746, %747 : tensor<16x16xf32>
    %749 = stablehlo.broadcast_in_dim %arg74, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %750 = stablehlo.multiply %arg14, %749 : tensor<16x16xf32>
    %751 = stablehlo.divide %737, %748 : tensor<16x16xf32>
    %752 = stablehlo.broadcast_in_dim %arg75, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %753 = stablehlo.multiply %751, %752 : tensor<16x16xf32>
    %754 = stablehlo.add %750, %753 : tensor<16x16xf32>
    %755 = stablehlo.reshape %558 : (tensor<1x16xf32>) -> tensor<16xf32>
    %756 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %757 = stablehlo.multiply %arg86, %756 : tensor<16xf32>
    %758 = stablehlo.broadcast_in_dim %arg68, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %759 = stablehlo.multiply %755, %758 : tensor<16xf32>
    %760 = stablehlo.add %757, %759 : tensor<16xf32>
    %761 = stablehlo.broadcast_in_dim %arg70, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %762 = stablehlo.multiply %arg87, %761 : tensor<16xf32>
    %763 = stablehlo.multiply %755, %755 : tensor<16xf32>
    %764 = stablehlo.broadcast_in_dim %arg71, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %765 = stablehlo.multiply %763, %764 : tensor<16xf32>
    %766 = stablehlo.add %762, %765 : tensor<16xf32>
    %767 = stablehlo.sqrt %766 : tensor<16xf32>
    %768 = stablehlo.broadcast_in_dim %arg72, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %769 = stablehlo.divide %767, %768 : tensor<16xf32>
    %770 = stablehlo.broadcast_in_dim %arg73, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %771 = stablehlo.add %769, %770 : tensor<16xf32>
    %772 = stablehlo.broadcast_in_dim %arg74, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %773 = stablehlo.multiply %arg22, %772 : tensor<16xf32>
    %774 = stablehlo.divide %760, %771 : tensor<16xf32>
    %775 = stablehlo.broadcast_in_dim %arg75, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %776 = stablehlo.multiply %774, %775 : tensor<16xf32>
    %777 = stablehlo.add %773, %776 : tensor<16xf32>
    %778 = stablehlo.transpose %526, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %779 = stablehlo.transpose %778, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %780 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %781 = stablehlo.multiply %arg88, %780 : tensor<32x16xf32>
    %782 = stablehlo.broadcast_in_dim %arg68, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %783 = stablehlo.multiply %779, %782 : tensor<32x16xf32>
    %784 = stablehlo.add %781, %783 : tensor<32x16xf32>
    %785 = stablehlo.broadcast_in_dim %arg70, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %786 = stablehlo.multiply %arg89, %785 : tensor<32x16xf32>
    %787 = stablehlo.multiply %779, %779 : tensor<32x16xf32>
    %788 = stablehlo.broadcast_in_dim %arg71, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %789 = stablehlo.multiply %787, %788 : tensor<32x16xf32>
    %790 = stablehlo.add %786, %789 : tensor<32x16xf32>
    %791 = stablehlo.sqrt %790 : tensor<32x16xf32>
    %792 = stablehlo.broadcast_in_dim %arg72, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %793 = stablehlo.divide %791, %792 : tensor<32x16xf32>
    %794 = stablehlo.broadcast_in_dim %arg73, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %795 = stablehlo.add %793, %794 : tensor<32x16xf32>
    %796 = stablehlo.broadcast_in_dim %arg74, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %797 = stablehlo.multiply %arg12, %796 : tensor<32x16xf32>
    %798 = stablehlo.divide %784, %795 : tensor<32x16xf32>
    %799 = stablehlo.broadcast_in_dim %arg75, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %800 = stablehlo.multiply %798, %799 : tensor<32x16xf32>
    %801 = stablehlo.add %797, %800 : tensor<32x16xf32>
    %802 = stablehlo.reshape %517 : (tensor<1x32xf32>) -> tensor<32xf32>
    %803 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %804 = stablehlo.multiply %arg90, %803 : tensor<32xf32>
    %805 = stablehlo.broadcast_in_dim %arg68, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %806 = stablehlo.multiply %802, %805 : tensor<32xf32>
    %807 = stablehlo.add %804, %806 : tensor<32xf32>
    %808 = stablehlo.broadcast_in_dim %arg70, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %809 = stablehlo.multiply %arg91, %808 : tensor<32xf32>
    %810 = stablehlo.multiply %802, %802 : tensor<32xf32>
    %811 = stablehlo.broadcast_in_dim %arg71, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %812 = stablehlo.multiply %810, %811 : tensor<32xf32>
    %813 = stablehlo.add %809, %812 : tensor<32xf32>
    %814 = stablehlo.sqrt %813 : tensor<32xf32>
    %815 = stablehlo.broadcast_in_dim %arg72, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %816 = stablehlo.divide %814, %815 : tensor<32xf32>
    %817 = stablehlo.broadcast_in_dim %arg73, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %818 = stablehlo.add %816, %817 : tensor<32xf32>
    %819 = stablehlo.broadcast_in_dim %arg74, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %820 = stablehlo.multiply %arg25, %819 : tensor<32xf32>
    %821 = stablehlo.divide %807, %818 : tensor<32xf32>
    %822 = stablehlo.broadcast_in_dim %arg75, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %823 = stablehlo.multiply %821, %822 : tensor<32xf32>
    %824 = stablehlo.add %820, %823 : tensor<32xf32>
    %825 = stablehlo.transpose %504, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %826 = stablehlo.transpose %825, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %827 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %828 = stablehlo.multiply %arg92, %827 : tensor<16x32xf32>
    %829 = stablehlo.broadcast_in_dim %arg68, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %830 = stablehlo.multiply %826, %829 : tensor<16x32xf32>
    %831 = stablehlo.add %828, %830 : tensor<16x32xf32>
    %832 = stablehlo.broadcast_in_dim %arg70, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %833 = stablehlo.multiply %arg93, %832 : tensor<16x32xf32>
    %834 = stablehlo.multiply %826, %826 : tensor<16x32xf32>
    %835 = stablehlo.broadcast_in_dim %arg71, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %836 = stablehlo.multiply %834, %835 : tensor<16x32xf32>
    %837 = stablehlo.add %833, %836 : tensor<16x32xf32>
    %838 = stablehlo.sqrt %837 : tensor<16x32xf32>
    %839 = stablehlo.broadcast_in_dim %arg72, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %840 = stablehlo.divide %838, %839 : tensor<16x32xf32>
    %841 = stablehlo.broadcast_in_dim %arg73, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %842 = stablehlo.add %840, %841 : tensor<16x32xf32>
    %843 = stablehlo.broadcast_in_dim %arg74, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %844 = stablehlo.multiply %arg10, %843 : tensor<16x32xf32>
    %845 = stablehlo.divide %831, %842 : tensor<16x32xf32>
    %846 = stablehlo.broadcast_in_dim %arg75, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %847 = stablehlo.multiply %845, %846 : tensor<16x32xf32>
    %848 = stablehlo.add %844, %847 : tensor<16x32xf32>
    %849 = stablehlo.reshape %495 : (tensor<1x16xf32>) -> tensor<16xf32>
    %850 = stablehlo.multiply %arg94, %756 : tensor<16xf32>
    %851 = stablehlo.multiply %849, %758 : tensor<16xf32>
    %852 = stablehlo.add %850, %851 : tensor<16xf32>
    %853 = stablehlo.multiply %arg95, %761 : tensor<16xf32>
    %854 = stablehlo.multiply %849, %849 : tensor<16xf32>
    %855 = stablehlo.multiply %854, %764 : tensor<16xf32>
    %856 = stablehlo.add %853, %855 : tensor<16xf32>
    %857 = stablehlo.sqrt %856 : tensor<16xf32>
    %858 = stablehlo.divide %857, %768 : tensor<16xf32>
    %859 = stablehlo.add %858, %770 : tensor<16xf32>
    %860 = stablehlo.multiply %arg26, %772 : tensor<16xf32>
    %861 = stablehlo.divide %852, %859 : tensor<16xf32>
    %862 = stablehlo.multiply %861, %775 : tensor<16xf32>
    %863 = stablehlo.add %860, %862 : tensor<16xf32>
    %864 = stablehlo.multiply %arg96, %756 : tensor<16xf32>
    %865 = stablehlo.multiply %549, %758 : tensor<16xf32>
    %866 = stablehlo.add %864, %865 : tensor<16xf32>
    %867 = stablehlo.multiply %arg97, %761 : tensor<16xf32>
    %868 = stablehlo.multiply %549, %549 : tensor<16xf32>
    %869 = stablehlo.multiply %868, %764 : tensor<16xf32>
    %870 = stablehlo.add %867, %869 : tensor<16xf32>
    %871 = stablehlo.sqrt %870 : tensor<16xf32>
    %872 = stablehlo.divide %871, %768 : tensor<16xf32>
    %873 = stablehlo.add %872, %770 : tensor<16xf32>
    %874 = stablehlo.multiply %arg23, %772 : tensor<16xf32>
    %875 = stablehlo.divide %866, %873 : tensor<16xf32>
    %876 = stablehlo.multiply %875, %775 : tensor<16xf32>
    %877 = stablehlo.add %874, %876 : tensor<16xf32>
    %878 = stablehlo.multiply %arg98, %756 : tensor<16xf32>
    %879 = stablehlo.multiply %550, %758 : tensor<16xf32>
    %880 = stablehlo.add %878, %879 : tensor<16xf32>
    %881 = stablehlo.multiply %arg99, %761 : tensor<16xf32>
    %882 = stablehlo.multiply %550, %550 : tensor<16xf32>
    %883 = stablehlo.multiply %882, %764 : tensor<16xf32>
    %884 = stablehlo.add %881, %883 : tensor<16xf32>
    %885 = stablehlo.sqrt %884 : tensor<16xf32>
    %886 = stablehlo.divide %885, %768 : tensor<16xf32>
    %887 = stablehlo.add %886, %770 : tensor<16xf32>
    %888 = stablehlo.multiply %arg24, %772 : tensor<16xf32>
    %889 = stablehlo.divide %880, %887 : tensor<16xf32>
    %890 = stablehlo.multiply %889, %775 : tensor<16xf32>
    %891 = stablehlo.add %888, %890 : tensor<16xf32>
    %892 = stablehlo.multiply %arg100, %756 : tensor<16xf32>
    %893 = stablehlo.multiply %486, %758 : tensor<16xf32>
    %894 = stablehlo.add %892, %893 : tensor<16xf32>
    %895 = stablehlo.multiply %arg101, %761 : tensor<16xf32>
    %896 = stablehlo.multiply %486, %486 : tensor<16xf32>
    %897 = stablehlo.multiply %896, %764 : tensor<16xf32>
    %898 = stablehlo.add %895, %897 : tensor<16xf32>
    %899 = stablehlo.sqrt %898 : tensor<16xf32>
    %900 = stablehlo.divide %899, %768 : tensor<16xf32>
    %901 = stablehlo.add %900, %770 : tensor<16xf32>
    %902 = stablehlo.multiply %arg27, %772 : tensor<16xf32>
    %903 = stablehlo.divide %894, %901 : tensor<16xf32>
    %904 = stablehlo.multiply %903, %775 : tensor<16xf32>
    %905 = stablehlo.add %902, %904 : tensor<16xf32>
    %906 = stablehlo.multiply %arg102, %756 : tensor<16xf32>
    %907 = stablehlo.multiply %487, %758 : tensor<16xf32>
    %908 = stablehlo.add %906, %907 : tensor<16xf32>
    %909 = stablehlo.multiply %arg103, %761 : tensor<16xf32>
    %910 = stablehlo.multiply %487, %487 : tensor<16xf32>
    %911 = stablehlo.multiply %910, %764 : tensor<16xf32>
    %912 = stablehlo.add %909, %911 : tensor<16xf32>
    %913 = stablehlo.sqrt %912 : tensor<16xf32>
    %914 = stablehlo.divide %913, %768 : tensor<16xf32>
    %915 = stablehlo.add %914, %770 : tensor<16xf32>
    %916 = stablehlo.multiply %arg28, %772 : tensor<16xf32>
    %917 = stablehlo.divide %908, %915 : tensor<16xf32>
    %918 = stablehlo.multiply %917, %775 : tensor<16xf32>
    %919 = stablehlo.add %916, %918 : tensor<16xf32>
    %920 = stablehlo.transpose %463, dims = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %921 = stablehlo.transpose %920, dims = [1, 0] : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %922 = stablehlo.multiply %arg104, %686 : tensor<48x16xf32>
    %923 = stablehlo.multiply %921, %688 : tensor<48x16xf32>
    %924 = stablehlo.add %922, %923 : tensor<48x16xf32>
    %925 = stablehlo.multiply %arg105, %691 : tensor<48x16xf32>
    %926 = stablehlo.multiply %921, %921 : tensor<48x16xf32>
    %927 = stablehlo.multiply %926, %694 : tensor<48x16xf32>
    %928 = stablehlo.add %925, %927 : tensor<48x16xf32>
    %929 = stablehlo.sqrt %928 : tensor<48x16xf32>
    %930 = stablehlo.divide %929, %698 : tensor<48x16xf32>
    %931 = stablehlo.add %930, %700 : tensor<48x16xf32>
    %932 = stablehlo.multiply %arg8, %702 : tensor<48x16xf32>
    %933 = stablehlo.divide %924, %931 : tensor<48x16xf32>
    %934 = stablehlo.multiply %933, %705 : tensor<48x16xf32>
    %935 = stablehlo.add %932, %934 : tensor<48x16xf32>
    %936 = stablehlo.reshape %449 : (tensor<1x48xf32>) -> tensor<48xf32>
    %937 = stablehlo.multiply %arg106, %709 : tensor<48xf32>
    %938 = stablehlo.multiply %936, %711 : tensor<48xf32>
    %939 = stablehlo.add %937, %938 : tensor<48xf32>
    %940 = stablehlo.multiply %arg107, %714 : tensor<48xf32>
    %941 = stablehlo.multiply %936, %936 : tensor<48xf32>
    %942 = stablehlo.multiply %941, %717 : tensor<48xf32>
    %943 = stablehlo.add %940, %942 : tensor<48xf32>
    %944 = stablehlo.sqrt %943 : tensor<48xf32>
    %945 = stablehlo.divide %944, %721 : tensor<48xf32>
    %946 = stablehlo.add %945, %723 : tensor<48xf32>
    %947 = stablehlo.multiply %arg29, %725 : tensor<48xf32>
    %948 = stablehlo.divide %939, %946 : tensor<48xf32>
    %949 = stablehlo.multiply %948, %728 : tensor<48xf32>
    %950 = stablehlo.add %947, %949 : tensor<48xf32>
    %951 = stablehlo.transpose %412, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %952 = stablehlo.transpose %951, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %953 = stablehlo.multiply %arg108, %733 : tensor<16x16xf32>
    %954 = stablehlo.multiply %952, %735 : tensor<16x16xf32>
    %955 = stablehlo.add %953, %954 : tensor<16x16xf32>
    %956 = stablehlo.multiply %arg109, %738 : tensor<16x16xf32>
    %957 = stablehlo.multiply %952, %952 : tensor<16x16xf32>
    %958 = stablehlo.multiply %957, %741 : tensor<16x16xf32>
    %959 = stablehlo.add %956, %958 : tensor<16x16xf32>
    %960 = stablehlo.sqrt %959 : tensor<16x16xf32>
    %961 = stablehlo.divide %960, %745 : tensor<16x16xf32>
    %962 = stablehlo.add %961, %747 : tensor<16x16xf32>
    %963 = stablehlo.multiply %arg7, %749 : tensor<16x16xf32>
    %964 = stablehlo.divide %955, %962 : tensor<16x16xf32>
    %965 = stablehlo.multiply %964, %752 : tensor<16x16xf32>
    %966 = stablehlo.add %963, %965 : tensor<16x16xf32>
    %967 = stablehlo.reshape %398 : (tensor<1x16xf32>) -> tensor<16xf32>
    %968 = stablehlo.multiply %arg110, %756 : tensor<16xf32>
    %969 = stablehlo.multiply %967, %758 : tensor<16xf32>
    %970 = stablehlo.add %968, %969 : tensor<16xf32>
    %971 = stablehlo.multiply %arg111, %761 : tensor<16xf32>
    %972 = stablehlo.multiply %967, %967 : tensor<16xf32>
    %973 = stablehlo.multiply %972, %764 : tensor<16xf32>
    %974 = stablehlo.add %971, %973 : tensor<16xf32>
    %975 = stablehlo.sqrt %974 : tensor<16xf32>
    %976 = stablehlo.divide %975, %768 : tensor<16xf32>
    %977 = stablehlo.add %976, %770 : tensor<16xf32>
    %978 = stablehlo.multiply %arg31, %772 : tensor<16xf32>
    %979 = stablehlo.divide %970, %977 : tensor<16xf32>
    %980 = stablehlo.multiply %979, %775 : tensor<16xf32>
    %981 = stablehlo.add %978, %980 : tensor<16xf32>
    %982 = stablehlo.transpose %366, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %983 = stablehlo.transpose %982, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %984 = stablehlo.multiply %arg112, %780 : tensor<32x16xf32>
    %985 = stablehlo.multiply %983, %782 : tensor<32x16xf32>
    %986 = stablehlo.add %984, %985 : tensor<32x16xf32>
    %987 = stablehlo.multiply %arg113, %785 : tensor<32x16xf32>
    %988 = stablehlo.multiply %983, %983 : tensor<32x16xf32>
    %989 = stablehlo.multiply %988, %788 : tensor<32x16xf32>
    %990 = stablehlo.add %987, %989 : tensor<32x16xf32>
    %991 = stablehlo.sqrt %990 : tensor<32x16xf32>
    %992 = stablehlo.divide %991, %792 : tensor<32x16xf32>
    %993 = stablehlo.add %992, %794 : tensor<32x16xf32>
    %994 = stablehlo.multiply %arg5, %796 : tensor<32x16xf32>
    %995 = stablehlo.divide %986, %993 : tensor<32x16xf32>
    %996 = stablehlo.multiply %995, %799 : tensor<32x16xf32>
    %997 = stablehlo.add %994, %996 : tensor<32x16xf32>
    %998 = stablehlo.reshape %352 : (tensor<1x32xf32>) -> tensor<32xf32>
    %999 = stablehlo.multiply %arg114, %803 : tensor<32xf32>
    %1000 = stablehlo.multiply %998, %805 : tensor<32xf32>
    %1001 = stablehlo.add %999, %1000 : tensor<32xf32>
    %1002 = stablehlo.multiply %arg115, %808 : tensor<32xf32>
    %1003 = stablehlo.multiply %998, %998 : tensor<32xf32>
    %1004 = stablehlo.multiply %1003, %811 : tensor<32xf32>
    %1005 = stablehlo.add %1002, %1004 : tensor<32xf32>
    %1006 = stablehlo.sqrt %1005 : tensor<32xf32>
    %1007 = stablehlo.divide %1006, %815 : tensor<32xf32>
    %1008 = stablehlo.add %1007, %817 : tensor<32xf32>
    %1009 = stablehlo.multiply %arg34, %819 : tensor<32xf32>
    %1010 = stablehlo.divide %1001, %1008 : tensor<32xf32>
    %1011 = stablehlo.multiply %1010, %822 : tensor<32xf32>
    %1012 = stablehlo.add %1009, %1011 : tensor<32xf32>
    %1013 = stablehlo.transpose %336, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %1014 = stablehlo.transpose %1013, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %1015 = stablehlo.multiply %arg116, %827 : tensor<16x32xf32>
    %1016 = stablehlo.multiply %1014, %829 : tensor<16x32xf32>
    %1017 = stablehlo.add %1015, %1016 : tensor<16x32xf32>
    %1018 = stablehlo.multiply %arg117, %832 : tensor<16x32xf32>
    %1019 = stablehlo.multiply %1014, %1014 : tensor<16x32xf32>
    %1020 = stablehlo.multiply %1019, %835 : tensor<16x32xf32>
    %1021 = stablehlo.add %1018, %1020 : tensor<16x32xf32>
    %1022 = stablehlo.sqrt %1021 : tensor<16x32xf32>
    %1023 = stablehlo.divide %1022, %839 : tensor<16x32xf32>
    %1024 = stablehlo.add %1023, %841 : tensor<16x32xf32>
    %1025 = stablehlo.multiply %arg3, %843 : tensor<16x32xf32>
    %1026 = stablehlo.divide %1017, %1024 : tensor<16x32xf32>
    %1027 = stablehlo.multiply %1026, %846 : tensor<16x32xf32>
    %1028 = stablehlo.add %1025, %1027 : tensor<16x32xf32>
    %1029 = stablehlo.reshape %322 : (tensor<1x16xf32>) -> tensor<16xf32>
    %1030 = stablehlo.multiply %arg118, %756 : tensor<16xf32>
    %1031 = stablehlo.multiply %1029, %758 : tensor<16xf32>
    %1032 = stablehlo.add %1030, %1031 : tensor<16xf32>
    %1033 = stablehlo.multiply %arg119, %761 : tensor<16xf32>
    %1034 = stablehlo.multiply %1029, %1029 : tensor<16xf32>
    %1035 = stablehlo.multiply %1034, %764 : tensor<16xf32>
    %1036 = stablehlo.add %1033, %1035 : tensor<16xf32>
    %1037 = stablehlo.sqrt %1036 : tensor<16xf32>
    %1038 = stablehlo.divide %1037, %768 : tensor<16xf32>
    %1039 = stablehlo.add %1038, %770 : tensor<16xf32>
    %1040 = stablehlo.multiply %arg35, %772 : tensor<16xf32>
    %1041 = stablehlo.divide %1032, %1039 : tensor<16xf32>
    %1042 = stablehlo.multiply %1041, %775 : tensor<16xf32>
    %1043 = stablehlo.add %1040, %1042 : tensor<16xf32>
    %1044 = stablehlo.multiply %arg120, %756 : tensor<16xf32>
    %1045 = stablehlo.multiply %389, %758 : tensor<16xf32>
    %1046 = stablehlo.add %1044, %1045 : tensor<16xf32>
    %1047 = stablehlo.multiply %arg121, %761 : tensor<16xf32>
    %1048 = stablehlo.multiply %389, %389 : tensor<16xf32>
    %1049 = stablehlo.multiply %1048, %764 : tensor<16xf32>
    %1050 = stablehlo.add %1047, %1049 : tensor<16xf32>
    %1051 = stablehlo.sqrt %1050 : tensor<16xf32>
    %1052 = stablehlo.divide %1051, %768 : tensor<16xf32>
    %1053 = stablehlo.add %1052, %770 : tensor<16xf32>
    %1054 = stablehlo.multiply %arg32, %772 : tensor<16xf32>
    %1055 = stablehlo.divide %1046, %1053 : tensor<16xf32>
    %1056 = stablehlo.multiply %1055, %775 : tensor<16xf32>
    %1057 = stablehlo.add %1054, %1056 : tensor<16xf32>
    %1058 = stablehlo.multiply %arg122, %756 : tensor<16xf32>
    %1059 = stablehlo.multiply %390, %758 : tensor<16xf32>
    %1060 = stablehlo.add %1058, %1059 : tensor<16xf32>
    %1061 = stablehlo.multiply %arg123, %761 : tensor<16xf32>
    %1062 = stablehlo.multiply %390, %390 : tensor<16xf32>
    %1063 = stablehlo.multiply %1062, %764 : tensor<16xf32>
    %1064 = stablehlo.add %1061, %1063 : tensor<16xf32>
    %1065 = stablehlo.sqrt %1064 : tensor<16xf32>
    %1066 = stablehlo.divide %1065, %768 : tensor<16xf32>
    %1067 = stablehlo.add %1066, %770 : tensor<16xf32>
    %1068 = stablehlo.multiply %arg33, %772 : tensor<16xf32>
    %1069 = stablehlo.divide %1060, %1067 : tensor<16xf32>
    %1070 = stablehlo.multiply %1069, %775 : tensor<16xf32>
    %1071 = stablehlo.add %1068, %1070 : tensor<16xf32>
    %1072 = stablehlo.multiply %arg124, %756 : tensor<16xf32>
    %1073 = stablehlo.multiply %311, %758 : tensor<16xf32>
    %1074 = stablehlo.add %1072, %1073 : tensor<16xf32>
    %1075 = stablehlo.multiply %arg125, %761 : tensor<16xf32>
    %1076 = stablehlo.multiply %311, %311 : tensor<16xf32>
    %1077 = stablehlo.multiply %1076, %764 : tensor<16xf32>
    %1078 = stablehlo.add %1075, %1077 : tensor<16xf32>
    %1079 = stablehlo.sqrt %1078 : tensor<16xf32>
    %1080 = stablehlo.divide %1079, %768 : tensor<16xf32>
    %1081 = stablehlo.add %1080, %770 : tensor<16xf32>
    %1082 = stablehlo.multiply %arg36, %772 : tensor<16xf32>
    %1083 = stablehlo.divide %1074, %1081 : tensor<16xf32>
    %1084 = stablehlo.multiply %1083, %775 : tensor<16xf32>
    %1085 = stablehlo.add %1082, %1084 : tensor<16xf32>
    %1086 = stablehlo.multiply %arg126, %756 : tensor<16xf32>
    %1087 = stablehlo.multiply %312, %758 : tensor<16xf32>
    %1088 = stablehlo.add %1086, %1087 : tensor<16xf32>
    %1089 = stablehlo.multiply %arg127, %761 : tensor<16xf32>
    %1090 = stablehlo.multiply %312, %312 : tensor<16xf32>
    %1091 = stablehlo.multiply %1090, %764 : tensor<16xf32>
    %1092 = stablehlo.add %1089, %1091 : tensor<16xf32>
    %1093 = stablehlo.sqrt %1092 : tensor<16xf32>
    %1094 = stablehlo.divide %1093, %768 : tensor<16xf32>
    %1095 = stablehlo.add %1094, %770 : tensor<16xf32>
    %1096 = stablehlo.multiply %arg37, %772 : tensor<16xf32>
    %1097 = stablehlo.divide %1088, %1095 : tensor<16xf32>
    %1098 = stablehlo.multiply %1097, %775 : tensor<16xf32>
    %1099 = stablehlo.add %1096, %1098 : tensor<16xf32>
    return %244, %270, %284, %311, %312, %322, %336, %352, %366, %389, %390, %398, %412, %449, %463, %486, %487, %495, %504, %517, %526, %549, %550, %558, %567, %601, %610, %622, %627, %633, %644, %649, %653, %660, %666, %672, %683, %690, %696, %707, %713, %719, %730, %737, %743, %754, %760, %766, %777, %784, %790, %801, %807, %813, %824, %831, %837, %848, %852, %856, %863, %866, %870, %877, %880, %884, %891, %894, %898, %905, %908, %912, %919, %924, %928, %935, %939, %943, %950, %955, %959, %966, %970, %974, %981, %986, %990, %997, %1001, %1005, %1012, %1017, %1021, %1028, %1032, %1036, %1043, %1046, %1050, %1057, %1060, %1064, %1071, %1074, %1078, %1085, %1088, %1092, %1099 : tensor<f32>, tensor<1x30xf32>, tensor<30x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<1x16xf32>, tensor<16x32xf32>, tensor<1x32xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<1x16xf32>, tensor<16x16xf32>, tensor<1x48xf32>, tensor<48x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<1x16xf32>, tensor<16x32xf32>, tensor<1x32xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<1x16xf32>, tensor<16x16xf32>, tensor<1x48xf32>, tensor<48x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30x16xf32>, tensor<30xf32>, tensor<30xf32>, tensor<30xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  }
}
