//! The allocator of the extension module, so that benchmarks measure the same as users get.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
