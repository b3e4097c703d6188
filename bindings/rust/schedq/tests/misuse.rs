//! What must not compile does not: each file of `tests/misuse` is wrong in the lines that end in `//~ CODE`, with that error
//! of the compiler, and nowhere else.
//!
//! trybuild compiles them. It writes what the compiler said beside a copy of each; the words differ from release to release,
//! the codes and lines do not.

use std::collections::BTreeSet;
use std::path::Path;

/// (line, code) of each error, as the file itself says.
fn wanted(source: &str) -> BTreeSet<(usize, String)> {
    let lines = source.lines().enumerate();
    let marked = lines.filter_map(|(at, line)| Some((at + 1, line.split_once("//~ ")?.1.into())));
    marked.collect()
}

/// The same, as the compiler says: "error[CODE]: ..." and, below it, " --> PATH:LINE:COLUMN".
fn found(said: &str) -> BTreeSet<(usize, String)> {
    let mut errors = BTreeSet::new();
    let mut code = None;
    for line in said.lines() {
        if line.starts_with("error") {
            let named = line.strip_prefix("error[").and_then(|rest| rest.split(']').next());
            code = Some(named.unwrap_or("an error").to_string());
        } else if line.starts_with("warning") {
            code = None;
        }
        if line.trim_start().starts_with("--> ") {
            if let Some(code) = code.take() {
                let at = line.split(".rs:").nth(1).and_then(|rest| rest.split(':').next());
                errors.insert((at.and_then(|at| at.parse().ok()).expect("a line"), code));
            }
        }
    }
    errors
}

#[test]
fn what_must_not_compile_does_not() {
    let copies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("misuse");
    let _ = std::fs::remove_dir_all(&copies);
    std::fs::create_dir_all(&copies).unwrap();
    let mut names = Vec::new();
    for entry in
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuse")).unwrap()
    {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copies.join(entry.file_name())).unwrap();
        names.push(entry.file_name());
    }
    assert!(names.len() > 10);

    std::env::set_var("TRYBUILD", "overwrite");
    let cases = trybuild::TestCases::new();
    cases.compile_fail(copies.join("*.rs"));
    drop(cases); // this compiles them

    let mut wrong = String::new();
    for name in names {
        let file = copies.join(&name);
        let source = std::fs::read_to_string(&file).unwrap();
        let said = std::fs::read_to_string(file.with_extension("stderr")).unwrap();
        if found(&said) != wanted(&source) {
            wrong += &format!("{:?}: {:?}\n{}\n", name, wanted(&source), said);
        }
    }
    assert!(wrong.is_empty(), "not what the files say, but what the compiler said:\n{}", wrong);
}
