; Bodies of functions that call one intrinsic each (see intrinsics.py): sections by name; `native NAME` is what the
; intrinsic means, for the compiler of native programs, which does not have it. The functions have the word `n`, its bytes
; `lo` and `hi`, and the number `f`; the result is `w`.

## globals
@memory = internal global [16 x i8] zeroinitializer
@local = internal thread_local global i16 0
@bytes = internal constant [2 x i8] c"ab"
@pointers = internal global [2 x ptr] [ptr @memory, ptr @bytes]
@table = internal constant [2 x i32] [
  i32 trunc (i64 sub (i64 ptrtoint (ptr @bytes to i64), i64 ptrtoint (ptr @table to i64)) to i32),
  i32 trunc (i64 sub (i64 ptrtoint (ptr getelementptr (i8, ptr @bytes, i64 1) to i64), i64 ptrtoint (ptr @table to i64)) to i32)]
!0 = !{!1}
!1 = distinct !{!1, !2}
!2 = distinct !{!2}
!3 = !DILocalVariable(name: "z", scope: !4)
!4 = distinct !DISubprogram(name: "f", unit: !5, spFlags: DISPFlagDefinition)
!5 = distinct !DICompileUnit(language: DW_LANG_C99, file: !6, emissionKind: NoDebug)
!6 = !DIFile(filename: "f.c", directory: ".")
!7 = !DILocation(line: 1, scope: !4)

## memcpy
  store i64 578437695752307201, ptr @memory
  %z = zext i8 %hi to i64
  %at = getelementptr i8, ptr @memory, i64 8
  store i64 %z, ptr %at
  %low = and i8 %lo, 7
  %size = zext i8 %low to i64
  call void @llvm.memcpy.p0.p0.i64(ptr @memory, ptr %at, i64 %size, i1 false)
  %w = load i64, ptr @memory

## memmove
  store i64 578437695752307201, ptr @memory
  %z = zext i8 %hi to i64
  %at = getelementptr i8, ptr @memory, i64 8
  store i64 %z, ptr %at
  %low = and i8 %lo, 7
  %size = zext i8 %low to i64
  %to = getelementptr i8, ptr @memory, i64 3
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr @memory, i64 %size, i1 false)
  %w = load i64, ptr @memory

## memset
  store i64 578437695752307201, ptr @memory
  %z = zext i8 %hi to i64
  %at = getelementptr i8, ptr @memory, i64 8
  store i64 %z, ptr %at
  %low = and i8 %lo, 7
  %size = zext i8 %low to i64
  call void @llvm.memset.p0.i64(ptr @memory, i8 %hi, i64 %size, i1 false)
  %w = load i64, ptr @memory

## lifetime.start
  %p = alloca i64
  call void @llvm.lifetime.start.p0(ptr %p)
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  %w = load i64, ptr %p

## lifetime.end
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  %w = load i64, ptr %p
  call void @llvm.lifetime.end.p0(ptr %p)

## donothing
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  call void @llvm.donothing()
  %w = load i64, ptr %p

## sideeffect
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  call void @llvm.sideeffect()
  %w = load i64, ptr %p

## x86.sse2.pause
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  call void @llvm.x86.sse2.pause()
  %w = load i64, ptr %p

## prefetch
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  call void @llvm.prefetch.p0(ptr %p, i32 0, i32 1, i32 1)
  %w = load i64, ptr %p

## clear_cache
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  call void @llvm.clear_cache(ptr %p, ptr %p)
  %w = load i64, ptr %p

## fake.use
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  call void (...) @llvm.fake.use(ptr %p)
  %w = load i64, ptr %p

## pseudoprobe
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  call void @llvm.pseudoprobe(i64 1, i64 2, i32 0, i64 -1)
  %w = load i64, ptr %p

## var.annotation
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  call void @llvm.var.annotation.p0.p0(ptr %p, ptr @memory, ptr @memory, i32 1, ptr null)
  %w = load i64, ptr %p

