//! One vector's queue, with what its operations are said in.

use crate::gang::{name_of, number_of, Gangs};
use crate::line::{parse_kind, Line};
use crate::object::{affinity_matches, hint, Object, NAMESPACE};
use schedq::{
    Action, Builder, Change, Config, Engine, Error, Event, Failure, GroupOutcome, GroupSpec,
    History, Place, Plugin, Plugins, Pod, PodInfo, Popped, PoppedGroup, Preset, Profile, Queue,
    Requeue, Spec, Taken, Update, Worker,
};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The vector's time 0 on the queue's clock: a whole second, far from 0.
const START_NS: i64 = 1_000_000_000_000_000;
const MS: i64 = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Identity {
    name: String,
    uid: String,
}

impl Identity {
    fn new(name: &str, uid: &str) -> Identity {
        Identity { name: name.into(), uid: uid.into() }
    }

    /// NAME/UID, or NAME, which is the uid too.
    fn parse(text: &str) -> Identity {
        let (name, uid) = text.split_once('/').unwrap_or((text, text));
        Identity::new(name, uid)
    }

    fn of(line: &Line) -> Identity {
        Identity::new(&line.words[0], line.text("uid", &line.words[0]))
    }

    fn full(&self) -> String {
        format!("{}/{}", NAMESPACE, self.name)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        if self.name != self.uid {
            write!(out, " uid={}", self.uid)?;
        }
        Ok(())
    }
}

fn short(name: &str) -> &str {
    &name[NAMESPACE.len() + 1..]
}

/// The driver's record of a pod, alive or not.
struct Known {
    profile: String,
    pod: Pod,
    flight: Option<Popped<Object>>,
    newest: Arc<Object>,
    /// Among the pods of its pop.
    position: usize,
}

#[derive(Default)]
struct Set {
    profile: Profile,
    plugins: BTreeMap<String, Plugins>,
}

impl Set {
    fn of<'a>(&self, names: impl Iterator<Item = &'a str>) -> Plugins {
        names.map(|name| self.plugins[name]).fold(Plugins::NONE, |all, one| all | one)
    }

    fn names(&self, plugins: Plugins) -> String {
        let named = self.plugins.iter().filter(|(_, one)| plugins.has(**one));
        named.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",")
    }
}

/// Fields in the order in which they are dropped: pods in flight end with the queue, not before.
pub struct World {
    pods: HashMap<Identity, Known>,
    flights: HashMap<String, PoppedGroup<Object>>,
    worker: Worker<Object>,
    queue: Queue<Object>,
    sets: HashMap<String, Set>,
    nodes: Vec<String>,
    kube_minor: u8,
    has_groups: bool,
    is_composite: bool,
    gangs: Arc<Mutex<Gangs>>,
    /// The group that the last pop took; "": it took a pod.
    last_popped: String,
    /// By queue: what upstream counts as incoming, see `delete`.
    phantoms: BTreeMap<&'static str, u64>,
}

type Answer = Result<Option<String>, Error>;

impl World {
    pub fn open(head: &[String]) -> Result<World, Error> {
        let lines: Vec<Line> = head.iter().map(|text| Line::new(text)).collect();
        let config = configuration(&lines);
        let kube_minor = config.kube_minor();
        let mut builder = Builder::new(config)?;
        builder.affinity(affinity_matches);
        let mut sets: HashMap<String, Set> = HashMap::new();
        let gangs = Arc::new(Mutex::new(Gangs::default()));
        for line in &lines {
            let name = match line.words[0].as_str() {
                "plugin" => line.text("profile", "default-scheduler"),
                "profile" => &line.words[1],
                _ => continue,
            };
            if !sets.contains_key(name) {
                let set = Set { profile: builder.profile(name)?, ..Set::default() };
                sets.insert(name.into(), set);
            }
            if line.words[0] == "plugin" {
                let set = sets.get_mut(name).expect("it was put there");
                let plugin = plugin(line, set.profile, kube_minor, &gangs);
                set.plugins.insert(line.words[1].clone(), builder.plugin(plugin)?);
            }
        }
        let queue = builder.build();
        let worker = queue.worker()?;
        let has = |key| lines.iter().any(|it| it.words[0] == "config" && it.number(key) == 1);
        Ok(World {
            pods: HashMap::new(),
            flights: HashMap::new(),
            worker,
            queue,
            sets,
            nodes: vec![String::new()],
            kube_minor,
            has_groups: has("groups"),
            is_composite: has("composite"),
            gangs,
            last_popped: String::new(),
            phantoms: BTreeMap::new(),
        })
    }

