"""Lowering of single constructs: LLVM text, and the exact printed program."""

from __future__ import annotations

import pytest

from partita._core import dump_program
from partita.frontends.bitcode import module_text
from partita.llvm import lower

CASES = [
    (
        "integer_arithmetic",
        """
define i32 @f(i32 %a, i32 %b) {
  %1 = add nuw nsw i32 %a, -1
  %2 = sdiv exact i32 %1, %b
  %3 = shl nsw i32 %2, 3
  %4 = or disjoint i32 %3, 1
  %5 = xor i32 %4, %a
  ret i32 %5
}
""",
        """
function f(32 32) -> (32)
b0:
  r2:32 = add nuw nsw r0 4294967295
  r3:32 = sdiv exact r2 r1
  r4:32 = shl nsw r3 3
  r5:32 = or disjoint r4 1
  r6:32 = xor r5 r0
  ret r6
""",
    ),
    (
        "odd_and_wide_widths",
        """
define i128 @f(i7 %a, i128 %b) {
  %1 = sext i7 %a to i128
  %2 = mul i128 %1, %b
  %3 = add i128 %2, 18446744073709551616
  %4 = and i128 %3, -2
  ret i128 %4
}
""",
        """
function f(7 128) -> (128)
b0:
  r2:128 = sext 7 r0
  r3:128 = mul r2 r1
  r4:128 = add r3 0x00000000000000010000000000000000
  r5:128 = and r4 0xfffffffffffffffffffffffffffffffe
  ret r5
""",
    ),
    (
        "comparisons_and_select",
        """
define i1 @f(ptr %p, ptr %q, i8 %c) {
  %1 = icmp ne ptr %p, %q
  %2 = icmp samesign slt i8 %c, -3
  %3 = select i1 %1, i1 %2, i1 false
  ret i1 %3
}
""",
        """
function f(64 64 8) -> (1)
b0:
  r3:1 = cmp ne 64 r0 r1
  r4:1 = cmp slt 8 r2 253
  r5:1 = select r3 r4 0
  ret r5
""",
    ),
    (
        "pointer_casts_vanish",
        """
define i32 @f(ptr %p) {
  %1 = ptrtoint ptr %p to i64
  %2 = inttoptr i64 %1 to ptr
  %3 = addrspacecast ptr %2 to ptr addrspace(1)
  %4 = ptrtoint ptr addrspace(1) %3 to i32
  ret i32 %4
}
""",
        """
function f(64) -> (32)
b0:
  r1:32 = trunc 64 r0
  ret r1
""",
    ),
    (
        "phi_swap",
        """
define i32 @f(i1 %c) {
entry:
  br label %loop
loop:
  %a = phi i32 [ 1, %entry ], [ %b, %loop ]
  %b = phi i32 [ 2, %entry ], [ %a, %loop ]
  br i1 %c, label %loop, label %end
end:
  ret i32 %a
}
""",
        """
function f(1) -> (32)
b0:
  jump b1[r2=2 r1=1]
b1:
  branch r0 b1[r3=r1 r1=r2 r2=r3] b2
b2:
  ret r1
""",
    ),
    (
        "phi_chain_needs_no_temporary",
        """
define i32 @f(i1 %c, i32 %x) {
  br label %1
1:
  %a = phi i32 [ 0, %0 ], [ %x, %1 ]
  %b = phi i32 [ 0, %0 ], [ %a, %1 ]
  br i1 %c, label %1, label %2
2:
  ret i32 %b
}
""",
        """
function f(1 32) -> (32)
b0:
  jump b1[r3=0 r2=0]
b1:
  branch r0 b1[r3=r2 r2=r1] b2
b2:
  ret r3
""",
    ),
    (
        "switch",
        """
define i32 @f(i8 %x) {
  switch i8 %x, label %d [
    i8 5, label %a
    i8 -1, label %b
    i8 0, label %a
  ]
a:
  ret i32 1
b:
  ret i32 2
d:
  %r = phi i32 [ 7, %0 ]
  ret i32 %r
}
""",
        """
function f(8) -> (32)
b0:
  switch 8 r0 0:b1 5:b1 255:b2 else b3[r1=7]
b1:
  ret 1
b2:
  ret 2
b3:
  ret r1
""",
    ),
    (
        "wide_switch",
        """
define i32 @f(i128 %x) {
  switch i128 %x, label %d [
    i128 18446744073709551616, label %a
    i128 2, label %d
  ]
a:
  ret i32 1
d:
  ret i32 2
}
""",
        """
function f(128) -> (32)
b0:
  r1:1 = cmp eq 128 r0 0x00000000000000010000000000000000
  r2:32 = select r1 1 0
  r3:1 = cmp eq 128 r0 0x00000000000000000000000000000002
  r4:32 = select r3 2 r2
  switch 32 r4 1:b1 2:b2 else b2
b1:
  ret 1
b2:
  ret 2
""",
    ),
    (
        "branch_to_one_place_is_a_jump",
        """
define void @f(i1 %c) {
  br i1 %c, label %a, label %a
a:
  ret void
}
""",
        """
function f(1) -> ()
b0:
  jump b1
b1:
  ret
""",
    ),
    (
        "computed_goto",
        """
@t = internal constant [2 x ptr] [ptr blockaddress(@f, %a), ptr blockaddress(@f, %b)]
@d = internal constant i32 trunc (i64 sub (i64 ptrtoint (ptr blockaddress(@f, %b) to i64), i64 ptrtoint (ptr blockaddress(@f, %a) to i64)) to i32)
define i32 @f(i64 %i) {
  %p = getelementptr inbounds [2 x ptr], ptr @t, i64 0, i64 %i
  %q = load ptr, ptr %p, align 8
  indirectbr ptr %q, [label %a, label %b, label %a]
a:
  ret i32 1
b:
  ret i32 2
}
""",
        """
internal global t size 16 align 8 readonly [0:8]=&f:b1 [8:8]=&f:b2
internal global d size 4 align 4 readonly [0:4]=&f:b2-&f:b1
function f(64) -> (32)
b0:
  r1:64 = gep inbounds @t + r0:64*8
  r2:64 = load r1 align 8
  indirectbr r2 b1 b2
b1:
  ret 1
b2:
  ret 2
""",
    ),
    (
        "addresses",
        """
%s = type { i32, [4 x { i8, i64 }] }
@g = external global %s
define ptr @f(ptr %p, i32 %i, i64 %j) {
  %1 = getelementptr inbounds %s, ptr %p, i32 0, i32 1, i64 %j, i32 1
  %2 = getelementptr i32, ptr %1, i32 -3
  %3 = getelementptr inbounds %s, ptr @g, i64 0, i32 1, i64 2, i32 1
  store ptr %3, ptr %2, align 4
  %4 = getelementptr nuw %s, ptr %2, i32 %i
  %5 = getelementptr [0 x i64], ptr %4, i64 %j, i64 0
  ret ptr %5
}
""",
        """
global g size 72 align 8 undefined
function f(64 32 64) -> (64)
b0:
  r3:64 = gep inbounds r0 +16 + r2:64*16
  r4:64 = gep r3 -12
  store 64 @g+48 to r4 align 4
  r5:64 = gep r4 + r1:32*72
  ret r5
""",
    ),
    (
        "memory",
        """
define void @f(ptr %p, i1 %b) {
  %x = alloca [3 x i32], align 16
  %1 = load volatile i24, ptr %p, align 1
  store i24 %1, ptr %x, align 4
  store i1 %b, ptr %p, align 1
  %2 = load atomic i64, ptr %p seq_cst, align 8
  br label %next
next:
  %y = alloca i64, i64 %2, align 8
  %z = alloca i8, align 1
  ret void
}
""",
        """
function f(64 1) -> ()
b0:
  r2:64 = alloca 12 align 16
  r3:24 = load r0 align 1
  store 24 r3 to r2 align 4
  store 1 r1 to r0 align 1
  call __partita_atomic_begin(r0:64@0, 0:32@8)
  r4:64 = load r0 align 8
  call __partita_atomic_end(r0:64@0)
  jump b1
b1:
  r6:64 = mul r4 8
  r5:64 = alloca dynamic r6 align 8
  r7:64 = alloca dynamic 1 align 1
  ret
function __partita_atomic_begin(64 32) -> () undefined
function __partita_atomic_end(64) -> () undefined
""",
    ),
    (
        "aggregates_by_leaf",
        """
define { i32, { i8, i64 } } @f(ptr %p, { i32, i1 } %q) {
  %1 = load { i8, i64 }, ptr %p, align 8
  %2 = extractvalue { i8, i64 } %1, 1
  %3 = extractvalue { i32, i1 } %q, 0
  %4 = insertvalue { i32, { i8, i64 } } undef, i32 %3, 0
  %5 = insertvalue { i32, { i8, i64 } } %4, { i8, i64 } %1, 1
  %6 = insertvalue { i32, { i8, i64 } } %5, i64 0, 1, 1
  store { i32, { i8, i64 } } %6, ptr %p, align 8
  ret { i32, { i8, i64 } } %5
}
""",
        """
function f(64 32 1) -> (32 8 64)
b0:
  r3:8 = load r0 align 8
  r5:64 = gep inbounds r0 +8
  r4:64 = load r5 align 8
  store 32 r1 to r0 align 8
  r6:64 = gep inbounds r0 +8
  store 8 r3 to r6 align 8
  r7:64 = gep inbounds r0 +16
  store 64 0 to r7 align 8
  ret r1 r3 r4
""",
    ),
    (
        "vectors",
        """
define <2 x i32> @f(<2 x i32> %a, i32 %i, <4 x i8> %c) {
  %1 = add <2 x i32> %a, splat (i32 5)
  %2 = extractelement <2 x i32> %1, i32 %i
  %3 = insertelement <2 x i32> %1, i32 %2, i64 1
  %4 = shufflevector <2 x i32> %3, <2 x i32> %a, <2 x i32> <i32 3, i32 poison>
  %5 = bitcast <4 x i8> %c to i32
  %6 = insertelement <2 x i32> %4, i32 %5, i32 1
  ret <2 x i32> %6
}
""",
        """
function f(32 32 32 8 8 8 8) -> (32 32)
b0:
  r7:32 = add r0 5
  r8:32 = add r1 5
  r10:1 = cmp eq 32 r2 1
  r9:32 = select r10 r8 r7
  r11:32 = zext 8 r3
  r12:32 = zext 8 r4
  r13:32 = shl r12 8
  r14:32 = or r11 r13
  r15:32 = zext 8 r5
  r16:32 = shl r15 16
  r17:32 = or r14 r16
  r18:32 = zext 8 r6
  r19:32 = shl r18 24
  r20:32 = or r17 r19
  ret r1 r20
""",
    ),
    (
        "vector_of_bits_in_memory",
        """
define void @f(ptr %p, <3 x i1> %v) {
  store <3 x i1> %v, ptr %p, align 1
  ret void
}
""",
        """
function f(64 1 1 1) -> ()
b0:
  r4:3 = zext 1 r1
  r5:3 = zext 1 r2
  r6:3 = shl r5 1
  r7:3 = or r4 r6
  r8:3 = zext 1 r3
  r9:3 = shl r8 2
  r10:3 = or r7 r9
  store 3 r10 to r0 align 1
  ret
""",
    ),
    (
        "calls",
        """
declare i32 @printf(ptr, ...)
declare { i64, double } @pair(<2 x float>, x86_fp80, i128)
%s = type { [3 x i64] }
define void @f(ptr %h, ptr %s, <2 x float> %v) {
  %1 = call i32 (ptr, ...) @printf(ptr noundef %h, i32 3, double 1.0, ptr byval(%s) align 8 %s, x86_fp80 0xK3FFF8000000000000000)
  %2 = tail call fastcc noundef { i64, double } @pair(<2 x float> %v, x86_fp80 0xK3FFF8000000000000000, i128 7) #3
  %3 = extractvalue { i64, double } %2, 1
  call void %h(ptr byval(%s) align 8 %s, double %3)
  ret void
}
""",
        """
function f(64 64 32 32) -> ()
b0:
  r7:64 = alloca 24 align 8
  r4:32 = call printf(r0:64@0, 3:32@8, 4607182418800017408:64@48, r1:bytes 24@176, 0x0000000000003fff8000000000000000:80@208)
  r5:64 r6:64 = call pair(r2:32@48, r3:32@52, 0x0000000000003fff8000000000000000:80@176, 0x00000000000000000000000000000007:128@0)
  memcpy r7 from r1 len 24
  call *r0(r7:bytes 24@176, r6:64@48)
  ret
function printf(64 ...) -> (32) undefined
function pair(32 32 80 128) -> (64 64) undefined
""",
    ),
    (
        "variadic_callee",
        """
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_copy.p0(ptr, ptr)
declare void @llvm.va_end.p0(ptr)
define void @f(i32 %a, double %b, ptr byval([3 x i64]) align 8 %c, ...) {
  %l = alloca [24 x i8], align 8
  %m = alloca [24 x i8], align 8
  call void @llvm.va_start.p0(ptr %l)
  call void @llvm.va_copy.p0(ptr %m, ptr %l)
  call void @llvm.va_end.p0(ptr %l)
  ret void
}
""",
        """
function f(32 64 64 ...) -> ()
b0:
  r3:64 = alloca 24 align 8
  r4:64 = alloca 24 align 8
  va_start r3 8 64 200
  memcpy r4 from r3 len 24
  ret
""",
    ),
    (
        "floating",
        """
define double @f(float %a, double %b, x86_fp80 %c) {
  %1 = fadd contract nsz float %a, 0x3FB99999A0000000
  %2 = fpext float %1 to double
  %3 = fdiv double %2, 2.5
  %4 = fptrunc x86_fp80 %c to double
  %5 = fcmp uno double %4, %3
  %6 = fneg double %4
  %7 = select i1 %5, double %6, double %b
  %8 = fptosi double %7 to i16
  %9 = uitofp i16 %8 to double
  ret double %9
}
""",
        """
function f(32 64 80) -> (64)
b0:
  r3:32 = fadd f32 r0 1036831949
  r4:64 = f32 to f64 r3
  r5:64 = fdiv f64 r4 4612811918334230528
  r6:64 = f80 to f64 r2
  r7:1 = fcmp uno f64 r6 r5
  r8:64 = fneg f64 r6
  r9:64 = select r7 r8 r1
  r10:16 = fptosi f64 r9
  r11:64 = uitofp f64 16 r10
  ret r11
""",
    ),
    (
        "fast_math",
        """
define i1 @f(float %a, double %b) {
  %1 = fadd nnan float %a, %a
  %2 = fcmp ninf olt float %1, 2.0
  %3 = call fast double @llvm.sqrt.f64(double %b)
  %4 = fcmp ogt double %3, 0.0
  %5 = and i1 %2, %4
  ret i1 %5
}
declare double @llvm.sqrt.f64(double)
""",
        """
function f(32 64) -> (1)
b0:
  r3:32 = fadd f32 r0 r0
  r4:1 = fclass f32 r0 0x3
  r5:1 = fclass f32 r0 0x3
  r6:1 = or r4 r5
  r7:1 = fclass f32 r3 0x3
  r8:1 = or r6 r7
  r9:32 = select r8 poison 0
  r2:32 = xor r3 r9
  r11:1 = fcmp olt f32 r2 1073741824
  r12:1 = fclass f32 r2 0x204
  r13:1 = fclass f32 1073741824 0x204
  r14:1 = or r12 r13
  r15:1 = select r14 poison 0
  r10:1 = xor r11 r15
  r16:64 = sqrt f64 r1
  r18:1 = fclass f64 r1 0x207
  r19:1 = fclass f64 r16 0x207
  r20:1 = or r18 r19
  r21:64 = select r20 poison 0
  r17:64 = xor r16 r21
  r22:1 = fcmp ogt f64 r17 0
  r23:1 = and r10 r22
  ret r23
""",
    ),
    (
        "integer_intrinsics",
        """
declare i32 @llvm.ctlz.i32(i32, i1)
declare i32 @llvm.abs.i32(i32, i1)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.uadd.sat.i32(i32, i32)
declare { i32, i1 } @llvm.smul.with.overflow.i32(i32, i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i8 @llvm.scmp.i8.i32(i32, i32)
define i32 @f(i32 %a, i32 %b) {
  %1 = call i32 @llvm.ctlz.i32(i32 %a, i1 true)
  %2 = call i32 @llvm.abs.i32(i32 %1, i1 false)
  %3 = call i32 @llvm.smax.i32(i32 %2, i32 %b)
  %4 = call i32 @llvm.uadd.sat.i32(i32 %3, i32 1)
  %5 = call { i32, i1 } @llvm.smul.with.overflow.i32(i32 %4, i32 %b)
  %6 = extractvalue { i32, i1 } %5, 0
  %7 = call i32 @llvm.fshl.i32(i32 %6, i32 %6, i32 7)
  %8 = call i8 @llvm.scmp.i8.i32(i32 %7, i32 %a)
  ret i32 %7
}
""",
        """
function f(32 32) -> (32)
b0:
  r2:32 = ctlz zero_poison r0
  r3:32 = abs r2
  r4:32 = smax r3 r1
  r5:32 = uaddsat r4 1
  r6:32 r7:1 = smulo r5 r1
  r8:32 = fshl r6 r6 7
  r10:1 = cmp sgt 32 r8 r0
  r11:8 = zext 1 r10
  r12:1 = cmp slt 32 r8 r0
  r13:8 = zext 1 r12
  r9:8 = sub r11 r13
  ret r8
""",
    ),
    (
        "memory_and_other_intrinsics",
        """
declare void @llvm.memcpy.p0.p0.i32(ptr, ptr, i32, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.objectsize.i64.p0(ptr, i1, i1, i1)
declare i64 @llvm.expect.i64(i64, i64)
declare void @llvm.assume(i1)
declare void @llvm.lifetime.start.p0(i64, ptr)
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
declare i1 @llvm.is.constant.i64(i64)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
declare void @llvm.trap()
define i64 @f(ptr %p, ptr %q, i32 %n, i1 %c) {
  call void @llvm.lifetime.start.p0(i64 4, ptr %p)
  call void @llvm.memcpy.p0.p0.i32(ptr align 4 %p, ptr %q, i32 %n, i1 false)
  call void @llvm.memmove.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false)
  call void @llvm.memset.p0.i64(ptr %p, i8 1, i64 16, i1 false)
  %1 = call i64 @llvm.objectsize.i64.p0(ptr %p, i1 false, i1 true, i1 false)
  %2 = call i64 @llvm.expect.i64(i64 %1, i64 3)
  call void @llvm.assume(i1 %c)
  %3 = call ptr @llvm.stacksave.p0()
  call void @llvm.stackrestore.p0(ptr %3)
  %4 = call i1 @llvm.is.constant.i64(i64 %2)
  %5 = call ptr @llvm.ptrmask.p0.i64(ptr %p, i64 -16)
  call void @llvm.trap()
  unreachable
}
""",
        """
function f(64 64 32 1) -> (64)
b0:
  scope begins r0
  r4:64 = zext 32 r2
  memcpy r0 from r1 len r4
  memmove r0 from r1 len 8
  memset r0 to 1 len 16
  assume r3
  r5:64 = stacksave
  stackrestore r5
  r6:64 = and r0 18446744073709551600
  trap
  unreachable
""",
    ),
    (
        "float_intrinsics",
        """
declare double @llvm.sqrt.f64(double)
declare double @llvm.fmuladd.f64(double, double, double)
declare float @llvm.pow.f32(float, float)
declare i1 @llvm.is.fpclass.f64(double, i32)
declare i64 @llvm.lrint.i64.f64(double)
declare i8 @llvm.fptoui.sat.i8.f64(double)
declare double @llvm.experimental.constrained.fadd.f64(double, double, metadata, metadata)
declare i1 @llvm.experimental.constrained.fcmps.f64(double, double, metadata, metadata)
define i64 @f(double %a, float %b) {
  %1 = call double @llvm.sqrt.f64(double %a)
  %2 = call double @llvm.fmuladd.f64(double %1, double %a, double 1.0)
  %3 = call float @llvm.pow.f32(float %b, float %b)
  %4 = call i1 @llvm.is.fpclass.f64(double %2, i32 3)
  %5 = call i64 @llvm.lrint.i64.f64(double %2)
  %6 = call i8 @llvm.fptoui.sat.i8.f64(double %2)
  %7 = call double @llvm.experimental.constrained.fadd.f64(double %a, double %2, metadata !"round.dynamic", metadata !"fpexcept.strict")
  %8 = call i1 @llvm.experimental.constrained.fcmps.f64(double %7, double %2, metadata !"olt", metadata !"fpexcept.strict")
  ret i64 %5
}
""",
        """
function f(64 32) -> (64)
b0:
  r2:64 = sqrt f64 r0
  r4:64 = fmul f64 r2 r0
  r3:64 = fadd f64 r4 4607182418800017408
  r5:32 = call powf(r1:32@48, r1:32@64)
  r6:1 = fclass f64 r3 0x3
  r7:64 = rint f64 r3
  r8:64 = fptosi f64 r7
  r9:8 = fptoui saturate f64 r3
  r10:64 = fadd f64 r0 r3
  r11:1 = fcmps olt f64 r10 r3
  ret r8
function powf(32 32) -> (32) undefined
""",
    ),
    (
        "atomics",
        """
define i32 @f(ptr %p, i32 %x) {
  %1 = atomicrmw nand ptr %p, i32 %x seq_cst, align 4
  %2 = cmpxchg weak ptr %p, i32 %1, i32 %x acq_rel monotonic, align 4
  %3 = extractvalue { i32, i1 } %2, 0
  fence seq_cst
  ret i32 %3
}
""",
        """
function f(64 32) -> (32)
b0:
  call __partita_atomic_begin(r0:64@0, 0:32@8)
  r2:32 = load r0 align 4
  r3:32 = and r2 r1
  r4:32 = xor r3 4294967295
  store 32 r4 to r0 align 4
  call __partita_atomic_end(r0:64@0)
  call __partita_atomic_begin(r0:64@0, 1:32@8)
  r5:32 = load r0 align 4
  r6:1 = cmp eq 32 r5 r2
  r7:32 = select r6 r1 r5
  store 32 r7 to r0 align 4
  call __partita_atomic_end(r0:64@0)
  call __partita_atomic_begin(0:64@0, 1:32@8)
  call __partita_atomic_end(0:64@0)
  ret r5
function __partita_atomic_begin(64 32) -> () undefined
function __partita_atomic_end(64) -> () undefined
""",
    ),
    (
        "values_used_before_their_text",
        """
define i32 @f(i1 %c, { i32, i32 } %s) {
  br label %first
first:
  br i1 %c, label %second, label %use
use:
  %r = phi i32 [ %v, %second ], [ 0, %first ]
  ret i32 %r
second:
  %v = extractvalue { i32, i32 } %s, 1
  br label %use
}
""",
        """
function f(1 32 32) -> (32)
b0:
  jump b1
b1:
  branch r0 b3 b2[r3=0]
b2:
  ret r3
b3:
  r4:32 = r2
  jump b2[r3=r4]
""",
    ),
    (
        "constant_expressions",
        """
@a = global [4 x i32] zeroinitializer
@b = global i8 0
define i32 @f() {
  %1 = icmp eq ptr getelementptr inbounds ([4 x i32], ptr @a, i64 0, i64 2), inttoptr (i64 4096 to ptr)
  store i64 sub (i64 ptrtoint (ptr @a to i64), i64 ptrtoint (ptr @b to i64)), ptr @b, align 1
  ret i32 ptrtoint (ptr getelementptr (i8, ptr @f, i64 4) to i32)
}
""",
        """
global a size 16 align 4
global b size 1 align 1
function f() -> (32)
b0:
  r1:64 = sub @a @b
  r2:64 = gep &f +4
  r3:32 = trunc 64 r2
  r0:1 = cmp eq 64 @a+8 4096
  store 64 r1 to @b align 1
  ret r3
""",
    ),
    (
        "freeze_and_undef",
        """
define i32 @f() {
  %1 = freeze i32 undef
  %2 = freeze i32 poison
  %3 = add i32 %1, %2
  ret i32 %3
}
""",
        """
function f() -> (32)
b0:
  r0:32 = freeze poison
  r1:32 = add undef r0
  ret r1
""",
    ),
    (
        "empty_assembly",
        """
define i32 @f(i32 %x) {
  call void asm sideeffect "", "~{memory},~{dirflag},~{fpsr},~{flags}"()
  %1 = call i32 asm "", "=r,0,~{dirflag},~{fpsr},~{flags}"(i32 %x)
  ret i32 %1
}
""",
        """
function f(32) -> (32)
b0:
  ret r0
""",
    ),
    (
        "not_understood",
        """
declare i64 @llvm.readcyclecounter()
define i64 @f(i64 %x, half %h) !dbg !4 {
  %1 = call i64 asm sideeffect "rdpmc", "={ax},{cx}"(i64 %x), !dbg !5
  %2 = call i64 @llvm.readcyclecounter()
  %3 = fadd half %h, %h
  %4 = add i64 %1, %2
  callbr void asm "", ""() to label %next []
next:
  ret i64 %4
}
!1 = !DIFile(filename: "dir/x.c", directory: "/src")
!4 = distinct !DISubprogram(name: "f", file: !1, line: 3)
!5 = !DILocation(line: 12, column: 5, scope: !6)
!6 = distinct !DILexicalBlock(scope: !4, file: !1, line: 4)
""",
        """
function f(64 16) -> (64)
b0:
  unsupported "inline assembly `rdpmc` in function `f` at x.c:12" ; /src/dir/x.c:12:5
  unsupported "intrinsic `llvm.readcyclecounter` in function `f`"
  r2:16 = fadd f16 r1 r1
  r3:64 = add undef undef
  unsupported "instruction `callbr` in function `f`"
  unreachable
b1:
  ret r3
""",
    ),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_lowering(text: str, expected: str) -> None:
    module_text([("case", text.encode())], entry=None)  # the case is valid LLVM
    assert dump_program(lower(text)).strip() == expected.strip()
