//! Pods that are tried together, on both engines.

mod support;

use schedq::{Action, Builder, Change, Error, Event, Failure, GroupOutcome, GroupSpec};
use schedq::{Place, Plugin, Popped, PoppedGroup, Spec, Taken, Worker};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};
use support::{built, opened, place_of, with_engines, SOON};

const GANG: u64 = 7;

/// Declares a group that needs that many members, and adds them.
fn gather(worker: &Worker<u32>, members: u32) {
    let spec = GroupSpec::new(members).object(700).priority(3);
    assert_eq!(worker.group_add(GANG, &spec).unwrap().place, Place::Aside);
    for number in 0..members {
        let member = Spec::new(number).group(GANG);
        let added = worker.add(&format!("gang/{}", number), &member).unwrap();
        assert_eq!((added.place, added.poppable), (Place::Aside, number + 1 == members));
    }
}

fn popped(worker: &Worker<u32>) -> PoppedGroup<u32> {
    match worker.try_pop_group().unwrap() {
        Some(Taken::Group(group)) => group,
        other => panic!("{:?} is no group", other),
    }
}

fn names(pods: &[Popped<u32>]) -> Vec<&str> {
    pods.iter().map(|pod| pod.name()).collect()
}

#[test]
fn a_group_comes_whole_and_no_other_pop_takes_its_members() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config.count_cycles(true));
        assert!(worker.try_pop_group().unwrap().is_none());
        gather(&worker, 3);
        assert!(worker.try_pop().unwrap().is_none());
        assert!(worker.try_pop_many(8).unwrap().is_empty());
        let stats = queue.stats().unwrap();
        assert_eq!((stats.groups, stats.aside), (1, 0));
        assert_eq!((stats.groups_at[Place::Active], stats.members_at[Place::Active]), (1, 3));
        assert!(queue.pending_text().contains("incompletePodGroupPods:0"));

        let mut group = popped(&worker);
        assert_eq!((group.group(), group.object(), group.priority()), (GANG, 700, 3));
        assert_eq!((group.history().attempts, group.cycle()), (1, 1));
        assert_eq!((group.backoff_expiry_ns(), group.more(), group.flushed()), (0, false, false));
        assert_eq!(group.profile(), schedq::Profile::default());
        assert_eq!(names(group.members()), ["gang/0", "gang/1", "gang/2"]);
        assert_eq!(format!("{:?}", group).split(' ').next(), Some("PoppedGroup(7"));
        let info = worker.get(group.members()[0].pod(), |pod| (pod.group(), pod.place()));
        assert_eq!(info.unwrap(), Some((GANG, Place::InFlight)));
        let members = group.take_members();
        assert!(group.members().is_empty());
        assert_eq!(worker.done_many(members).unwrap(), 3);
        let ended = worker.group_done(group, GroupOutcome::Placed).unwrap();
        assert_eq!(ended.place, Place::Aside);
    });
}

#[test]
fn a_member_that_failed_waits_for_the_groups_next_try() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config);
        gather(&worker, 2);
        let mut group = popped(&worker);
        let mut members = group.take_members();
        assert!(worker.done(members.remove(0)).unwrap());
        let failed = worker.fail(members.remove(0), &Failure::error()).unwrap().unwrap();
        assert_eq!(failed.place, Place::Aside);
        assert!(worker.try_pop_group().unwrap().is_none());
        let ended = worker.group_done(group, GroupOutcome::Placed).unwrap();
        assert_eq!((ended.place, ended.to_active), (Place::Active, 1));
        let mut group = popped(&worker);
        assert_eq!(names(group.members()), ["gang/1"]); // once placed, one is enough
        worker.done_many(group.take_members()).unwrap();
        worker.group_done(group, GroupOutcome::Placed).unwrap();
    });
}

#[test]
fn a_rejected_group_waits_for_an_event_that_helps_a_member() {
    with_engines(|config| {
        let mut builder = Builder::<u32>::new(config.max_backoff(Duration::ZERO)).unwrap();
        let gpus = Plugin::new("GPUs").interest_if("Node", Action::ADD, |pod, _, _| *pod == 1);
        let gpus = builder.plugin(gpus).unwrap();
        let (queue, worker) = built(builder);
        gather(&worker, 2);
        let mut group = popped(&worker);
        for member in group.take_members() {
            worker.fail(member, &Failure::rejected(gpus)).unwrap();
        }
        let ended = worker.group_done(group, GroupOutcome::Rejected).unwrap();
        assert_eq!(ended.place, Place::Parked);
        let info = worker.group_get(GANG).unwrap().unwrap();
        assert_eq!((info.place, info.rejected, info.waiting), (Place::Parked, gpus, 2));
        let member = worker.find("gang/0").unwrap().unwrap().pod;
        let why = worker.explain(member).unwrap().unwrap();
        assert_eq!((why.place, why.group, why.group_root), (Place::Aside, GANG, GANG));
        assert_eq!((why.group_waiting, why.group_quorum), (2, 2));
        assert_eq!((why.group_place, why.group_declared), (Place::Parked, true));
        assert_eq!(queue.stats().unwrap().members_at[Place::Parked], 2);
        let told = worker.notify(&Change::new(Event::NODE_ADD)).unwrap();
        assert_eq!((told.to_active, told.poppable), (1, true));
        assert_eq!(popped(&worker).history().attempts, 2);
    });
}

