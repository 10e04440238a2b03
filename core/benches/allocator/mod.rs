//! The allocator of the extension module: the benchmarks measure what users run.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
