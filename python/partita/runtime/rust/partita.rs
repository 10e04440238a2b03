//! Symbolic inputs for Rust programs that Partita explores.
//!
//! ```ignore
//! let count: u32 = partita::symbolic("count");
//! partita::assume(count < 10);
//! ```
//!
//! With `--cfg partita` (as `partita run prog.rs` compiles it) the inputs are symbolic. Without it the program runs
//! natively, and takes the values of its inputs from the test that the environment variable `PARTITA_REPLAY_TEST` or
//! `KTEST_FILE` names, in the order in which it asks for them.

/// Types whose values can be made of symbolic bytes: integers, floating-point numbers, `bool`, `char`, and arrays.
///
/// # Safety
/// Every pattern of bytes for which `is_valid` holds must be a value of the type, and it must have no padding.
pub unsafe trait Symbolic: Copy {
    /// Do these bytes make a valid value?
    fn is_valid(bytes: &[u8]) -> bool {
        let _ = bytes;
        true
    }
}

macro_rules! symbolic {
    ($($type:ty)*) => { $(unsafe impl Symbolic for $type {})* };
}
symbolic! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 }

unsafe impl Symbolic for bool {
    fn is_valid(bytes: &[u8]) -> bool {
        bytes[0] <= 1
    }
}

unsafe impl Symbolic for char {
    fn is_valid(bytes: &[u8]) -> bool {
        let code = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        // Without short-circuits: one condition, one path.
        (code < 0xd800) | ((code > 0xdfff) & (code < 0x11_0000))
    }
}

unsafe impl<T: Symbolic, const N: usize> Symbolic for [T; N] {
    fn is_valid(bytes: &[u8]) -> bool {
        let size = std::mem::size_of::<T>();
        (0..N).fold(true, |valid, i| valid & T::is_valid(&bytes[i * size..(i + 1) * size]))
    }
}

/// A value all of whose bytes are symbolic.
pub fn symbolic<T: Symbolic>(name: &str) -> T {
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    let size = std::mem::size_of::<T>();
    // SAFETY: the bytes of `value`, which are all written.
    let bytes = unsafe { std::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size) };
    if size != 0 {
        input::make(bytes, name);
    }
    assume(T::is_valid(bytes));
    // SAFETY: the bytes are a value of the type.
    unsafe { value.assume_init() }
}

/// Makes every element of a slice symbolic: one input of that name.
pub fn make_symbolic<T: Symbolic>(slice: &mut [T], name: &str) {
    let size = std::mem::size_of_val(slice);
    let mut bytes = vec![0; size];
    if size != 0 {
        input::make(&mut bytes, name);
    }
    let each = std::mem::size_of::<T>().max(1);
    assume(bytes.chunks(each).fold(true, |valid, element| valid & T::is_valid(element)));
    // SAFETY: as many bytes as the slice has, each element a value of the type.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), slice.as_mut_ptr().cast::<u8>(), size) };
}

/// A vector of `len` symbolic elements.
pub fn vector<T: Symbolic + Default>(len: usize, name: &str) -> Vec<T> {
    let mut elements = vec![T::default(); len];
    make_symbolic(&mut elements, name);
    elements
}

/// Drops paths on which the condition is false.
pub fn assume(condition: bool) {
    input::assume(condition);
}

#[cfg(partita)]
mod input {
    use std::ffi::{CString, c_char, c_int, c_void};

    unsafe extern "C" {
        fn partita_make_symbolic(object: *mut c_void, size: usize, name: *const c_char);
        fn __VERIFIER_assume(condition: c_int);
    }

    pub fn make(bytes: &mut [u8], name: &str) {
        let name = CString::new(name).expect("a name without zero bytes");
        // An object of its own, because a whole object is made symbolic.
        let mut object = bytes.to_vec().into_boxed_slice();
        // SAFETY: the whole object, and a name that ends with a zero.
        unsafe { partita_make_symbolic(object.as_mut_ptr().cast(), object.len(), name.as_ptr()) };
        bytes.copy_from_slice(&object);
    }

    pub fn assume(condition: bool) {
        // SAFETY: it has no preconditions.
        unsafe { __VERIFIER_assume(condition.into()) };
    }
}

#[cfg(not(partita))]
mod input {
    use std::sync::Mutex;

    /// Objects of the test that are not used yet, last one first.
    static OBJECTS: Mutex<Option<Vec<(String, Vec<u8>)>>> = Mutex::new(None);

    pub fn make(bytes: &mut [u8], name: &str) {
        let mut objects = OBJECTS.lock().expect("no panic while it is held");
        let left = objects.get_or_insert_with(|| {
            let file = std::env::var_os("PARTITA_REPLAY_TEST").or_else(|| std::env::var_os("KTEST_FILE"));
            let file = file.unwrap_or_else(|| {
                diverge("KTEST_FILE is not set: run the program with `partita run`, or with the name of a test in it")
            });
            let data = std::fs::read(&file)
                .unwrap_or_else(|error| diverge(&format!("cannot read {}: {error}", file.to_string_lossy())));
            let mut found = parse(&data).unwrap_or_else(|| diverge("the test is damaged"));
            found.retain(|(name, _)| name != "model_version");
            found.reverse();
            found
        });
        let Some((known, data)) = left.pop() else { diverge(&format!("the test has no more inputs, wanted `{name}`")) };
        if known != name || data.len() != bytes.len() {
            let (have, want) = (data.len(), bytes.len());
            diverge(&format!("the test has `{known}` of {have} bytes, wanted `{name}` of {want}"));
        }
        bytes.copy_from_slice(&data);
    }

    pub fn assume(condition: bool) {
        if !condition {
            diverge("an assumption does not hold");
        }
    }

    /// Ends the program, which does not follow the test.
    fn diverge(why: &str) -> ! {
        match std::env::var_os("PARTITA_REPLAY_DIVERGED") {
            Some(file) => std::fs::write(file, why).expect("the file of `partita replay`"),
            None => eprintln!("partita: {why}"),
        }
        std::process::exit(1);
    }

    /// Reads a `.ktest`: arguments, then objects, all with their lengths in front.
    fn parse(data: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
        let mut rest = data.strip_prefix(b"KTEST").or_else(|| data.strip_prefix(b"BOUT\n"))?;
        let version = number(&mut rest)?;
        for _ in 0..number(&mut rest)? {
            counted(&mut rest)?;
        }
        if version >= 2 {
            number(&mut rest)?;
            number(&mut rest)?;
        }
        let mut objects = Vec::new();
        for _ in 0..number(&mut rest)? {
            let name = String::from_utf8_lossy(counted(&mut rest)?).into_owned();
            objects.push((name, counted(&mut rest)?.to_vec()));
        }
        Some(objects)
    }

    fn number(rest: &mut &[u8]) -> Option<usize> {
        let (bytes, after) = rest.split_first_chunk()?;
        *rest = after;
        Some(u32::from_be_bytes(*bytes) as usize)
    }

    fn counted<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
        let length = number(rest)?;
        let (bytes, after) = rest.split_at_checked(length)?;
        *rest = after;
        Some(bytes)
    }
}
