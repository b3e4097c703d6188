//! Closures that the library calls, and objects that it counts.

mod support;

use schedq::{
    Action, Builder, Change, Error, Event, Failure, Place, Plugin, Plugins, Spec, Worker,
};
use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{built, opened, place_of, with_engines, Counted};

/// Panics are the point here, so their words would only be noise. Tests of this file share it: it does nothing else.
fn quietly<R>(run: impl FnOnce() -> R) -> std::thread::Result<R> {
    let _one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let answer = catch_unwind(AssertUnwindSafe(run));
    std::panic::set_hook(hook);
    answer
}

static ONE: Mutex<()> = Mutex::new(());

#[test]
fn objects_live_as_long_as_the_queue_wants_them() {
    with_engines(|config| {
        let living = Arc::new(AtomicUsize::new(0));
        let (queue, worker) = opened::<Counted>(config);
        for number in 0..100 {
            worker.add(&format!("n{}", number), &Spec::new(Counted::new(number, &living))).unwrap();
        }
        assert_eq!(living.load(Ordering::SeqCst), 100);
        let kept = {
            let pod = worker.try_pop().unwrap().unwrap();
            let kept = pod.share_object();
            worker.done(pod).unwrap();
            kept
        };
        for _ in 1..50 {
            worker.done(worker.try_pop().unwrap().unwrap()).unwrap();
        }
        assert_eq!(kept.0, 0);
        drop(worker);
        drop(queue);
        assert_eq!(living.load(Ordering::SeqCst), 1);
        drop(kept);
        assert_eq!(living.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn replaced_and_changed_objects_are_let_go() {
    with_engines(|config| {
        let living = Arc::new(AtomicUsize::new(0));
        let mut builder = Builder::<Counted>::new(config.max_backoff(Duration::ZERO)).unwrap();
        let fit = Plugin::new("Fit").interest_if("Node", Action::ADD, |pod: &Counted, old, new| {
            old.is_none() && new.map_or(false, |new| new.0 == pod.0)
        });
        let fit = builder.plugin(fit).unwrap();
        let (queue, worker) = built(builder);
        worker.add("a", &Spec::new(Counted::new(1, &living))).unwrap();
        let pod = worker.try_pop().unwrap().unwrap();
        let node = Arc::new(Counted::new(2, &living));
        // It is kept for the pod in flight, which becomes 2 when it fails.
        worker.notify(&Change::new(Event::NODE_ADD).after(&node)).unwrap();
        drop(node);
        assert_eq!(living.load(Ordering::SeqCst), 2);
        let failure = Failure::rejected(fit).newest(Spec::new(Counted::new(2, &living)));
        assert_eq!(worker.fail(pod, &failure).unwrap().unwrap().place, Place::Active);
        drop(failure);
        drop((worker, queue));
        assert_eq!(living.load(Ordering::SeqCst), 0);
    });
}

fn rejected(worker: &Worker<u32>, name: &str, by: Plugins) {
    worker.add(name, &Spec::new(1)).unwrap();
    let pod = worker.try_pop().unwrap().unwrap();
    assert_eq!(worker.fail(pod, &Failure::rejected(by)).unwrap().unwrap().place, Place::Parked);
}

#[test]
fn a_hint_or_a_gate_that_panics_counts_as_yes_and_is_told() {
    with_engines(|config| {
        let mut builder = Builder::<u32>::new(config.max_backoff(Duration::ZERO)).unwrap();
        let hint = |_: &u32, _: Option<&u32>, _: Option<&u32>| -> bool { panic!("a hint") };
        let fit =
            builder.plugin(Plugin::new("Fit").interest_if("Node", Action::ADD, hint)).unwrap();
        builder
            .plugin(Plugin::new("Gate").gate(|pod: &u32| *pod != 7 || panic!("a gate")))
            .unwrap();
        let (queue, worker) = built(builder);
        rejected(&worker, "a", fit);
        assert!(queue.take_panic().is_none());
        let moved = quietly(|| worker.notify(&Change::new(Event::NODE_ADD)).unwrap()).unwrap();
        assert_eq!(moved.to_active, 1);
        let placed = quietly(|| worker.add("gated", &Spec::new(7)).unwrap().place).unwrap();
        assert_eq!(placed, Place::Active);
        let payload = queue.take_panic().unwrap();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"a hint"));
        assert!(queue.take_panic().is_none());
    });
}

#[test]
fn a_closure_of_the_call_panics_through_the_call_and_leaves_the_queue_whole() {
    with_engines(|config| {
        let mut builder = Builder::<u32>::new(config.max_backoff(Duration::ZERO)).unwrap();
        let fit = builder.plugin(Plugin::new("Fit").interest("Node", Action::ADD)).unwrap();
        let (queue, worker) = built(builder);
        rejected(&worker, "a", fit);
        let mut visits = 0;
        let visited = quietly(|| {
            worker.snapshot(|_| -> ControlFlow<()> {
                visits += 1;
                panic!("a visitor")
            })
        });
        assert_eq!(visited.unwrap_err().downcast_ref::<&str>(), Some(&"a visitor"));
        let precheck = |_: &u32| -> bool { panic!("a precheck") };
        let change = Change::new(Event::NODE_ADD).precheck(&precheck);
        assert!(quietly(|| worker.notify(&change)).is_err());
        assert!(
            quietly(|| worker.get(worker.find("a").unwrap().unwrap().pod, |_| panic!())).is_err()
        );
        assert_eq!((visits, place_of(&worker, "a")), (1, Some(Place::Parked)));
        assert!(queue.take_panic().is_none());
    });
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a destructor");
    }
}

#[test]
fn a_destructor_that_panics_ends_at_the_library() {
    with_engines(|config| {
        let (queue, worker) = opened::<Bomb>(config);
        let object = Arc::new(Bomb);
        worker.add("a", &Spec::new(object.clone())).unwrap();
        worker.done(worker.try_pop().unwrap().unwrap()).unwrap();
        let ended = quietly(move || {
            // Whoever lets go last: this thread now, or the library at the end.
            let last_is_here = Arc::strong_count(&object) == 1;
            assert_eq!(catch_unwind(AssertUnwindSafe(|| drop(object))).is_err(), last_is_here);
            drop((worker, queue));
        });
        assert!(ended.is_ok());
    });
}

#[test]
fn a_closure_that_calls_its_queue_is_refused() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        worker.add("a", &Spec::new(1)).unwrap();
        let mut answers = Vec::new();
        worker
            .snapshot(|_| {
                answers.push(worker.add("b", &Spec::new(1)).unwrap_err());
                answers.push(worker.try_pop().unwrap_err());
                answers.push(queue.close().unwrap_err());
                answers.push(queue.worker().unwrap_err());
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(answers.len(), 4);
        for answer in answers {
            assert!(matches!(&answer, Error::Busy(words) if !words.is_empty()), "{:?}", answer);
        }
    });
}

