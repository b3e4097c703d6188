//! What the library calls: objects, hints, gates, visitors. No panic leaves a function here: unwinding must not go through C.
//!
//! An object's 64 bits are the address of a T inside of an Arc. The library counts its references there, by retain and release, and
//! drops the last one on whatever thread. So T is Send, Sync and 'static.

use crate::sys;
use std::any::Any;
use std::ops::ControlFlow;
use std::os::raw::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex};

pub(crate) type Hint<T> = Box<dyn Fn(&T, Option<&T>, Option<&T>) -> bool + Send + Sync>;
pub(crate) type Gate<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;
pub(crate) type Affinity<T> = Box<dyn Fn(&T, &T) -> bool + Send + Sync>;
pub(crate) type Payload = Box<dyn Any + Send>;
pub(crate) type HintFn = unsafe extern "C" fn(*mut c_void, u64, u64, u64) -> sys::schedq_hint_t;

/// That a plugin has at most.
pub(crate) const INTERESTS: usize = 256;

/// A queue's callbacks; the library has its address, as the context of objects.
pub(crate) struct Hooks<T> {
    pub(crate) affinity: Option<Affinity<T>>,
    pub(crate) plugins: Vec<*mut PluginHooks<T>>,
    pub(crate) panic: Panic,
}

impl<T> Drop for Hooks<T> {
    fn drop(&mut self) {
        for plugin in self.plugins.drain(..) {
            drop(unsafe { Box::from_raw(plugin) });
        }
    }
}

/// A plugin's; the library has its address, as the plugin's context.
pub(crate) struct PluginHooks<T> {
    pub(crate) hints: Vec<Option<Hint<T>>>,
    pub(crate) gate: Option<Gate<T>>,
    /// Hooks, which outlive it.
    pub(crate) panic: *const Panic,
}

/// What a callback panicked with: the first of them, until it is taken.
#[derive(Default)]
pub(crate) struct Panic(Mutex<Option<Payload>>);

impl Panic {
    pub(crate) fn take(&self) -> Option<Payload> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    /// Runs it; its panic is kept, and answered by `otherwise`.
    pub(crate) fn catch<R>(&self, otherwise: R, run: impl FnOnce() -> R) -> R {
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(answer) => answer,
            Err(payload) => {
                let mut kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if kept.is_none() {
                    *kept = Some(payload);
                } else {
                    // Its destructor may panic too.
                    std::mem::forget(payload);
                }
                otherwise
            }
        }
    }

    /// Goes on with what was caught, once the library has returned.
    pub(crate) fn go_on(&self) {
        if let Some(payload) = self.take() {
            std::panic::resume_unwind(payload);
        }
    }
}

// ---- objects -------------------------------------------------------------------------------------

pub(crate) fn bits<T>(object: &Arc<T>) -> u64 {
    Arc::as_ptr(object) as usize as u64
}

pub(crate) fn bits_of<T>(object: Option<&Arc<T>>) -> u64 {
    object.map_or(0, bits)
}

/// # Safety
/// The bits are 0, or those of an object of this queue that somebody holds for 'a.
pub(crate) unsafe fn object<'a, T>(bits: u64) -> Option<&'a T> {
    (bits as usize as *const T).as_ref()
}

pub(crate) unsafe extern "C" fn retain<T>(_hooks: *mut c_void, object: u64) {
    if object != 0 {
        Arc::increment_strong_count(object as usize as *const T);
    }
}

pub(crate) unsafe extern "C" fn release<T>(hooks: *mut c_void, object: u64) {
    let hooks = &*(hooks as *const Hooks<T>);
    if object != 0 {
        hooks.panic.catch((), || drop(Arc::from_raw(object as usize as *const T)));
    }
}

pub(crate) unsafe extern "C" fn affinity<T>(hooks: *mut c_void, pod: u64, assigned: u64) -> c_int {
    let hooks = &*(hooks as *const Hooks<T>);
    match (&hooks.affinity, object(pod), object(assigned)) {
        (Some(matches), Some(pod), Some(assigned)) => {
            hooks.panic.catch(true, || matches(pod, assigned)).into()
        }
        _ => 0,
    }
}

// ---- plugins -------------------------------------------------------------------------------------

pub(crate) unsafe extern "C" fn gate<T>(plugin: *mut c_void, pod: u64) -> c_int {
    let plugin = &*(plugin as *const PluginHooks<T>);
    match (&plugin.gate, object(pod)) {
        (Some(gate), Some(pod)) => (*plugin.panic).catch(true, || gate(pod)).into(),
        _ => 1,
    }
}

