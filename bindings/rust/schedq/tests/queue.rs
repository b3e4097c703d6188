//! Pods, in each place, and what calls answer.

mod support;

use schedq::{
    classify_node_update, classify_pod_update, Action, Batch, Builder, Change, Config, Engine,
    Error, Event, Failure, History, NodeFacts, OverdueKind, Place, Plugin, Plugins, Pod, PodFacts,
    Preset, Profile, Quantity, Queue, Spec, Update, Watchdog,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use support::{built, opened, place_of, with_engines};

fn popped_names(worker: &schedq::Worker<u32>) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(pod) = worker.try_pop().unwrap() {
        names.push(pod.name().to_string());
        assert!(worker.done(pod).unwrap());
    }
    names
}

#[test]
fn what_may_go_to_other_threads_may() {
    fn goes<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    goes::<schedq::Worker<u32>>(); // and is not shared: see tests/misuse
    is_shared::<Queue<u32>>();
    is_shared::<Builder<u32>>();
    is_shared::<schedq::Popped<u32>>();
    is_shared::<schedq::Canceler<u32>>();
    is_shared::<Spec<u32>>();
    is_shared::<Error>();
}

#[test]
fn higher_priorities_go_first_then_the_older() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config);
        worker.add("web/1", &Spec::new(2)).unwrap();
        worker.add("web/2", &Spec::new(4)).unwrap();
        worker.add("db/1", &Spec::new(8).priority(10)).unwrap();
        worker.add("last", &Spec::new(1).priority(i32::MIN)).unwrap();
        worker.add("keyed", &Spec::new(1).order_key(-1)).unwrap();
        assert_eq!(popped_names(&worker), ["db/1", "keyed", "web/1", "web/2", "last"]);
    });
}

#[test]
fn a_popped_pod_tells_what_it_is() {
    with_engines(|config| {
        let (queue, worker) = opened::<String>(config.count_cycles(true));
        let object = Arc::new(String::from("an object"));
        let spec = Spec::new(object.clone()).priority(3).nominated_node(7);
        let added = worker.add("täsk/1", &spec).unwrap();
        assert_eq!((added.place, added.poppable), (Place::Active, true));
        let pod = worker.try_pop().unwrap().unwrap();
        assert_eq!((pod.name(), pod.object().as_str()), ("täsk/1", "an object"));
        assert!(Arc::ptr_eq(&pod.share_object(), &object));
        assert_eq!((pod.pod(), pod.priority(), pod.cycle()), (added.pod, 3, 1));
        assert_eq!((pod.nominated_node(), pod.profile()), (7, Profile::default()));
        assert_eq!((pod.history().attempts, pod.history().timestamp_ns), (1, added.timestamp_ns));
        assert!(pod.history().timestamp_ns <= queue.now_ns());
        assert!(!pod.from_backoff() && !pod.more() && !pod.flushed());
        assert_eq!((pod.rejected(), pod.pending()), (Plugins::NONE, Plugins::NONE));
        assert_eq!(
            (pod.backoff_expiry_ns(), format!("{:?}", pod)),
            (0, "Popped(\"täsk/1\")".into())
        );
        assert!(worker.is_alive(&pod).unwrap());
        assert!(worker.done(pod).unwrap());
        assert_eq!(place_of(&worker, "täsk/1"), None);
    });
}

