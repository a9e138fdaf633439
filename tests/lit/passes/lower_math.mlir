// RUN: %opt lower-math %s | FileCheck %s

// Pure instructions: no side effects, so that LLVM may share and move them.

module { gpu.module @kernels {
func.func @kernel(%x: f32, %y: f32, %i: i32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  // CHECK: llvm.inline_asm "ex2.approx.ftz.f32 $0, $1;", "=f,f" %arg0 : (f32) -> f32
  %e = "fa4.approximate"(%x) {function = "exp2", ftz = true} : (f32) -> f32
  // CHECK: llvm.inline_asm "rcp.approx.f32 $0, $1;"
  %r = "fa4.approximate"(%x) {function = "rcp", ftz = false} : (f32) -> f32
  // PTX takes the upper element first.
  // CHECK: llvm.inline_asm "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f" %arg1, %arg0 : (f32, f32) -> i32
  // CHECK: llvm.bitcast %{{.*}} : i32 to vector<2xbf16>
  %p = "fa4.convert"(%x, %y) {to = "rn.bf16x2.f32"} : (f32, f32) -> vector<2xbf16>
  // CHECK: llvm.inline_asm "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f" %arg1, %arg0
  %q = "fa4.convert"(%x, %y) {to = "rn.satfinite.e4m3x2.f32"} : (f32, f32) -> i16
  // CHECK: llvm.inline_asm "prmt.b32 $0, $1, $2, $3;", "=r,r,r,r"
  %b = "fa4.byte_permute"(%i, %i, %i) : (i32, i32, i32) -> i32
  // CHECK: math.fma
  %f = math.fma %x, %y, %x : f32
  return
}
} }