## invariant.start
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  %i = call ptr @llvm.invariant.start.p0(i64 8, ptr %p)
  %w = load i64, ptr %p

## invariant.end
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  %i = call ptr @llvm.invariant.start.p0(i64 8, ptr %p)
  call void @llvm.invariant.end.p0(ptr %i, i64 8, ptr %p)
  %w = load i64, ptr %p

## experimental.noalias.scope.decl
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  call void @llvm.experimental.noalias.scope.decl(metadata !0)
  %w = load i64, ptr %p

## dbg
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  call void @llvm.dbg.value(metadata i64 %z, metadata !3, metadata !DIExpression()), !dbg !7
  %w = load i64, ptr %p

## assume
  %r = and i16 %n, 255
  %c = icmp ult i16 %r, 256
  call void @llvm.assume(i1 %c)
  %w = zext i16 %r to i64

## annotation
  %r = call i16 @llvm.annotation.i16.p0(i16 %n, ptr @memory, ptr @memory, i32 1)
  %w = zext i16 %r to i64

## ptr.annotation
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  %q = call ptr @llvm.ptr.annotation.p0.p0(ptr %p, ptr @memory, ptr @memory, i32 1, ptr null)
  %w = load i64, ptr %q

## launder.invariant.group
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  %q = call ptr @llvm.launder.invariant.group.p0(ptr %p)
  %w = load i64, ptr %q

## strip.invariant.group
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  %q = call ptr @llvm.strip.invariant.group.p0(ptr %p)
  %w = load i64, ptr %q

## threadlocal.address
  %q = call ptr @llvm.threadlocal.address.p0(ptr @local)
  store i16 %n, ptr %q
  %r = load i16, ptr @local
  %w = zext i16 %r to i64

## ptrmask
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  %q = call ptr @llvm.ptrmask.p0.i64(ptr %p, i64 -8)
  %w = load i64, ptr %q

## load.relative
  %o = and i8 %lo, 4
  %e = zext i8 %o to i32
  %q = call ptr @llvm.load.relative.i32(ptr @table, i32 %e)
  %r = load i8, ptr %q
  %w = zext i8 %r to i64

## stacksave
  %s = call ptr @llvm.stacksave.p0()
  call void @llvm.stackrestore.p0(ptr %s)
  %w = zext i16 %n to i64

## stackrestore
  %s = call ptr @llvm.stacksave.p0()
  %size = zext i8 %lo to i64
  %p = alloca i8, i64 16
  store i8 %lo, ptr %p
  %r = load i8, ptr %p
  call void @llvm.stackrestore.p0(ptr %s)
  %w = zext i8 %r to i64

## objectsize
  %z = and i16 %n, 3
  %i = zext i16 %z to i64
  %p = getelementptr [2 x ptr], ptr @pointers, i64 0, i64 0
  %q = load volatile ptr, ptr %p
  %o = getelementptr i8, ptr %q, i64 %i
  %a = call i64 @llvm.objectsize.i64.p0(ptr %o, i1 false, i1 true, i1 false)
  %b = call i64 @llvm.objectsize.i64.p0(ptr %o, i1 true, i1 true, i1 false)
  %w = sub i64 %a, %b

## native fake.use
  %p = alloca i64
  %z = zext i16 %n to i64
  store i64 %z, ptr %p
  %w = load i64, ptr %p

## native canonicalize
  %v = bitcast float %f to i32
  %w = zext i32 %v to i64

## native ssa.copy
  %w = zext i16 %n to i64

## native expect.with.probability
  %w = zext i16 %n to i64

## native minimumnum
  %c = fcmp olt float %f, 1.5
  %r = select i1 %c, float %f, float 1.5
  %v = bitcast float %r to i32
  %w = zext i32 %v to i64

## native maximumnum
  %c = fcmp ogt float %f, 1.5
  %r = select i1 %c, float %f, float 1.5
  %v = bitcast float %r to i32
  %w = zext i32 %v to i64