#[test]
fn refusals_have_the_words_of_the_library() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config.max_pods(1).max_workers(2));
        worker.add("a", &Spec::new(1)).unwrap();
        assert_eq!(worker.add("a", &Spec::new(1)).unwrap_err(), Error::Exists);
        let full = worker.add("b", &Spec::new(1)).unwrap_err();
        assert!(matches!(&full, Error::Full(words) if words.contains("max_pods")), "{:?}", full);
        assert_eq!(full.name(), "SCHEDQ_FULL");
        let long = "n".repeat(318);
        for name in ["", "a\0b", &long] {
            let invalid = worker.add(name, &Spec::new(1)).unwrap_err();
            assert!(
                matches!(&invalid, Error::Invalid(words) if !words.is_empty()),
                "{:?}",
                invalid
            );
        }
        let invalid =
            worker.fail(worker.try_pop().unwrap().unwrap(), &Failure::rejected(Plugins::OTHERS));
        let _ = invalid; // OTHERS is a set that exists
        let second = queue.worker().unwrap();
        let full = queue.worker().unwrap_err();
        assert!(full.to_string().contains("max_workers"), "{}", full);
        drop(second);
        assert!(queue.worker().is_ok());
        queue.close().unwrap();
        let closed = worker.add("c", &Spec::new(1)).unwrap_err();
        assert_eq!((closed.clone(), closed.name()), (Error::Closed, "SCHEDQ_CLOSED"));
        assert!(!closed.to_string().is_empty());
    });
    let refused = Queue::<u32>::new(Config::new().initial_backoff(Duration::from_nanos(5)));
    assert_eq!(refused.unwrap_err().to_string(), "initial_backoff_ns 5: 1000000..3600000000000");
}

#[test]
fn more_than_memory_holds_is_refused_and_takes_nothing() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config);
        worker.add("a", &Spec::new(1)).unwrap();
        for most in [1 << 50, usize::MAX] {
            let words = format!("most {}: there is no memory for so many", most);
            assert_eq!(worker.try_pop_many(most).unwrap_err(), Error::NoMemory(words.clone()));
            assert_eq!(worker.pop_many(most).unwrap_err(), Error::NoMemory(words));
            assert!(matches!(worker.watch(&mut Watchdog::new(), most), Err(Error::NoMemory(_))));
        }
        assert_eq!(popped_names(&worker), ["a"]);
    });
}

#[test]
fn a_pod_in_flight_that_is_deleted_is_told_to_its_holder() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config);
        for name in ["done", "fail"] {
            let added = worker.add(name, &Spec::new(1)).unwrap();
            let pod = worker.try_pop().unwrap().unwrap();
            assert_eq!(worker.delete(added.pod).unwrap().unwrap().place, Place::InFlight);
            assert!(!worker.is_alive(&pod).unwrap());
            assert_eq!(pod.name(), name);
            if name == "done" {
                assert!(!worker.done(pod).unwrap());
            } else {
                assert!(worker.fail(pod, &Failure::error()).unwrap().is_none());
            }
            assert!(worker.delete(added.pod).unwrap().is_none());
            assert!(worker.delete_name(name).unwrap().is_none());
        }
    });
}

#[test]
fn a_pod_that_is_dropped_fails() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        worker.add("a", &Spec::new(1)).unwrap();
        drop(worker.try_pop().unwrap());
        assert_eq!(place_of(&worker, "a"), Some(Place::ErrorBackoff));
        worker.add("b", &Spec::new(1)).unwrap();
        let pod = worker.try_pop().unwrap().unwrap();
        let panicked = std::thread::spawn(move || {
            let _pod = pod;
            std::panic::resume_unwind(Box::new("a holder that panics"));
        });
        assert!(panicked.join().is_err());
        assert_eq!(place_of(&worker, "b"), Some(Place::ErrorBackoff));
        assert_eq!(queue.stats().unwrap().failures, 2);
    });
}

#[test]
fn a_pod_of_another_queue_is_refused_and_kept() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config.clone());
        let (_, other) = opened::<u32>(config);
        worker.add("a", &Spec::new(1)).unwrap();
        let pod = worker.try_pop().unwrap().unwrap();
        let refused = other.done(pod).unwrap_err();
        assert!(refused.to_string().contains("another queue"), "{}", refused);
        let refused = other.fail(*refused.pod, &Failure::error()).unwrap_err();
        let refused = other.done_many(vec![*refused.pod]).unwrap_err();
        assert_eq!(worker.done_many(*refused.pod).unwrap(), 1);
    });
}

#[test]
fn a_refused_failure_gives_the_pod_back() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config);
        worker.add("a", &Spec::new(1)).unwrap();
        let pod = worker.try_pop().unwrap().unwrap();
        let refused = worker.fail(pod, &Failure::rejected(nobody())).unwrap_err();
        assert!(refused.to_string().contains("rejector bits 0x2"), "{}", refused);
        assert!(worker.done(*refused.pod).unwrap());
    });
}