/// The library tells a hint its plugin, and not its interest. So there is a function for each interest that a plugin can have.
unsafe extern "C" fn hint<T, const NUMBER: usize>(
    plugin: *mut c_void,
    pod: u64,
    before: u64,
    after: u64,
) -> sys::schedq_hint_t {
    ask(&*(plugin as *const PluginHooks<T>), NUMBER, pod, before, after)
}

unsafe fn ask<T>(
    plugin: &PluginHooks<T>,
    number: usize,
    pod: u64,
    before: u64,
    after: u64,
) -> sys::schedq_hint_t {
    match (&plugin.hints[number], object(pod)) {
        (Some(hint), Some(pod)) => (*plugin.panic)
            .catch(sys::SCHEDQ_HINT_ERROR, || u32::from(hint(pod, object(before), object(after)))),
        _ => sys::SCHEDQ_HINT_QUEUE,
    }
}

macro_rules! sixteen {
    ($from:literal) => {
        [
            hint::<T, { $from * 16 }>,
            hint::<T, { $from * 16 + 1 }>,
            hint::<T, { $from * 16 + 2 }>,
            hint::<T, { $from * 16 + 3 }>,
            hint::<T, { $from * 16 + 4 }>,
            hint::<T, { $from * 16 + 5 }>,
            hint::<T, { $from * 16 + 6 }>,
            hint::<T, { $from * 16 + 7 }>,
            hint::<T, { $from * 16 + 8 }>,
            hint::<T, { $from * 16 + 9 }>,
            hint::<T, { $from * 16 + 10 }>,
            hint::<T, { $from * 16 + 11 }>,
            hint::<T, { $from * 16 + 12 }>,
            hint::<T, { $from * 16 + 13 }>,
            hint::<T, { $from * 16 + 14 }>,
            hint::<T, { $from * 16 + 15 }>,
        ]
    };
}

/// The function of an interest, by its number: None above those that a plugin can have.
pub(crate) fn hint_fn<T>(number: usize) -> Option<HintFn> {
    let functions: [[HintFn; 16]; 16] = [
        sixteen!(0),
        sixteen!(1),
        sixteen!(2),
        sixteen!(3),
        sixteen!(4),
        sixteen!(5),
        sixteen!(6),
        sixteen!(7),
        sixteen!(8),
        sixteen!(9),
        sixteen!(10),
        sixteen!(11),
        sixteen!(12),
        sixteen!(13),
        sixteen!(14),
        sixteen!(15),
    ];
    functions.get(number / 16).map(|row| row[number % 16])
}

// ---- what one call is given ----------------------------------------------------------------------

pub(crate) struct Precheck<'a, T> {
    pub(crate) check: &'a (dyn Fn(&T) -> bool + Sync),
    pub(crate) panic: Panic,
}

pub(crate) unsafe extern "C" fn precheck<T>(precheck: *mut c_void, pod: u64) -> c_int {
    let precheck = &*(precheck as *const Precheck<'_, T>);
    object(pod).map_or(1, |pod| precheck.panic.catch(false, || (precheck.check)(pod)).into())
}

/// A closure that gets pieces, and can end the walk.
pub(crate) struct Walk<F> {
    pub(crate) each: F,
    pub(crate) panic: Panic,
}

impl<F> Walk<F> {
    pub(crate) fn new(each: F) -> Walk<F> {
        Walk { each, panic: Panic::default() }
    }

    pub(crate) fn ctx(&mut self) -> *mut c_void {
        (self as *mut Walk<F>).cast()
    }

    fn piece(&mut self, piece: impl FnOnce(&mut F) -> ControlFlow<()>) -> c_int {
        let Walk { each, panic } = self;
        panic.catch(false, || piece(each).is_continue()).into()
    }
}

pub(crate) unsafe extern "C" fn visit<T, F>(
    walk: *mut c_void,
    pod: *const sys::schedq_pod_info_t,
) -> c_int
where
    F: FnMut(&crate::PodInfo<'_, T>) -> ControlFlow<()>,
{
    let walk = &mut *(walk as *mut Walk<F>);
    walk.piece(|each| each(&crate::PodInfo::new(&*pod)))
}

/// Of a `Walk` whose closure takes bytes.
pub(crate) unsafe extern "C" fn write<F: FnMut(&[u8])>(
    walk: *mut c_void,
    text: *const c_char,
    length: usize,
) -> c_int {
    let walk = &mut *(walk as *mut Walk<F>);
    walk.piece(|each| {
        each(std::slice::from_raw_parts(text.cast(), length));
        ControlFlow::Continue(())
    })
}