    fn hints(&self) -> bool {
        self.kube_minor >= 34
    }

    fn node(&mut self, name: &str) -> u64 {
        let known = self.nodes.iter().position(|node| node == name);
        let number = known.unwrap_or_else(|| {
            self.nodes.push(name.into());
            self.nodes.len() - 1
        });
        number as u64
    }

    fn event(&self, kind: &str, label: &str) -> Result<Event, Error> {
        let (resource, actions) = parse_kind(kind);
        self.queue.define_event(resource, actions, label)
    }

    fn set(&self, line: &Line) -> &Set {
        &self.sets[line.text("profile", "default-scheduler")]
    }

    fn object(&self, identity: &Identity, line: &Line) -> Object {
        let digits = identity.name.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
        Object {
            uid: identity.uid.clone(),
            affinity: line.text("affinity", "").into(),
            name_number: digits.parse().expect("the number of a pod"),
            gate: line.number("gate"),
            group: line.text("group", "").into(),
            ..Object::numbered(line.number("need"))
        }
    }

    fn spec(&mut self, object: Object, line: &Line) -> Spec<Object> {
        let (has_affinity, group) = (!object.affinity.is_empty(), number_of(&object.group));
        let spec = Spec::new(object)
            .group(group)
            .priority(line.number("prio") as i32)
            .profile(self.set(line).profile)
            .nominated_node(self.node(line.text("nominated", "")));
        if has_affinity {
            spec.affinity()
        } else {
            spec
        }
    }

