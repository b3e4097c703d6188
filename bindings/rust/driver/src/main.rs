//! Performs the operations of conformance vectors through the crate: the child process of schedq-conform --driver.
//!
//! It speaks the lines of docs/CONFORMANCE.md ("Drivers") and checks nothing. Hints, gates, preChecks and affinity are closures
//! that the library asks.

mod gang;
mod line;
mod object;
mod world;

use std::io::{self, BufRead, Write};
use world::World;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut head: Vec<String> = Vec::new();
    let mut world: Option<World> = None;
    for request in io::stdin().lock().lines() {
        let request = request?;
        match (request.split(' ').next().unwrap_or(""), &mut world) {
            ("vector", _) => {
                head = vec![request];
                continue;
            }
            ("source" | "config" | "plugin" | "profile", _) => {
                head.push(request);
                continue;
            }
            ("open", _) => match World::open(&head) {
                Ok(opened) => world = Some(opened),
                Err(error) => writeln!(out, "{}: {}", error.name(), error)?,
            },
            ("end", _) => world = None,
            (_, None) => panic!("{:?} without a vector that is open", request),
            ("state", Some(world)) => {
                for line in
                    world.state().map_err(|error| io::Error::new(io::ErrorKind::Other, error))?
                {
                    writeln!(out, "{}", line)?;
                }
            }
            ("metrics", Some(world)) => {
                let metrics = world.metrics();
                write!(
                    out,
                    "{}",
                    metrics.map_err(|error| io::Error::new(io::ErrorKind::Other, error))?
                )?;
            }
            (_, Some(world)) => writeln!(out, "> {}", world.perform(&request))?,
        }
        writeln!(out, ".")?;
        out.flush()?;
    }
    Ok(())
}
