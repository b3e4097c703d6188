//! An object lives as long as the queue wants it.
use schedq::{Config, Queue, Spec};

fn main() {
    let text = String::from("mine");
    let queue: Queue<&'static str> = Queue::new(Config::new()).unwrap();
    let worker = queue.worker().unwrap();
    let _ = worker.add("a", &Spec::new(text.as_str())); //~ E0597
}
