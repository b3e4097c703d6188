//! A popped pod has one holder.
use schedq::Popped;

fn holder(pod: Popped<u32>) -> (Popped<u32>, Popped<u32>) {
    (pod.clone(), pod) //~ E0599
}

fn main() {
    let _ = holder;
}
