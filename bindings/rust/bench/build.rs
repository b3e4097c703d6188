//! Compiles the loops in C that bindings/go measures itself beside.

use std::env;
use std::path::Path;
use std::process::Command;

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status().expect(program);
    assert!(status.success(), "{} {:?}", program, arguments);
}

fn main() {
    let loops = concat!(env!("CARGO_MANIFEST_DIR"), "/../../go/internal/cloop");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let include = env::var("DEP_SCHEDQ_INCLUDE").expect("schedq-sys sets it");
    let (source, object) = (format!("{}/cloop.c", loops), format!("{}/cloop.o", out));
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    run(&compiler, &["-O2", "-fPIC", "-I", &include, "-c", &source, "-o", &object]);
    let library = Path::new(&out).join("libcloop.a");
    run("ar", &["rcs", library.to_str().expect("UTF-8"), &object]);
    println!("cargo:rustc-link-search=native={}", out);
    println!("cargo:rustc-link-lib=static=cloop");
    println!("cargo:rerun-if-changed={}", loops);
}
