//! Training jobs that run whole or not at all: the pods of each are a group.

use schedq::{
    Action, Builder, Change, Config, Error, Failure, GroupOutcome, GroupSpec, Plugin, Plugins,
    PoppedGroup, Spec, Taken, Worker,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// What a pod is of, and what an event is about.
struct Job {
    name: &'static str,
    pods: usize,
}

fn try_job(
    worker: &Worker<Job>,
    mut job: PoppedGroup<Job>,
    free: &AtomicUsize,
    gpus: Plugins,
) -> Result<(), Error> {
    let (number, pods) = (job.group(), job.take_members());
    if pods.len() <= free.load(Ordering::Relaxed) {
        free.fetch_sub(pods.len(), Ordering::Relaxed);
        println!("{} runs on {} GPUs", pods[0].object().name, pods.len());
        worker.done_many(pods)?;
        worker.group_done(job, GroupOutcome::Placed)?;
    } else {
        for pod in pods {
            worker.fail(pod, &Failure::rejected(gpus))?;
        }
        let ended = worker.group_done(job, GroupOutcome::Rejected)?;
        println!("job {} is {}", number, ended.place);
    }
    Ok(())
}

fn schedule(worker: &Worker<Job>, free: &AtomicUsize, gpus: Plugins) -> Result<(), Error> {
    while let Some(taken) = worker.try_pop_group()? {
        match taken {
            Taken::Group(job) => try_job(worker, job, free, gpus)?,
            Taken::Pod(pod) => {
                println!("{} needs no other", pod.name());
                worker.done(pod)?;
            }
        }
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let free = Arc::new(AtomicUsize::new(6));
    // no backoff: an event brings them back at once
    let mut builder = Builder::new(Config::new().max_backoff(Duration::ZERO))?;
    let back = builder.event("GPU", Action::ADD, "")?;
    // Asked for one member after the other: a yes brings back the whole job.
    let hint = free.clone();
    let gpus = Plugin::new("GPUs").interest_if("GPU", Action::ADD, move |job: &Job, _, _| {
        job.pods <= hint.load(Ordering::Relaxed)
    });
    let gpus = builder.plugin(gpus)?;
    let queue = builder.build();
    let worker = queue.worker()?;

    for (number, (name, pods)) in (1..).zip([("film", 4), ("voice", 4), ("map", 3)]) {
        worker.group_add(number, &GroupSpec::new(pods as u32))?;
        let missing = usize::from(name == "map");
        for rank in missing..pods {
            let pod = Spec::new(Job { name, pods }).group(number);
            worker.add(&format!("{}/{}", name, rank), &pod)?;
        }
    }
    worker.add("report", &Spec::new(Job { name: "report", pods: 1 }))?;
    schedule(&worker, &free, gpus)?;

    let waiting = worker.group_get(3)?.expect("it is declared").waiting;
    println!("job 3 is incomplete: {} of 3 wait", waiting);
    free.fetch_add(4, Ordering::Relaxed); // they are back before the queue hears of it
    worker.notify(&Change::new(back))?;
    schedule(&worker, &free, gpus)
}
