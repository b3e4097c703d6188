//! Hints run on any thread.
use schedq::{Action, Plugin};
use std::rc::Rc;

fn main() {
    let asked = Rc::new(1);
    let hint = move |_: &u32, _: Option<&u32>, _: Option<&u32>| *asked == 1;
    let _ = Plugin::new("Fit").interest_if("Node", Action::ADD, hint); //~ E0277
}
