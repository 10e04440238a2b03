//! Names of C++ functions as the source writes them. The function that reads mangled names is in the C++ library that
//! CaDiCaL needs.
use std::ffi::{CStr, CString, c_char, c_int, c_void};

unsafe extern "C" {
    fn __cxa_demangle(
        name: *const c_char,
        buffer: *mut c_char,
        length: *mut usize,
        status: *mut c_int,
    ) -> *mut c_char;
    fn free(memory: *mut c_void);
}

/// The name of a function for messages and reports: the name itself, unless it is a mangled one.
pub fn demangled(name: &str) -> String {
    let plain = || name.to_string();
    let Some(text) = name.starts_with("_Z").then(|| CString::new(name).ok()).flatten() else {
        return plain();
    };
    let mut status = 0;
    // SAFETY: `text` ends with a zero; without a buffer the result is allocated, and null if the name is not mangled.
    let found =
        unsafe { __cxa_demangle(text.as_ptr(), std::ptr::null_mut(), std::ptr::null_mut(), &raw mut status) };
    if found.is_null() {
        return plain();
    }
    // SAFETY: the result is a string that was allocated with `malloc`.
    unsafe {
        let readable = CStr::from_ptr(found).to_string_lossy().into_owned();
        free(found.cast());
        readable
    }
}

#[cfg(test)]
mod tests {
    use super::demangled;

    #[test]
    fn only_mangled_names_change() {
        let names = [
            ("main", "main"),
            ("_Z", "_Z"),
            ("_Zebra", "_Zebra"),
            ("_ZN5Stack3popEv", "Stack::pop()"),
            ("_ZNK3abc5valueIiEET_v", "int abc::value<int>() const"),
        ];
        for (name, wanted) in names {
            assert_eq!(demangled(name), wanted);
        }
    }
}