    fn gangs(&self) -> MutexGuard<'_, Gangs> {
        self.gangs.lock().expect("a driver that has not panicked")
    }

    fn note(&mut self, identity: Identity, line: &Line, pod: Pod, newest: &Spec<Object>) {
        let profile = line.text("profile", "default-scheduler").to_string();
        let known = self.pods.entry(identity);
        let newest = newest.object().clone();
        let known = known.or_insert_with(|| Known {
            profile: String::new(),
            pod,
            flight: None,
            newest: newest.clone(),
            position: 0,
        });
        known.profile = profile;
        known.pod = pod;
        known.newest = newest;
    }

    // ---- operations ------------------------------------------------------------------------------

    pub fn perform(&mut self, text: &str) -> String {
        match self.answer(&mut Line::new(text)) {
            Ok(answer) => answer.unwrap_or_else(|| "ok".into()),
            Err(error) => format!("error {}: {}", error.name(), error),
        }
    }

    fn answer(&mut self, line: &mut Line) -> Answer {
        let time: i64 = line.words[0].parse().expect("a time");
        self.queue.advance(START_NS + time * MS)?;
        let verb = line.words[1].clone();
        line.words.drain(..2);
        match verb.as_str() {
            "add" => self.add(line),
            "pop" => self.pop(),
            "fail" => self.fail(line),
            "done" => self.done(line),
            "update" => self.update(line),
            "delete" => self.delete(line),
            "group-add" | "composite-add" => self.declare(line, true),
            "group-update" | "composite-update" => self.declare(line, false),
            "group-delete" | "composite-delete" => self.undeclare(line),
            "group-done" => self.group_done(line),
            "group-get" => self.group_get(line),
            "activate" => self.activate(line),
            "move" => self.change(line),
            "assigned-add" => self.assigned(line, true),
            "assigned-update" => self.assigned(line, false),
            "nominate" => self.nominate(line),
            "denominate" => self.end_nomination(line),
            "tick" => self.worker.tick().map(|_| None),
            "get" => self.get(line),
            "pending" => Ok(Some(self.queue.pending_text())),
            "close" => self.queue.close().map(|()| None),
            _ => Ok(Some(format!("error operation {:?}", verb))),
        }
    }

    fn add(&mut self, line: &Line) -> Answer {
        let identity = Identity::of(line);
        let object = self.object(&identity, line);
        let spec = self.spec(object, line);
        self.gangs().come(&identity.name, &identity.uid, line.text("group", ""));
        let added = self.worker.add(&identity.full(), &spec)?;
        self.note(identity, line, added.pod, &spec);
        Ok(None)
    }

    fn pop(&mut self) -> Answer {
        let taken = if self.has_groups {
            self.worker.try_pop_group()
        } else {
            self.worker.try_pop().map(|popped| popped.map(Taken::Pod))
        };
        match taken {
            Ok(Some(Taken::Pod(popped))) => {
                self.last_popped.clear();
                Ok(Some(self.popped(popped)))
            }
            Ok(Some(Taken::Group(group))) => Ok(Some(self.popped_group(group))),
            Ok(None) => Ok(Some("empty".into())),
            Err(Error::Closed) => Ok(Some("closed".into())),
            Err(error) => Err(error),
        }
    }

    fn take(&mut self, popped: Popped<Object>, position: usize) {
        let identity = Identity::new(short(popped.name()), &popped.object().uid);
        let known = self.pods.get_mut(&identity).expect("a pod that was added");
        known.pod = popped.pod();
        known.flight = Some(popped);
        known.position = position;
    }

    fn popped_group(&mut self, mut group: PoppedGroup<Object>) -> String {
        let name = name_of(group.group());
        let mut pods = Vec::new();
        for (position, popped) in group.take_members().into_iter().enumerate() {
            pods.push(format!("{}/{}", short(popped.name()), popped.history().attempts));
            self.take(popped, position);
        }
        let flushed = if group.flushed() { " flushed=1" } else { "" };
        let (counters, pods) = (counters(&group.history()), pods.join(","));
        let text =
            format!("group {} {} cycle={}{} pods={}", name, counters, group.cycle(), flushed, pods);
        self.last_popped = name.clone();
        self.flights.insert(name, group);
        text
    }

    fn popped(&mut self, popped: Popped<Object>) -> String {
        let identity = Identity::new(short(popped.name()), &popped.object().uid);
        let mut text = if self.hints() {
            format!("{} {} cycle={}", identity, counters(&popped.history()), popped.cycle())
        } else {
            format!("{} attempts={} cycle={}", identity, popped.history().attempts, popped.cycle())
        };
        if popped.from_backoff() {
            text += " from=backoff";
        }
        if popped.flushed() && self.kube_minor >= 37 {
            text += " flushed=1";
        }
        self.take(popped, 0);
        text
    }

    fn fail(&mut self, line: &Line) -> Answer {
        let identity = Identity::of(line);
        if line.number("after-done") != 0 {
            return self.fail_after_done(identity, line);
        }
        let known = self.pods.get_mut(&identity);
        let (popped, profile) = match known.map(|known| (known.flight.take(), &known.profile)) {
            Some((Some(popped), profile)) => (popped, profile),
            _ => return Ok(Some("error not in flight".into())),
        };
        let mut failure = failure(&self.sets[profile], line);
        if self.hints() {
            let object = self.object(&identity, line);
            let newest = self.spec(object, line);
            if let Some(known) = self.pods.get_mut(&identity) {
                known.newest = newest.object().clone();
            }
            failure = failure.newest(newest);
        }
        let outcome = self.worker.fail(popped, &failure)?;
        Ok(outcome.map_or(Some("error present".into()), |_| None))
    }

    fn fail_after_done(&mut self, identity: Identity, line: &Line) -> Answer {
        let mut before = History::default();
        if line.has("initial-attempt") {
            before.initial_attempt_ns = START_NS + line.number("initial-attempt") * MS;
            before.timestamp_ns = before.initial_attempt_ns;
        }
        before.attempts = line.number("attempts") as u32;
        before.rejections = line.number("unschedulable") as u32;
        before.errors = line.number("errors") as u32;
        let object = self.object(&identity, line);
        let spec = self.spec(object, line);
        let failure = failure(self.set(line), line);
        match self.worker.readd(&identity.full(), &spec, &before, &failure) {
            Err(Error::Exists) => return Ok(Some("error present".into())),
            readded => self.note(identity, line, readded?.pod, &spec),
        }
        Ok(None)
    }

    fn done(&mut self, line: &Line) -> Answer {
        let known = self.pods.get_mut(&Identity::of(line));
        match known.and_then(|known| known.flight.take()) {
            Some(popped) => self.worker.done(popped).map(|_| None).map_err(Error::from),
            None => self.end_nomination(line),
        }
    }

    fn update(&mut self, line: &Line) -> Answer {
        let identity = Identity::of(line);
        let mut object = self.object(&identity, line);
        if let Some(found) = self.look(&identity, |pod| {
            (pod.place() != Place::InFlight && pod.object().uid == identity.uid)
                .then(|| pod.object().affinity.clone())
        })? {
            // kube parses a queued pod's terms once
            object.affinity = found.unwrap_or(object.affinity);
        }
        let spec = self.spec(object, line);
        let events: Vec<Event> = if self.hints() {
            line.list("events").map(|kind| self.event(kind, "")).collect::<Result<_, _>>()?
        } else if line.number("changed") != 0 {
            vec![Event::UNSCHEDULED_POD_UPDATE]
        } else {
            Vec::new()
        };
        let old = numbered(line, "old");
        let mut update = Update::new(&spec).events(&events).or_add();
        if let Some(old) = &old {
            update = update.before(old);
        }
        let group = line.text("group", "");
        let is_known = self.worker.find(&identity.full())?.is_some();
        if !is_known && !group.is_empty() && self.root(group)? == "-" {
            return Ok(None); // upstream drops it, where the library adds the pod
        }
        self.gangs().come(&identity.name, &identity.uid, group);
        let updated = self.worker.update(&identity.full(), &update)?;
        self.note(identity, line, updated.expect("it adds what is unknown").pod, &spec);
        Ok(None)
    }

    /// Upstream takes a queued record out also for a pod that it does not have, and puts it back: its members count as incoming once
    /// more. The library has no pod to delete then.
    fn delete(&mut self, line: &Line) -> Answer {
        let identity = Identity::of(line);
        let deleted = self.worker.delete_name(&identity.full())?;
        self.gangs().go(&identity.name, &identity.uid);
        if deleted.is_some() || !line.has("group") {
            return Ok(None);
        }
        let info = self.worker.group_get(number_of(line.text("group", "")))?;
        let root = match info.map_or(0, |info| info.root) {
            0 => None,
            root => self.worker.group_get(root)?,
        };
        let queue = root.and_then(|root| match root.place {
            Place::Active => Some(("active", root.waiting)),
            Place::ErrorBackoff => Some(("backoff", root.waiting)),
            Place::Gated => Some(("unschedulable", root.waiting)),
            _ => None,
        });
        if let Some((queue, count)) = queue {
            *self.phantoms.entry(queue).or_default() += count;
        }
        Ok(None)
    }

    /// As the queue has it; "-": none.
    fn root(&self, name: &str) -> Result<String, Error> {
        let root = self.worker.group_get(number_of(name))?.map_or(0, |info| info.root);
        Ok(if root == 0 { "-".into() } else { name_of(root) })
    }

    fn declare(&mut self, line: &Line, added: bool) -> Answer {
        let name = line.words[0].as_str();
        let parent = if self.is_composite { line.text("parent", "") } else { "" };
        {
            let mut gangs = self.gangs();
            let gang = gangs.named(name);
            gang.exists = true;
            gang.min = line.number("min");
            gang.parent = parent.into();
        }
        let spec = GroupSpec::new(0)
            .priority(line.number("prio") as i32)
            .object(number_of(name))
            .parent(number_of(parent));
        if added {
            self.worker.group_add(number_of(name), &spec)?;
        } else {
            self.worker.group_update(number_of(name), &spec)?;
        }
        Ok(None)
    }

    /// Upstream's plugins see it go before the queue does.
    fn undeclare(&mut self, line: &Line) -> Answer {
        self.gangs().named(&line.words[0]).exists = false;
        self.worker.group_delete(number_of(&line.words[0])).map(|_| None)
    }

    fn group_done(&mut self, line: &Line) -> Answer {
        let outcome = match line.text("status", "") {
            "success" => GroupOutcome::Placed,
            "unschedulable" => GroupOutcome::Rejected,
            "error" => GroupOutcome::Error,
            status => panic!("status {:?}", status),
        };
        match self.flights.remove(&line.words[0]) {
            Some(group) => {
                self.worker.group_done(group, outcome).map(|_| None).map_err(Error::from)
            }
            None => Ok(Some("error not in flight".into())),
        }
    }

    fn group_get(&mut self, line: &Line) -> Answer {
        let name = &line.words[0];
        let info = self.worker.group_get(number_of(name))?;
        Ok(Some(match info {
            Some(info) if !matches!(info.place, Place::Aside | Place::InFlight) => {
                let gating = self.set(line).names(info.gate);
                let counters = counters(&info.history);
                format!("{} {} gating={} size={}", name, counters, gating, info.waiting)
            }
            _ => "absent".into(),
        }))
    }

    fn activate(&mut self, line: &Line) -> Answer {
        let named = line.words[0].split(',').map(Identity::parse);
        let pods: Vec<Pod> = named.filter_map(|it| self.pods.get(&it)).map(|it| it.pod).collect();
        self.worker.activate(&pods).map(|_| None)
    }

    fn change(&mut self, line: &Line) -> Answer {
        let event = self.event(&line.words[0], &line.words[1])?;
        let (old, mut new, mut target) = (numbered(line, "old"), numbered(line, "new"), None);
        if line.has("target") {
            let identity = Identity::parse(line.text("target", ""));
            let identity = Identity::new(&identity.name, line.text("uid", &identity.uid));
            target = self.pods.get(&identity).map(|known| known.pod);
            if target.is_none() {
                // a wildcard with an object and without a target reaches nobody
                new = Some(Arc::new(Object::default()));
            }
        }
        if line.has("pod") {
            let moved = self.pods.get(&Identity::parse(line.text("pod", "")));
            new = moved.map(|known| known.newest.clone());
        }
        if line.has("group") {
            new = Some(Arc::new(gang(line.text("group", ""), line.number("min"))));
        }
        let old = if line.has("oldgroup") || line.has("oldmin") {
            let group = line.text("oldgroup", line.text("group", ""));
            Some(Arc::new(gang(group, line.number("oldmin"))))
        } else {
            old
        };
        let mut change = objects(Change::new(event), &old, &new);
        if let Some(target) = target {
            change = change.target(target);
        }
        if line.has("precheck") {
            change = change.precheck(&|pod: &Object| pod.name_number % 2 == 0);
        }
        self.worker.notify(&change).map(|_| None)
    }

    /// Before queueing hints there was one resource for all pods.
    fn assigned(&mut self, line: &Line, added: bool) -> Answer {
        let (action, early) = if added {
            (Action::ADD, "AssignedPodAdd")
        } else {
            (Action::UPDATE, "AssignedPodUpdate")
        };
        let event = if line.has("event") {
            self.event(line.text("event", ""), "")?
        } else if self.hints() {
            self.queue.define_event("AssignedPod", action, "")?
        } else {
            self.queue.define_event("Pod", action, early)?
        };
        let namespace = line.text("ns", NAMESPACE);
        let placed = Some(Arc::new(Object {
            namespace: namespace.into(),
            app: line.text("app", "").into(),
            ..Object::numbered(line.number("new"))
        }));
        let old = numbered(line, "old");
        let change = objects(Change::new(event), &old, &placed);
        let told = if added {
            self.worker.assigned_pod_added(&change, namespace)
        } else {
            self.worker.assigned_pod_updated(&change, namespace)
        };
        told.map(|_| None)
    }

    fn nominate(&mut self, line: &Line) -> Answer {
        let node = match line.words[1].as_str() {
            "-" => "",
            "status" => line.text("nominated", ""),
            node => node,
        };
        let node = self.node(node);
        self.nominate_to(line, node)
    }

    fn end_nomination(&mut self, line: &Line) -> Answer {
        self.nominate_to(line, 0)
    }

    fn nominate_to(&mut self, line: &Line, node: u64) -> Answer {
        let known = self.pods.get(&Identity::of(line));
        let found = match known {
            Some(known) => self.worker.nominate(known.pod, node)?,
            None => false,
        };
        Ok(if found || node == 0 { None } else { Some("error no such pod".into()) })
    }

    fn look<R>(
        &self,
        identity: &Identity,
        look: impl FnOnce(&PodInfo<'_, Object>) -> R,
    ) -> Result<Option<R>, Error> {
        match self.worker.find(&identity.full())? {
            Some(found) => self.worker.get(found.pod, look),
            None => Ok(None),
        }
    }

    fn get(&mut self, line: &Line) -> Answer {
        let text = self.look(&Identity::of(line), |pod| {
            if pod.place() == Place::InFlight {
                return None;
            }
            let identity = Identity::new(short(pod.name()), &pod.object().uid);
            let set = &self.sets[&self.pods[&identity].profile];
            let (plugins, pending) = (set.names(pod.rejected()), set.names(pod.pending()));
            let (counters, gate) = (counters(&pod.history()), set.names(pod.gate()));
            let sets = format!("plugins={} pending={} gating={}", plugins, pending, gate);
            Some(format!("{} {} {}", identity, counters, sets))
        })?;
        Ok(Some(text.flatten().unwrap_or_else(|| "absent".into())))
    }

    // ---- answers ---------------------------------------------------------------------------------

    pub fn state(&self) -> Result<Vec<String>, Error> {
        let mut lines = Vec::new();
        let mut roots: HashMap<u64, String> = HashMap::new();
        let names: Vec<String> = self.gangs().names().cloned().collect();
        for name in &names {
            roots.insert(number_of(name), self.root(name)?);
        }
        self.worker.snapshot(|pod| {
            let place = place_text(pod.place());
            let timestamp = pod.history().timestamp_ns - START_NS;
            let expiry = pod.backoff_expiry_ns() - START_NS;
            let (name, uid, order) = (short(pod.name()), &pod.object().uid, pod.pop_order());
            let place = format!("{} {} {} {}", name, uid, place, pod.priority());
            let mut line = format!("pod {} {} {} {}", place, timestamp, expiry, order);
            if self.has_groups {
                let (group, root) = match pod.group() {
                    0 => ("-".into(), "-"),
                    group => (name_of(group), roots[&group].as_str()),
                };
                let position = self.pods[&Identity::new(name, uid)].position;
                line += &format!(" {} {} {} {}", group, root, pod.history().attempts, position);
            }
            lines.push(line);
            ControlFlow::Continue(())
        })?;
        for name in &names {
            let info = match self.worker.group_get(number_of(name))? {
                Some(info) if info.place != Place::Aside => info,
                _ => continue,
            };
            if info.place == Place::InFlight && *name != self.last_popped {
                continue;
            }
            let timestamp = info.history.timestamp_ns - START_NS;
            let expiry = info.backoff_expiry_ns - START_NS;
            let place = format!("{} {} {}", name, place_text(info.place), info.priority);
            lines.push(format!("record {} {} {}", place, timestamp, expiry));
        }
        for (number, node) in self.nodes.iter().enumerate().skip(1) {
            self.worker.nominated_pods(number as u64, |pod| {
                lines.push(format!("nominated {} {}", node, short(pod.name())));
                ControlFlow::Continue(())
            })?;
        }
        Ok(lines)
    }

    pub fn metrics(&self) -> Result<String, Error> {
        let mut text = self.queue.metrics()?;
        for (queue, count) in &self.phantoms {
            let labels = format!("queue=\"{}\",event=\"UnscheduledPodAdd\"", queue);
            text += &format!("scheduler_queue_incoming_pods_total{{{}}} {}\n", labels, count);
        }
        Ok(text)
    }
}

