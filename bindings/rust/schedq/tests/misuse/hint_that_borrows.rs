//! A hint lives as long as the queue.
use schedq::{Action, Plugin};

fn main() {
    let most = 5;
    let hint = |pod: &u32, _: Option<&u32>, _: Option<&u32>| *pod < most; //~ E0373
    let _plugin = Plugin::new("Fit").interest_if("Node", Action::ADD, hint);
}
