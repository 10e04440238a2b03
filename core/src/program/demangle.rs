//! Names of C++ and Rust functions as the source writes them. The function that reads C++'s mangled names is in the C++
//! library that CaDiCaL needs.
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
    // Rust's first, whose older form (`_ZN...17h<hash>E`) is one of C++ as well.
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
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
            (
                "_ZN4core6option15Option$LT$T$GT$6unwrap17h0123456789abcdefE",
                "core::option::Option<T>::unwrap",
            ),
            ("_RNvNtCsjrHSEGnQ3l9_3std2rt19lang_start_internal", "std::rt::lang_start_internal"),
            ("_Rebuild", "_Rebuild"),
            ("_ZNK3abc5valueIiEET_v", "int abc::value<int>() const"),
        ];
        for (name, wanted) in names {
            assert_eq!(demangled(name), wanted);
        }
    }
}
