//! A line of a vector: words, then key=value fields.

use schedq::Action;
use std::collections::HashMap;

pub struct Line {
    pub words: Vec<String>,
    values: HashMap<String, String>,
}

impl Line {
    /// An event's hint stands behind a '=' too, so a field with a ':' before it is a word.
    pub fn new(text: &str) -> Line {
        let mut line = Line { words: Vec::new(), values: HashMap::new() };
        for item in text.split_whitespace() {
            match item.split_once('=') {
                Some((key, value)) if !key.contains(':') => {
                    line.values.insert(key.into(), value.into());
                }
                _ => line.words.push(item.into()),
            }
        }
        line
    }

    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    pub fn text<'a>(&'a self, key: &str, absent: &'a str) -> &'a str {
        self.values.get(key).map_or(absent, String::as_str)
    }

    pub fn number(&self, key: &str) -> i64 {
        self.text(key, "0").parse().expect("a number")
    }

    pub fn list<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a str> {
        self.text(key, "").split(',').filter(|item| !item.is_empty())
    }
}

/// RESOURCE:ACTION|ACTION
pub fn parse_kind(text: &str) -> (&str, Action) {
    let (resource, actions) = text.rsplit_once(':').expect("RESOURCE:ACTION");
    let each = actions.split('|').map(action);
    (resource, each.reduce(|all, one| all | one).expect("an action"))
}

fn action(name: &str) -> Action {
    match name {
        "Add" => Action::ADD,
        "Delete" => Action::DELETE,
        "Update" => Action::UPDATE,
        "All" => Action::ALL,
        "UpdateNodeAllocatable" => Action::UPDATE_NODE_ALLOCATABLE,
        "UpdateNodeLabel" => Action::UPDATE_NODE_LABEL,
        "UpdateNodeTaint" => Action::UPDATE_NODE_TAINT,
        "UpdateNodeCondition" => Action::UPDATE_NODE_CONDITION,
        "UpdateNodeAnnotation" => Action::UPDATE_NODE_ANNOTATION,
        "UpdateNodeDeclaredFeature" => Action::UPDATE_NODE_DECLARED_FEATURE,
        "UpdateNodePreemptionPolicy" => Action::UPDATE_NODE_PREEMPTION_POLICY,
        "UpdatePodLabel" => Action::UPDATE_POD_LABEL,
        "UpdatePodScaleDown" => Action::UPDATE_POD_SCALE_DOWN,
        "UpdatePodScaleUp" => Action::UPDATE_POD_SCALE_UP,
        "UpdatePodToleration" => Action::UPDATE_POD_TOLERATION,
        "UpdatePodSchedulingGatesEliminated" => Action::UPDATE_POD_GATES_ELIMINATED,
        "UpdatePodGeneratedResourceClaim" => Action::UPDATE_POD_GENERATED_CLAIM,
        _ => panic!("action {:?}", name),
    }
}