fn configuration(lines: &[Line]) -> Config {
    let source = lines.iter().find(|line| line.words[0] == "source");
    let preset = match source.map(|line| &line.words[2][.."v1.00".len()]) {
        Some("v1.12") => Preset::Kube1_12,
        Some("v1.26") => Preset::Kube1_26,
        Some("v1.34") => Preset::Kube1_34,
        Some("v1.37") => Preset::Kube1_37,
        None => Preset::Default,
        Some(release) => panic!("release {}", release),
    };
    let mut config = Config::preset(preset)
        .count_cycles(true)
        .external_clock(true)
        .start_ns(START_NS)
        .flush(Duration::from_millis(1));
    let ms = |line: &Line, key: &str| Duration::from_millis(line.number(key) as u64);
    for line in lines {
        if line.words[0] == "vector" && line.text("engine", "") == "mutex" {
            config = config.engine(Engine::Mutex);
        }
        if line.words[0] != "config" {
            continue;
        }
        match line.text("requeue", "") {
            "hints" => config = config.requeue(Requeue::Hints),
            "move-cycle" => config = config.requeue(Requeue::MoveCycle),
            _ => {}
        }
        if line.has("pop-from-backoff") {
            let on = line.number("pop-from-backoff") != 0;
            config = config.pop_from_backoff(on).backoff_window(on);
        }
        if line.has("initial-backoff-ms") {
            config = config.initial_backoff(ms(line, "initial-backoff-ms"));
        }
        if line.has("max-backoff-ms") {
            config = config.max_backoff(ms(line, "max-backoff-ms"));
        }
        if line.has("max-unschedulable-ms") {
            config = config.max_parked(ms(line, "max-unschedulable-ms"));
        }
    }
    config
}