/// A plugin's bit that this queue never gave.
fn nobody() -> Plugins {
    let mut builder = Builder::<u32>::new(Config::new()).unwrap();
    builder.plugin(Plugin::new("one")).unwrap();
    builder.plugin(Plugin::new("two")).unwrap()
}

#[test]
fn workers_end_what_others_popped() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        worker.add("a", &Spec::new(1)).unwrap();
        let pod = worker.try_pop().unwrap().unwrap();
        drop(worker);
        let other = queue.worker().unwrap();
        assert!(std::thread::spawn(move || other.done(pod).unwrap()).join().unwrap());
    });
}

#[test]
fn a_queue_lives_as_long_as_what_was_popped() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        worker.add("a", &Spec::new(5)).unwrap();
        let pod = worker.try_pop().unwrap().unwrap();
        drop((queue, worker));
        assert_eq!((pod.name(), *pod.object()), ("a", 5));
    });
}

#[test]
fn batches() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        worker.add("n7", &Spec::new(0)).unwrap();
        let mut batch = Batch::new();
        assert!(batch.is_empty() && worker.add_many(&batch).unwrap().is_empty());
        for number in 0..100 {
            batch.push(&format!("n{}", number), Spec::new(number).priority(-1));
        }
        let answers = worker.add_many(&batch).unwrap();
        assert_eq!((answers.len(), batch.len()), (100, 100));
        for (number, answer) in answers.iter().enumerate() {
            assert_eq!(
                answer.as_ref().err(),
                (number == 7).then_some(&Error::Exists),
                "{}",
                number
            );
        }
        let pods = worker.try_pop_many(50).unwrap();
        assert_eq!((pods.len(), pods[0].name(), pods[1].name()), (50, "n7", "n0"));
        worker.delete_name("n0").unwrap();
        assert_eq!(worker.done_many(pods).unwrap(), 49);
        assert_eq!(worker.pop_many(1000).unwrap().len(), 50);
        assert!(worker.try_pop_many(5).unwrap().is_empty());
        assert!(matches!(worker.try_pop_many(0), Err(Error::Invalid(_))));
        assert_eq!(queue.stats().unwrap().adds, 100);
        batch.clear();
        batch.push("", Spec::new(1));
        batch.push("good", Spec::new(1));
        let answers = worker.add_many(&batch).unwrap();
        assert!(matches!(answers[0], Err(Error::Invalid(_))) && answers[1].is_ok());
        queue.close().unwrap();
        batch.clear();
        batch.push("late", Spec::new(1));
        assert_eq!(worker.add_many(&batch).unwrap(), [Err(Error::Closed)]);
    });
}

#[derive(Debug, PartialEq)]
struct Cpu(u32);

fn fit(config: Config) -> (Builder<Cpu>, Plugins) {
    let mut builder = Builder::new(config.max_backoff(Duration::ZERO)).unwrap();
    let fits = |task: &Cpu, _: Option<&Cpu>, node: Option<&Cpu>| {
        node.map_or(false, |node| task.0 <= node.0)
    };
    let fit = builder.plugin(Plugin::new("Fit").interest_if("Node", Action::ADD, fits)).unwrap();
    (builder, fit)
}

