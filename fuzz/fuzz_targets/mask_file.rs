//! Fuzz target for mask files, archives and token indices; see `grammata_testing::mask_files::mask_file`.

#![no_main]

use grammata_testing::mask_files;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mask_files::mask_file(bytes));