fn plugin(
    line: &Line,
    profile: Profile,
    kube_minor: u8,
    gangs: &Arc<Mutex<Gangs>>,
) -> Plugin<Object> {
    let name = &line.words[1];
    let is_gang = line.text("preenqueue", "") == "gang";
    let mut gate = if is_gang { 0 } else { line.number("preenqueue") };
    let mut plugin = Plugin::new(name).profile(profile);
    for word in &line.words[2..] {
        if word == "preenqueue" {
            gate = 1;
            continue;
        }
        let (kind, asked) = word.split_once('=').unwrap_or((word, ""));
        let (resource, actions) = parse_kind(kind);
        plugin = match asked {
            "" => plugin.interest(resource, actions),
            "mygroup" => {
                let gangs = gangs.clone();
                plugin.interest_if(resource, actions, move |pod: &Object, _, new| {
                    gangs.lock().map_or(true, |gangs| gangs.same_root(pod, new))
                })
            }
            "mindown" => {
                let gangs = gangs.clone();
                plugin.interest_if(resource, actions, move |pod: &Object, old, new| {
                    gangs.lock().map_or(true, |gangs| gangs.needs_less(pod, old, new))
                })
            }
            asked => plugin.interest_if(resource, actions, hint(asked)),
        };
    }
    if is_gang {
        let gangs = gangs.clone();
        plugin =
            plugin.gate(move |pod: &Object| gangs.lock().map_or(true, |gangs| gangs.passes(pod)));
    }
    if gate != 0 {
        plugin = plugin.gate(move |pod: &Object| pod.gate != gate);
    }
    if kube_minor >= 34 && name == "PodTopologySpread" {
        plugin = plugin.spread();
    }
    plugin
}

