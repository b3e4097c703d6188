//! A queue, three pods, and what one holder does with them.

use schedq::{Config, Error, Queue, Spec};

fn main() -> Result<(), Error> {
    let queue: Queue<u32> = Queue::new(Config::new())?;
    let worker = queue.worker()?;
    worker.add("web/1", &Spec::new(2))?;
    worker.add("web/2", &Spec::new(4))?;
    worker.add("db/1", &Spec::new(8).priority(10))?;

    while let Some(pod) = worker.try_pop()? {
        println!("{} {}", pod.name(), pod.object());
        worker.done(pod)?;
    }
    Ok(())
}