#[test]
fn a_change_brings_back_the_pods_that_its_hint_names() {
    with_engines(|config| {
        let (builder, fit) = fit(config);
        let (queue, worker) = built(builder);
        for (name, cpu) in [("large", 8), ("larger", 32)] {
            worker.add(name, &Spec::new(Cpu(cpu))).unwrap();
            let pod = worker.try_pop().unwrap().unwrap();
            let outcome = worker.fail(pod, &Failure::rejected(fit)).unwrap().unwrap();
            assert_eq!((outcome.place, outcome.rejected), (Place::Parked, fit));
        }
        let reasons = worker.count_reasons(Profile::default()).unwrap();
        assert_eq!((reasons.parked, reasons.parked_by), (2, vec![(fit, 2)]));
        assert_eq!(queue.rejector_name(Profile::default(), fit), Some("Fit"));
        assert!(queue.event_plugins(Profile::default(), Event::NODE_ADD).has(fit));
        assert!(!queue.event_plugins(Profile::default(), Event::NODE_DELETE).has(fit));

        let node = Arc::new(Cpu(16));
        let nobody = |_: &Cpu| false;
        let change = Change::new(Event::NODE_ADD).after(&node);
        assert_eq!(worker.notify(&change.precheck(&nobody)).unwrap().to_active, 0);
        let moved = worker.notify(&Change::new(Event::NODE_ADD).after(&node)).unwrap();
        assert_eq!(moved.to_active, 1);
        let pod = worker.try_pop().unwrap().unwrap();
        assert_eq!((pod.name(), pod.rejected()), ("large", fit));
        assert!(worker.done(pod).unwrap());

        let larger = worker.find("larger").unwrap().unwrap();
        let explained = worker.explain(larger.pod).unwrap().unwrap();
        assert_eq!((explained.place, explained.rejected), (Place::Parked, fit));
        assert!(explained.to_string().contains("rejected by Fit"), "{}", explained);
        assert!(explained.wake_ns.unwrap() > explained.now_ns && explained.freed_by.is_none());
        assert_eq!(worker.activate(&[larger.pod]).unwrap().to_active, 1);
        assert_eq!(worker.get(larger.pod, |pod| pod.place()).unwrap(), Some(Place::Active));
        assert_eq!(worker.explain(larger.pod).unwrap().unwrap().freed_by.unwrap(), "ForceActivate");
        assert_eq!(queue.stats().unwrap().hint_calls, 2);
    });
}

#[test]
fn each_interest_has_its_own_hint() {
    with_engines(|config| {
        let mut builder = Builder::<Cpu>::new(config.max_backoff(Duration::ZERO)).unwrap();
        let mut plugin = Plugin::new("many");
        for number in 0..256 {
            let hint = move |pod: &Cpu, _: Option<&Cpu>, _: Option<&Cpu>| pod.0 == number;
            plugin = plugin.interest_if(&format!("R{}", number), Action::ADD, hint);
        }
        let many = builder.plugin(plugin).unwrap();
        let events: Vec<_> = [0, 1, 15, 16, 17, 128, 200]
            .iter()
            .map(|number| {
                (*number, builder.event(&format!("R{}", number), Action::ADD, "").unwrap())
            })
            .collect();
        let (_, worker) = built(builder);
        for (number, event) in events {
            worker.add("pod", &Spec::new(Cpu(number))).unwrap();
            let pod = worker.try_pop().unwrap().unwrap();
            worker.fail(pod, &Failure::rejected(many)).unwrap();
            assert_eq!(worker.notify(&Change::new(event)).unwrap().to_active, 1, "{}", number);
            worker.delete_name("pod").unwrap();
        }
    });
    let mut builder = Builder::<Cpu>::new(Config::new()).unwrap();
    let plugin = (0..257).fold(Plugin::new("more"), |plugin, _| plugin.interest("R", Action::ADD));
    assert_eq!(builder.plugin(plugin).unwrap_err().to_string(), "interest_count 257: 0..256");
    builder.plugin(Plugin::new("twice")).unwrap();
    assert_eq!(builder.plugin(Plugin::new("twice")).unwrap_err(), Error::Exists);
    assert!(matches!(builder.plugin(Plugin::new("a\0")), Err(Error::Invalid(_))));
}

