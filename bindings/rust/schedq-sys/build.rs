//! Finds the installed schedq by pkg-config: SCHEDQ_STATIC=1 links the static library.

fn main() {
    let found = match pkg_config::Config::new().range_version("0.1".."0.2").probe("schedq") {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{}", error);
            eprintln!("schedq-sys needs schedq 0.1, the C library: install it, or set PKG_CONFIG_PATH to its lib/pkgconfig");
            std::process::exit(1);
        }
    };
    // Of an installation in /usr pkg-config names no folder of headers.
    let include = pkg_config::get_variable("schedq", "includedir").unwrap_or_default();
    println!("cargo:rustc-env=SCHEDQ_INCLUDE={}", include);
    println!("cargo:include={}", include);
    println!("cargo:rerun-if-changed=build.rs");
    // cargo links again when the library is another.
    for folder in found.link_paths {
        for name in ["libschedq.so", "libschedq.a"] {
            let library = folder.join(name);
            if library.exists() {
                println!("cargo:rerun-if-changed={}", library.display());
            }
        }
    }
}
