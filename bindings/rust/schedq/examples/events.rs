//! Pods that fit nowhere wait until something changes that could help them.

use schedq::{
    Action, Builder, Change, Config, Error, Event, Failure, Plugin, Plugins, Profile, Spec, Worker,
};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// What the queue is told of: all objects of a queue are of one type.
enum Object {
    Task { cpu: u32 },
    Node { free: AtomicU32 },
}

fn fits(task: &Object, node: &Object) -> bool {
    match (task, node) {
        (Object::Task { cpu }, Object::Node { free }) => *cpu <= free.load(Ordering::Relaxed),
        _ => false,
    }
}

fn take(task: &Object, node: &Object) {
    if let (Object::Task { cpu }, Object::Node { free }) = (task, node) {
        free.fetch_sub(*cpu, Ordering::Relaxed);
    }
}

fn schedule(worker: &Worker<Object>, fit: Plugins, nodes: &[Arc<Object>]) -> Result<(), Error> {
    while let Some(pod) = worker.try_pop()? {
        let name = pod.name().to_string();
        match nodes.iter().find(|node| fits(pod.object(), node)) {
            Some(node) => {
                take(pod.object(), node);
                worker.done(pod)?;
                println!("{} runs", name);
            }
            None => {
                let failed = worker.fail(pod, &Failure::rejected(fit))?;
                println!("{} is {}", name, failed.expect("nobody deleted it").place);
            }
        }
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    // no backoff: an event brings them back at once
    let mut builder = Builder::new(Config::new().max_backoff(Duration::ZERO))?;
    let fit = Plugin::new("Fit").interest_if("Node", Action::ADD, |task, _old, new| {
        new.map_or(false, |node| fits(task, node))
    });
    let fit = builder.plugin(fit)?;
    let queue = builder.build();
    let worker = queue.worker()?;
    let mut nodes = vec![Arc::new(Object::Node { free: AtomicU32::new(2) })];

    worker.add("small", &Spec::new(Object::Task { cpu: 1 }))?;
    worker.add("large", &Spec::new(Object::Task { cpu: 8 }))?;
    worker.add("larger", &Spec::new(Object::Task { cpu: 32 }))?;
    schedule(&worker, fit, &nodes)?;

    let node = Arc::new(Object::Node { free: AtomicU32::new(16) });
    nodes.push(node.clone()); // first where the program looks, then the queue
    worker.notify(&Change::new(Event::NODE_ADD).after(&node))?;
    schedule(&worker, fit, &nodes)?;

    for (plugin, pods) in worker.count_reasons(Profile::default())?.parked_by {
        let name = queue.rejector_name(Profile::default(), plugin);
        println!("{} waits for {}", pods, name.unwrap_or("nobody"));
    }
    worker.snapshot(|pod| {
        println!("{} is still {}", pod.name(), pod.place());
        ControlFlow::Continue(())
    })?;
    Ok(())
}