## native lifetime.start
  %w = zext i16 %n to i64

## native lifetime.end
  %w = zext i16 %n to i64

## masked.load
  store i64 578437695752307201, ptr @memory
  %m0 = trunc i8 %lo to i1
  %l1 = lshr i8 %lo, 1
  %m1 = trunc i8 %l1 to i1
  %v0 = insertelement <2 x i1> poison, i1 %m0, i32 0
  %mask = insertelement <2 x i1> %v0, i1 %m1, i32 1
  %p0 = insertelement <2 x i8> <i8 9, i8 9>, i8 %hi, i32 1
  %r = call <2 x i8> @llvm.masked.load.v2i8.p0(ptr @memory, i32 1, <2 x i1> %mask, <2 x i8> %p0)
  %e0 = extractelement <2 x i8> %r, i32 0
  %e1 = extractelement <2 x i8> %r, i32 1
  %z0 = zext i8 %e0 to i64
  %z1 = zext i8 %e1 to i64
  %s1 = shl i64 %z1, 8
  %w = or i64 %z0, %s1

## masked.gather
  store i64 578437695752307201, ptr @memory
  %m0 = trunc i8 %lo to i1
  %l1 = lshr i8 %lo, 1
  %m1 = trunc i8 %l1 to i1
  %v0 = insertelement <2 x i1> poison, i1 %m0, i32 0
  %mask = insertelement <2 x i1> %v0, i1 %m1, i32 1
  %p0 = insertelement <2 x i8> <i8 9, i8 9>, i8 %hi, i32 1
  %g0 = insertelement <2 x ptr> poison, ptr getelementptr (i8, ptr @memory, i64 3), i32 0
  %places = insertelement <2 x ptr> %g0, ptr getelementptr (i8, ptr @memory, i64 1), i32 1
  %r = call <2 x i8> @llvm.masked.gather.v2i8.v2p0(<2 x ptr> %places, i32 1, <2 x i1> %mask, <2 x i8> %p0)
  %e0 = extractelement <2 x i8> %r, i32 0
  %e1 = extractelement <2 x i8> %r, i32 1
  %z0 = zext i8 %e0 to i64
  %z1 = zext i8 %e1 to i64
  %s1 = shl i64 %z1, 8
  %w = or i64 %z0, %s1

## masked.store
  store i64 578437695752307201, ptr @memory
  %m0 = trunc i8 %lo to i1
  %l1 = lshr i8 %lo, 1
  %m1 = trunc i8 %l1 to i1
  %v0 = insertelement <2 x i1> poison, i1 %m0, i32 0
  %mask = insertelement <2 x i1> %v0, i1 %m1, i32 1
  %p0 = insertelement <2 x i8> <i8 9, i8 9>, i8 %hi, i32 1
  call void @llvm.masked.store.v2i8.p0(<2 x i8> %p0, ptr @memory, i32 1, <2 x i1> %mask)
  %w = load i64, ptr @memory

## masked.scatter
  store i64 578437695752307201, ptr @memory
  %m0 = trunc i8 %lo to i1
  %l1 = lshr i8 %lo, 1
  %m1 = trunc i8 %l1 to i1
  %v0 = insertelement <2 x i1> poison, i1 %m0, i32 0
  %mask = insertelement <2 x i1> %v0, i1 %m1, i32 1
  %p0 = insertelement <2 x i8> <i8 9, i8 9>, i8 %hi, i32 1
  %g0 = insertelement <2 x ptr> poison, ptr getelementptr (i8, ptr @memory, i64 3), i32 0
  %places = insertelement <2 x ptr> %g0, ptr getelementptr (i8, ptr @memory, i64 1), i32 1
  call void @llvm.masked.scatter.v2i8.v2p0(<2 x i8> %p0, <2 x ptr> %places, i32 1, <2 x i1> %mask)
  %w = load i64, ptr @memory
