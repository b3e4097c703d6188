//! Hints see an object on several threads at once.
use schedq::{Builder, Config};
use std::cell::Cell;

fn main() {
    let _ = Builder::<Cell<u32>>::new(Config::new()); //~ E0277
}
