//! A gate runs on several threads at once.
use schedq::Plugin;

fn main() {
    let mut asked = 0;
    let _ = Plugin::new("Gate").gate(move |_: &u32| {
        asked += 1; //~ E0594
        true
    });
}