#[test]
fn a_group_that_is_dropped_fails_with_its_members() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config);
        gather(&worker, 2);
        drop(worker.try_pop_group().unwrap());
        let info = worker.group_get(GANG).unwrap().unwrap();
        assert_eq!((info.place, info.waiting), (Place::ErrorBackoff, 2));
        assert_eq!(info.history.errors, 1);
        worker.group_activate(GANG).unwrap().unwrap();
        // A member may end after its group.
        let mut group = popped(&worker);
        let members = group.take_members();
        drop(group);
        assert_eq!(place_of(&worker, "gang/0"), Some(Place::InFlight));
        assert_eq!(worker.done_many(members).unwrap(), 2);
    });
}

#[test]
fn the_end_of_a_group_that_is_refused_gives_it_back() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config.clone());
        let (_, other) = opened::<u32>(config);
        gather(&worker, 2);
        let refused = worker.group_done(popped(&worker), GroupOutcome::Placed).unwrap_err();
        assert_eq!(refused.to_string(), "members 2: 0: take them out and end them first");
        let mut group = *refused.pod;
        assert_eq!(group.members().len(), 2);
        worker.done_many(group.take_members()).unwrap();
        let refused = other.group_done(group, GroupOutcome::Placed).unwrap_err();
        assert!(matches!(refused.error, Error::Invalid(_)));
        worker.group_done(*refused.pod, GroupOutcome::Placed).unwrap();
    });
}

#[test]
fn a_group_is_declared_replaced_and_undeclared() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config);
        worker.add("gang/0", &Spec::new(0).group(GANG)).unwrap();
        assert!(worker.group_get(GANG).unwrap().is_none());
        let spec = GroupSpec::new(1).parent(9).object(5);
        worker.group_add(GANG, &spec).unwrap();
        assert_eq!(worker.group_add(GANG, &spec).unwrap_err(), Error::Exists);
        assert!(matches!(worker.group_add(0, &spec), Err(Error::Invalid(_))));
        let info = worker.group_get(GANG).unwrap().unwrap();
        assert_eq!((info.root, info.parent, info.object, info.quorum), (0, 9, 5, 1));
        assert_eq!((info.waiting, info.declared), (1, true));
        let root = worker.group_add(9, &GroupSpec::new(1)).unwrap();
        assert_eq!((root.place, root.poppable), (Place::Active, true));
        let more = worker.group_update(GANG, &GroupSpec::new(2).parent(9)).unwrap().unwrap();
        assert_eq!(more.place, Place::Aside);
        let moved = worker.group_update(GANG, &GroupSpec::new(2).parent(8));
        assert!(matches!(moved, Err(Error::Invalid(_))));
        assert!(worker.group_update(1, &spec).unwrap().is_none());
        assert!(worker.group_activate(1).unwrap().is_none());
        assert_eq!(worker.group_delete(9).unwrap().unwrap().place, Place::Aside);
        assert!(worker.group_delete(9).unwrap().is_none());
        assert_eq!(place_of(&worker, "gang/0"), Some(Place::Aside));
    });
}

#[test]
fn a_group_of_any_size_is_taken() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config);
        gather(&worker, 100);
        let mut group = popped(&worker);
        assert_eq!(worker.done_many(group.take_members()).unwrap(), 100);
        worker.group_done(group, GroupOutcome::Placed).unwrap();
    });
}

#[test]
fn a_pop_of_groups_waits_and_takes_pods_too() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        let before = Instant::now();
        assert!(worker.pop_group_for(SOON).unwrap().is_none());
        assert!(before.elapsed() >= SOON);
        assert!(worker.pop_group_until(queue.now_ns()).unwrap().is_none());
        let adder = queue.worker().unwrap();
        let adding = spawn(move || {
            sleep(SOON);
            gather(&adder, 2);
            sleep(SOON);
            adder.add("alone", &Spec::new(9)).unwrap();
        });
        let mut group = match worker.pop_group().unwrap() {
            Taken::Group(group) => group,
            other => panic!("{:?}", other),
        };
        worker.done_many(group.take_members()).unwrap();
        worker.group_done(group, GroupOutcome::Placed).unwrap();
        match worker.pop_group().unwrap() {
            Taken::Pod(pod) => assert_eq!(pod.name(), "alone"),
            other => panic!("{:?}", other),
        }
        adding.join().unwrap();
        queue.close().unwrap();
        assert_eq!(worker.pop_group().unwrap_err(), Error::Closed);
    });
}

#[test]
fn groups_go_from_thread_to_thread() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<PoppedGroup<u32>>();
    is_send_and_sync::<Taken<u32>>();
}