fn failure(set: &Set, line: &Line) -> Failure<Object> {
    Failure::rejected(set.of(line.list("plugins"))).pending(set.of(line.list("pending")))
}

/// A group as an event's object.
fn gang(name: &str, min: i64) -> Object {
    Object { group: name.into(), min, ..Object::default() }
}

fn place_text(place: Place) -> String {
    match place {
        Place::Parked => "unschedulable".into(),
        place => place.to_string(),
    }
}

fn numbered(line: &Line, key: &str) -> Option<Arc<Object>> {
    line.has(key).then(|| Arc::new(Object::numbered(line.number(key))))
}

fn objects<'a>(
    change: Change<'a, Object>,
    old: &'a Option<Arc<Object>>,
    new: &'a Option<Arc<Object>>,
) -> Change<'a, Object> {
    let change = match old {
        Some(old) => change.before(old),
        None => change,
    };
    match new {
        Some(new) => change.after(new),
        None => change,
    }
}

fn counters(history: &History) -> String {
    let initial = match history.initial_attempt_ns {
        0 => "-".into(),
        time_ns => milliseconds(time_ns),
    };
    let counts = (history.attempts, history.rejections, history.errors);
    format!(
        "attempts={} unschedulable={} errors={} timestamp={} initial-attempt={}",
        counts.0,
        counts.1,
        counts.2,
        milliseconds(history.timestamp_ns),
        initial
    )
}

/// Since the vector's time 0, with a fraction if there is one.
fn milliseconds(time_ns: i64) -> String {
    let (whole, rest) = ((time_ns - START_NS).div_euclid(MS), (time_ns - START_NS).rem_euclid(MS));
    if rest == 0 {
        whole.to_string()
    } else {
        format!("{}+{}ns", whole, rest)
    }
}
