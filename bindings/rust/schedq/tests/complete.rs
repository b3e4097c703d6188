//! Each function of the headers is called, or left out on purpose.

use std::collections::BTreeSet;

const LEFT_OUT: &[(&str, &str)] = &[
    ("schedq_destroy", "a queue ends with its last clone, with its pods"),
    ("schedq_pop_group_for", "pop_group_for may pop again with more room, until the same time"),
    ("schedq_worker_adopt", "no thread dies inside a call of this crate"),
    ("schedq_version", "schedq-sys has the version, and a test that it is the library's"),
    ("schedq_plugin_name", "a Plugin without interests is the same"),
    ("schedq_wait_callback", "the descriptor wakes loops and tasks"),
    ("schedq_metrics_write_named", "each queue writes a text of its own, for a path of its own"),
    ("schedq_words", "Queue has the time and the deadline, Stats the counts"),
    (
        "schedq_pod_list_add",
        "pre-queueing hints are left out: a precheck narrows a change in one call",
    ),
    // For hosts that must not be called back: a Rust program can be.
    ("schedq_event_begin", "host"),
    ("schedq_event_stamp", "host"),
    ("schedq_candidates", "host"),
    ("schedq_apply", "host"),
    ("schedq_apply_many", "host"),
];

fn sources() -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Words of a text that begin with schedq_.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    words.filter(|word| word.starts_with("schedq_") && !word.ends_with("_t")).collect()
}

#[test]
fn every_function_is_called_or_left_out_on_purpose() {
    // schedq-sys has all of the headers: a test there says so.
    let declared = include_str!("../../schedq-sys/src/lib.rs");
    let declared: BTreeSet<&str> =
        declared.split("pub fn ").skip(1).map(|rest| rest.split('(').next().unwrap()).collect();
    assert!(declared.len() > 70);
    let sources = sources();
    let code: String = sources
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let called = names(&code);
    for name in &declared {
        let left_out = LEFT_OUT.iter().any(|(left, _)| left == name);
        assert_ne!(called.contains(name), left_out, "{}: called {}", name, called.contains(name));
    }
    for (name, why) in LEFT_OUT {
        assert!(declared.contains(name) && !why.is_empty(), "{}", name);
    }
}
