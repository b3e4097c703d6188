//! Plugins are registered before the first worker.
use schedq::{Builder, Config, Plugin};

fn main() {
    let mut builder = Builder::<u32>::new(Config::new()).unwrap();
    let _queue = builder.build();
    let _ = builder.plugin(Plugin::new("late")); //~ E0382
}
