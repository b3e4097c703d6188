//! The queue drops objects on any thread.
use schedq::{Config, Queue};
use std::rc::Rc;

fn main() {
    let _ = Queue::<Rc<u32>>::new(Config::new()); //~ E0277
}