#[test]
fn gates_profiles_and_updates() {
    with_engines(|config| {
        let mut builder = Builder::<Cpu>::new(config).unwrap();
        let other = builder.profile("other").unwrap();
        let gate = Plugin::new("Gate").gate(|pod: &Cpu| pod.0 > 0).profile(other);
        let interest = gate.interest("Pod", Action::UPDATE_POD_LABEL);
        let gate = builder.plugin(interest).unwrap();
        let (_, worker) = built(builder);
        assert_eq!(worker.add("free", &Spec::new(Cpu(0))).unwrap().place, Place::Active);
        let added = worker.add("a", &Spec::new(Cpu(0)).profile(other)).unwrap();
        assert_eq!((added.place, added.gate), (Place::Gated, gate));
        assert_eq!(worker.count_reasons(other).unwrap().gated_by, [(gate, 1)]);
        let spec = Spec::new(Cpu(1)).profile(other).priority(5);
        assert!(worker.update("b", &Update::new(&spec)).unwrap().is_none());
        let events = [Event::UNSCHEDULED_POD_UPDATE_LABEL];
        let update = Update::new(&spec).events(&events).only(added.pod);
        assert_eq!(worker.update("a", &update).unwrap().unwrap().place, Place::Active);
        let update = Update::new(&spec).or_add().before(spec.object());
        assert!(worker.update("b", &update).unwrap().unwrap().added);
        let pod = worker.try_pop().unwrap().unwrap();
        assert_eq!((pod.name(), pod.object(), pod.priority()), ("a", &Cpu(1), 5));
        assert_eq!(pod.profile(), other);
        let newest = Failure::error().newest(Spec::new(Cpu(9)).profile(other).priority(7));
        assert_eq!(worker.fail(pod, &newest).unwrap().unwrap().place, Place::ErrorBackoff);
        let cpu = worker.get(added.pod, |pod| (pod.object().0, pod.priority())).unwrap();
        assert_eq!(cpu, Some((9, 7)));
    });
}

#[test]
fn a_class_is_tried_by_one_of_its_pods() {
    with_engines(|config| {
        let config = config.class_patience(Duration::from_secs(60));
        let mut builder = Builder::<u32>::new(config).unwrap();
        let fit = builder.plugin(Plugin::new("Fit").interest("Node", Action::ADD)).unwrap();
        let (queue, worker) = built(builder);
        let scout = worker.add("a", &Spec::new(0).class(7)).unwrap().pod;
        for name in ["b", "c"] {
            worker.add(name, &Spec::new(0).class(7)).unwrap();
        }
        let (first, other) =
            (worker.try_pop().unwrap().unwrap(), worker.try_pop().unwrap().unwrap());
        let kept = other.pod();
        assert_eq!(
            worker.fail(first, &Failure::rejected(fit)).unwrap().unwrap().place,
            Place::Parked
        );
        assert_eq!(
            worker.fail(other, &Failure::rejected(fit)).unwrap().unwrap().place,
            Place::Held
        );
        assert!(worker.try_pop().unwrap().is_none());
        let why = worker.explain(kept).unwrap().unwrap();
        assert_eq!((why.kept_by_class, why.class, why.scout), (true, 7, Some(scout)));
        let seen =
            worker.get(scout, |pod| (pod.kept_by_class(), pod.class(), pod.scout())).unwrap();
        assert_eq!(seen, Some((false, 7, Some(scout))));
        let stats = queue.stats().unwrap();
        assert_eq!((stats.class_hides, stats.class_turns), (2, 0));
        worker.delete(scout).unwrap();
        let next = worker.try_pop().unwrap().unwrap();
        assert_eq!(next.name(), "b");
        worker.fail(next, &Failure::rejected(fit).own_reasons()).unwrap();
        assert_eq!(worker.try_pop().unwrap().unwrap().name(), "c");
    });
}