#[test]
fn affinity_and_assigned_pods() {
    with_engines(|config| {
        let mut builder = Builder::<u32>::new(config.max_backoff(Duration::ZERO)).unwrap();
        builder.affinity(|pod, assigned| pod == assigned);
        let spread = Plugin::new("Spread").spread().interest("AssignedPod", Action::ADD);
        let spread = builder.plugin(spread).unwrap();
        let other =
            builder.plugin(Plugin::new("Other").interest("AssignedPod", Action::ADD)).unwrap();
        let (_, worker) = built(builder);
        for (name, number, by) in
            [("ns/one", 1, other), ("ns/two", 2, other), ("ns/three", 3, spread)]
        {
            worker.add(name, &Spec::new(number).affinity()).unwrap();
            let pod = worker.try_pop().unwrap().unwrap();
            worker.fail(pod, &Failure::rejected(by)).unwrap();
        }
        let placed = Arc::new(2);
        let change = Change::new(Event::ASSIGNED_POD_ADD).after(&placed);
        assert_eq!(worker.assigned_pod_added(&change, "elsewhere").unwrap().to_active, 1);
        assert_eq!(place_of(&worker, "ns/two"), Some(Place::Active));
        let unknown = Arc::new(9);
        let change = Change::new(Event::ASSIGNED_POD_ADD).after(&unknown);
        assert_eq!(worker.assigned_pod_updated(&change, "elsewhere").unwrap().to_active, 0);
        assert_eq!(worker.assigned_pod_updated(&change, "ns").unwrap().to_active, 1);
        assert_eq!(place_of(&worker, "ns/three"), Some(Place::Active));
    });
}
