//! What a vector has numbers of, and what hints make of them.

pub const NAMESPACE: &str = "default";

/// A pod, a node or whatever else.
#[derive(Clone, Debug, Default)]
pub struct Object {
    pub uid: String,
    pub namespace: String,
    pub app: String,
    pub affinity: String,
    pub number: i64,
    pub name_number: i64,
    pub gate: i64,
    /// That a pod names, or that it is.
    pub group: String,
    /// A group's.
    pub min: i64,
}

impl Object {
    pub fn numbered(number: i64) -> Object {
        Object { number, namespace: NAMESPACE.into(), ..Object::default() }
    }
}

pub type Hint = fn(&Object, Option<&Object>, Option<&Object>) -> bool;

fn number(object: Option<&Object>) -> i64 {
    object.map_or(0, |object| object.number)
}

pub fn hint(name: &str) -> Hint {
    match name {
        "always" => |_, _, _| true,
        "never" => |_, _, _| false,
        // The library's third answer, an error, comes from a hint that panics. That would fill stderr; it counts as yes.
        "error" => |_, _, _| true,
        "parity" => |pod, old, new| (pod.name_number + number(old) + number(new)) % 2 == 0,
        "fits" => |pod, _, new| new.map_or(false, |new| new.number >= pod.number),
        "grew" => {
            |_, old, new| new.map_or(false, |new| old.map_or(true, |old| new.number > old.number))
        }
        "mine" => |pod, _, new| new.map_or(false, |new| !new.uid.is_empty() && new.uid == pod.uid),
        _ => panic!("hint {:?}", name),
    }
}

pub fn affinity_matches(pod: &Object, assigned: &Object) -> bool {
    !pod.affinity.is_empty() && pod.affinity == assigned.app && pod.namespace == assigned.namespace
}