#[test]
fn held_labelled_and_nominated_pods() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        let film = worker.add("film", &Spec::new(1).label(1)).unwrap().pod;
        for number in 0..10 {
            worker.add(&format!("ad/{}", number), &Spec::new(number).label(2)).unwrap();
        }
        assert_eq!(worker.hold(film).unwrap().unwrap().place, Place::Held);
        assert_eq!(worker.get(film, |pod| (pod.held(), pod.label())).unwrap(), Some((true, 1)));
        assert_eq!(worker.release(film).unwrap().unwrap().place, Place::Active);
        let hour = queue.now_ns() + 3_600_000_000_000;
        assert_eq!(worker.not_before(film, hour).unwrap().unwrap().place, Place::Held);
        assert_eq!(worker.get(film, |pod| pod.not_before_ns()).unwrap(), Some(hour));
        assert_eq!(worker.tick().unwrap(), Some(hour));
        assert_eq!(queue.next_deadline_ns(), Some(hour));
        assert_eq!(worker.not_before(film, 0).unwrap().unwrap().place, Place::Active);
        assert_eq!((worker.tick().unwrap(), queue.next_deadline_ns()), (None, None));
        assert_eq!(worker.label_count(2).unwrap(), 10);
        assert_eq!(worker.label_hold(2).unwrap(), 10);
        assert_eq!(queue.stats().unwrap().held, 10);
        assert_eq!(worker.label_release(2).unwrap(), 10);
        assert_eq!(worker.label_cancel(2).unwrap(), 10);
        assert!(matches!(worker.label_count(0), Err(Error::Invalid(_))));
        let later = worker.add("later", &Spec::new(0).not_before_ns(hour)).unwrap();
        assert_eq!(later.place, Place::Held);

        assert!(worker.nominate(film, 3).unwrap());
        let mut nominated = Vec::new();
        let each = |pod: &schedq::PodInfo<'_, u32>| {
            nominated.push((pod.pod(), pod.nominated_node(), pod.nomination() > 0));
            ControlFlow::Continue(())
        };
        worker.nominated_pods(3, each).unwrap();
        assert_eq!(nominated, [(film, 3, true)]);
        worker.delete(film).unwrap();
        assert!(!worker.nominate(film, 3).unwrap());
        assert!(worker.hold(film).unwrap().is_none());
    });
}

#[test]
fn looks_take_nothing() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        let names = |count: Option<usize>| {
            let mut names = Vec::new();
            let each = |pod: &schedq::PodInfo<'_, u32>| {
                names.push(pod.name().to_string());
                ControlFlow::Continue(())
            };
            let found = match count {
                None => worker.peek(each),
                Some(count) => worker.peek_many(count, each),
            };
            assert_eq!(found.unwrap(), !names.is_empty());
            names
        };
        assert_eq!(names(None), [""; 0]);
        let pods: Vec<Pod> =
            (0..3).map(|n| worker.add(&format!("p{}", n), &Spec::new(n)).unwrap().pod).collect();
        assert_eq!((names(None), names(Some(2)).len()), (vec!["p0".into()], 2));
        assert_eq!(worker.position(pods[2]).unwrap(), Some((2, 2)));
        let mut seen = 0;
        worker
            .snapshot(|pod| {
                seen += 1;
                assert_eq!(
                    (pod.place(), pod.deleted(), pod.pop_order()),
                    (Place::Active, false, 0)
                );
                ControlFlow::Break(())
            })
            .unwrap();
        assert_eq!(seen, 1);
        let pod = worker.try_pop().unwrap().unwrap();
        assert_eq!(worker.position(pod.pod()).unwrap(), None);
        let looked = worker.get(pod.pod(), |pod| (pod.place(), pod.share_object())).unwrap();
        assert_eq!(looked, Some((Place::InFlight, Arc::new(0))));
        assert_eq!(queue.pending_text(), "activeQ:2; backoffQ:0; unschedulablePods:0");
        assert!(queue.metrics().unwrap().contains("\nscheduler_pending_pods{"));
        let stats = queue.stats().unwrap();
        assert_eq!((stats.active, stats.inflight, stats.pops, stats.workers), (2, 1, 1, 1));
        assert!(stats.bytes_entries > 0);
        queue.reserve(1000, 2, 1).unwrap();
        assert!(matches!(queue.reserve(u32::MAX, 2, 1), Err(Error::Invalid(_))));
        queue.trim().unwrap();
    });
}

#[test]
fn a_watchdog_names_what_is_overdue() {
    with_engines(|config| {
        let second = 1_000_000_000;
        let (queue, worker) = opened::<u32>(config.external_clock(true).start_ns(second));
        let mut dog = Watchdog::new().limits(10 * second, 0, 0, 0);
        let added = worker.add("a", &Spec::new(1)).unwrap();
        let pod = worker.try_pop().unwrap().unwrap();
        assert_eq!(worker.watch(&mut dog, 4).unwrap(), []);
        queue.advance(20 * second).unwrap();
        let overdue = worker.watch(&mut dog, 4).unwrap();
        assert_eq!(overdue.len(), 1);
        assert_eq!((overdue[0].kind, overdue[0].pod), (OverdueKind::InFlight, Some(added.pod)));
        assert!(overdue[0].text.starts_with("pod a: popped 19.000 s ago"));
        worker.done(pod).unwrap();
        assert_eq!((worker.watch(&mut dog, 4).unwrap(), dog.is_complete()), (vec![], true));
        let mut bad = Watchdog::new().limits(-1, 0, 0, 0);
        assert!(matches!(worker.watch(&mut bad, 4), Err(Error::Invalid(_))));
    });
}

