//! What the queue does not know of groups: which of their objects there are, and what upstream's plugins make of them.

use crate::object::Object;
use std::collections::{BTreeMap, HashMap};

/// A group as its plugins know it.
#[derive(Default)]
pub struct Gang {
    pub parent: String,
    pub min: i64,
    pub exists: bool,
    /// That exist and name it.
    pods: i64,
}

#[derive(Default)]
pub struct Gangs {
    all: BTreeMap<String, Gang>,
    /// Pods that were added, and not deleted since, by name and uid; their groups.
    exist: HashMap<(String, String), String>,
}

/// The bytes of a group's name, so that numbers are in the order of names; 0 for "".
pub fn number_of(name: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    u64::from_be_bytes(bytes)
}

pub fn name_of(number: u64) -> String {
    String::from_utf8_lossy(&number.to_be_bytes()).trim_end_matches('\0').into()
}

impl Gangs {
    pub fn named(&mut self, name: &str) -> &mut Gang {
        self.all.entry(name.into()).or_default()
    }

    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.all.keys()
    }

    /// Gates ask for it while it is added.
    pub fn come(&mut self, name: &str, uid: &str, group: &str) {
        let known = self.exist.insert((name.into(), uid.into()), group.into());
        if known.is_none() && !group.is_empty() {
            self.named(group).pods += 1;
        }
    }

    pub fn go(&mut self, name: &str, uid: &str) {
        match self.exist.remove(&(name.into(), uid.into())) {
            Some(group) if !group.is_empty() => self.named(&group).pods -= 1,
            _ => {}
        }
    }

    /// By the objects that exist; "": one above does not.
    fn root<'a>(&'a self, mut name: &'a str) -> &'a str {
        for _ in 0..64 {
            match self.all.get(name) {
                Some(gang) if gang.exists && gang.parent.is_empty() => return name,
                Some(gang) if gang.exists => name = &gang.parent,
                _ => break,
            }
        }
        ""
    }

    /// The gate of a gang.
    pub fn passes(&self, pod: &Object) -> bool {
        if pod.group.is_empty() || pod.gate != 0 {
            return true;
        }
        let gang = self.all.get(&pod.group);
        !self.root(&pod.group).is_empty() && gang.map_or(false, |gang| gang.min <= gang.pods)
    }

    /// The hint `mygroup`.
    pub fn same_root(&self, pod: &Object, changed: Option<&Object>) -> bool {
        let changed = changed.map_or("", |changed| self.root(&changed.group));
        !changed.is_empty() && self.root(&pod.group) == changed
    }

    /// The hint `mindown`.
    pub fn needs_less(&self, pod: &Object, old: Option<&Object>, new: Option<&Object>) -> bool {
        matches!((old, new), (Some(old), Some(new)) if new.min < old.min)
            && self.same_root(pod, new)
    }
}
