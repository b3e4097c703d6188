//! Pods a second through the crate beside C, one at a time and in batches of 64: added, popped, done.
//!
//! With an argument: seconds for each row.

use schedq::{Batch, Config, Engine, Queue, Spec, Worker};
use schedq_sys as sys;
use std::os::raw::c_int;
use std::sync::Arc;
use std::time::{Duration, Instant};

const BATCH: usize = 64;
const ROUNDS: u32 = 21;

extern "C" {
    fn loop_open(room: *mut u64, engine: u8, pending: usize) -> c_int;
    fn loop_close(room: *mut u64);
    fn loop_lives(room: *mut u64, count: usize) -> c_int;
    fn loop_batches(room: *mut u64, count: usize) -> c_int;
}

/// What is measured: a title, how many pods a turn has, and the turn.
type Row<'a> = (&'static str, usize, Box<dyn FnMut() + 'a>);

/// Median and range of some rounds of each row, in turns: what disturbs the machine disturbs all of them.
fn measure(engine: Engine, seconds: f64, mut rows: Vec<Row<'_>>) {
    let mut rates = vec![Vec::new(); rows.len()];
    for _ in 0..ROUNDS {
        for ((_, pods, turn), rates) in rows.iter_mut().zip(&mut rates) {
            let (begin, mut turns) = (Instant::now(), 0);
            while begin.elapsed() < Duration::from_secs_f64(seconds) / ROUNDS {
                turn();
                turns += 1;
            }
            rates.push((turns * *pods) as f64 / begin.elapsed().as_secs_f64());
        }
    }
    let engine = format!("{:?}", engine).to_lowercase();
    for ((title, ..), rates) in rows.iter().zip(&mut rates) {
        rates.sort_by(f64::total_cmp);
        let (least, middle, most) = (rates[0], rates[rates.len() / 2], rates[rates.len() - 1]);
        println!("{:9} {:20} {:12.0}   ({:.0} .. {:.0})", engine, title, middle, least, most);
    }
}

struct Loop {
    worker: Worker<u64>,
    names: Vec<String>,
    objects: Vec<Arc<u64>>,
    batch: Batch<u64>,
}

impl Loop {
    fn new(queue: &Queue<u64>) -> Loop {
        let names: Vec<String> = (0..BATCH).map(|n| format!("default/pod-{}", n)).collect();
        let objects: Vec<_> = (0..BATCH as u64).map(Arc::new).collect();
        let mut batch = Batch::new();
        for (name, object) in names.iter().zip(&objects) {
            batch.push(name, Spec::new(object.clone()).priority(1));
        }
        Loop { worker: queue.worker().unwrap(), names, objects, batch }
    }

    /// Each object is there already, as in C.
    fn singly(&self) {
        for (name, object) in self.names.iter().zip(&self.objects) {
            self.worker.add(name, &Spec::new(object.clone()).priority(1)).unwrap();
            let pod = self.worker.try_pop().unwrap().unwrap();
            self.worker.done(pod).unwrap();
        }
    }

    /// Each pod gets an object of its own.
    fn singly_with_new_objects(&self) {
        for (name, number) in self.names.iter().zip(0..) {
            self.worker.add(name, &Spec::new(number).priority(1)).unwrap();
            let pod = self.worker.try_pop().unwrap().unwrap();
            self.worker.done(pod).unwrap();
        }
    }

    fn in_batches(&self) {
        self.worker.add_many(&self.batch).unwrap();
        let pods = self.worker.try_pop_many(BATCH).unwrap();
        assert_eq!(self.worker.done_many(pods).unwrap(), BATCH);
    }
}

fn main() {
    let seconds = std::env::args().nth(1).map_or(5.0, |text| text.parse().expect("seconds"));
    let version = unsafe { sys::schedq_version() };
    println!(
        "pods a second; schedq {}.{}.{}, {} rounds of {:.2} s",
        version >> 16,
        version >> 8 & 255,
        version & 255,
        ROUNDS,
        seconds / f64::from(ROUNDS)
    );
    for engine in [Engine::LockFree, Engine::Mutex] {
        let mut room = vec![0u64; 1 << 17]; // a struct loop
        let room = room.as_mut_ptr();
        assert_eq!(unsafe { loop_open(room, engine as u8, 0) }, 0);
        let queue = Queue::new(Config::new().engine(engine)).unwrap();
        let own = Loop::new(&queue);
        let many = BATCH * 16;
        let lives = || assert_eq!(unsafe { loop_lives(room, many) }, 1);
        let batches = || assert_eq!(unsafe { loop_batches(room, many) }, 1);
        let rows: Vec<Row<'_>> = vec![
            ("C, one by one", many, Box::new(lives)),
            ("Rust, one by one", BATCH, Box::new(|| own.singly())),
            ("Rust, new objects", BATCH, Box::new(|| own.singly_with_new_objects())),
            ("C, batches", many, Box::new(batches)),
            ("Rust, batches", BATCH, Box::new(|| own.in_batches())),
        ];
        measure(engine, seconds, rows);
        unsafe { loop_close(room) };
    }
}