#[test]
fn an_external_clock_is_the_callers() {
    with_engines(|config| {
        let second = 1_000_000_000;
        let (queue, worker) = opened::<u32>(config.external_clock(true).start_ns(second));
        worker.add("a", &Spec::new(1)).unwrap();
        let pod = worker.try_pop().unwrap().unwrap();
        worker.fail(pod, &Failure::error()).unwrap();
        assert_eq!(queue.next_deadline_ns(), Some(2 * second));
        assert!(worker.try_pop().unwrap().is_none());
        queue.advance(2 * second).unwrap();
        assert_eq!((worker.tick().unwrap(), queue.now_ns()), (None, 2 * second));
        let pod = worker.try_pop().unwrap().unwrap();
        assert_eq!((pod.history().errors, pod.backoff_expiry_ns()), (1, 2 * second));
        worker.done(pod).unwrap();
        let mut before = History::default();
        before.attempts = 4;
        let readded = worker.readd("a", &Spec::new(1), &before, &Failure::error()).unwrap();
        assert_eq!(readded.place, Place::ErrorBackoff);
        assert!(matches!(queue.run(), Err(Error::Invalid(_))));
    });
    let (queue, _) = opened::<u32>(Config::new());
    assert!(matches!(queue.advance(1), Err(Error::Invalid(_))));
    assert!(queue.run().unwrap() && !queue.run().unwrap());
    queue.stop().unwrap();
}

#[test]
fn rejectors_by_name_and_presets() {
    let (queue, worker) = opened::<u32>(Config::preset(Preset::Kube1_34).engine(Engine::Mutex));
    let late = queue.rejector(Profile::default(), "Late").unwrap();
    assert_eq!(queue.rejector(Profile::default(), "Late"), Some(late));
    assert_eq!(queue.rejector_name(Profile::default(), late), Some("Late"));
    assert_eq!(queue.rejector_name(Profile::default(), Plugins::OTHERS), Some("others"));
    assert_eq!(queue.rejector_name(Profile::default(), Plugins::NONE), None);
    assert_eq!(queue.rejector(Profile::default(), ""), None);
    assert_eq!((late | Plugins::OTHERS).each().collect::<Vec<_>>(), [late, Plugins::OTHERS]);
    assert!(matches!(worker.add("no namespace", &Spec::new(1)), Err(Error::Invalid(_))));
    let own = queue.define_event("Licence", Action::ADD, "").unwrap();
    assert_eq!(queue.define_event("Licence", Action::ADD, "").unwrap(), own);
    assert!(matches!(queue.define_event("", Action::ADD, ""), Err(Error::Invalid(_))));
}

#[test]
fn updates_are_classified() {
    let cpu =
        |milli| PodFacts { requests: vec![Quantity { resource: 1, milli }], ..PodFacts::default() };
    let events = classify_pod_update(&cpu(500), &cpu(100));
    assert_eq!(events, [Event::UNSCHEDULED_POD_UPDATE_SCALE_DOWN]);
    let assigned = PodFacts { labels: 1, assigned: true, ..PodFacts::default() };
    let events = classify_pod_update(&PodFacts::default(), &assigned);
    assert_eq!(events, [Event::ASSIGNED_POD_UPDATE_LABEL]);
    let node = NodeFacts { allocatable: 1, labels: 2, ..NodeFacts::default() };
    let events = classify_node_update(&NodeFacts::default(), &node);
    assert_eq!(events, [Event::NODE_UPDATE_ALLOCATABLE, Event::NODE_UPDATE_LABEL]);
    assert_eq!(classify_node_update(&node, &node), []);
}
