use crate::sys;
use std::ffi::CStr;
use std::fmt;
use std::os::raw::{c_char, c_uint};

/// What a call was refused for, with the library's words. A refused call changes nothing, unless it says so.
///
/// What happens in a program that is right is none of these: a pod that is not there is None, or false. A token that was used
/// before does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The queue is closed; of a pop: and nothing is poppable now.
    Closed,
    /// [`Canceler::cancel`](crate::Canceler::cancel) ended this wait; nothing was taken.
    Canceled,
    /// That name, or that group, is there already.
    Exists,
    /// A cap is reached. The words say which.
    Full(String),
    /// The allocator, or the system, gave nothing.
    NoMemory(String),
    /// Called from a callback of this queue, or setup is over. The words say who is in the way.
    Busy(String),
    /// An argument is out of range. The words name it, its value and the legal range.
    Invalid(String),
}

impl Error {
    pub(crate) fn new(status: sys::schedq_status_t, words: String) -> Error {
        match status {
            sys::SCHEDQ_CLOSED => Error::Closed,
            sys::SCHEDQ_CANCELED => Error::Canceled,
            sys::SCHEDQ_EXISTS => Error::Exists,
            sys::SCHEDQ_FULL => Error::Full(words),
            sys::SCHEDQ_NOMEM => Error::NoMemory(words),
            sys::SCHEDQ_BUSY => Error::Busy(words),
            sys::SCHEDQ_INVALID => Error::Invalid(words),
            other => Error::Invalid(format!("the library answered {}", other)),
        }
    }

    /// The library's name of this outcome: "SCHEDQ_FULL".
    pub fn name(&self) -> &'static str {
        static_text(unsafe { sys::schedq_status_name(self.status()) })
    }

    fn status(&self) -> c_uint {
        match self {
            Error::Closed => sys::SCHEDQ_CLOSED,
            Error::Canceled => sys::SCHEDQ_CANCELED,
            Error::Exists => sys::SCHEDQ_EXISTS,
            Error::Full(_) => sys::SCHEDQ_FULL,
            Error::NoMemory(_) => sys::SCHEDQ_NOMEM,
            Error::Busy(_) => sys::SCHEDQ_BUSY,
            Error::Invalid(_) => sys::SCHEDQ_INVALID,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Full(words)
            | Error::NoMemory(words)
            | Error::Busy(words)
            | Error::Invalid(words)
                if !words.is_empty() =>
            {
                out.write_str(words)
            }
            _ => out.write_str(static_text(unsafe { sys::schedq_status_text(self.status()) })),
        }
    }
}

impl std::error::Error for Error {}

/// A call that was to end a cycle and did not: the pod is still in flight, and the caller is its holder.
///
/// When it is dropped, so is the pod: see [`Popped`](crate::Popped). `?` makes it an [`Error`], and drops the pod.
#[derive(Debug)]
pub struct Refused<P> {
    /// Why.
    pub error: Error,
    /// What was to end.
    pub pod: Box<P>,
}

impl<P> fmt::Display for Refused<P> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(out)
    }
}

impl<P: fmt::Debug> std::error::Error for Refused<P> {}

impl<P> From<Refused<P>> for Error {
    fn from(refused: Refused<P>) -> Error {
        refused.error
    }
}

/// Room for the words of a refusal.
pub(crate) struct Words([c_char; 512]);

impl Words {
    pub(crate) fn new() -> Words {
        Words([0; 512])
    }

    pub(crate) fn room(&mut self) -> *mut c_char {
        self.0.as_mut_ptr()
    }

    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }

    /// OK, or the refusal with these words.
    pub(crate) fn check(&self, status: sys::schedq_status_t) -> Result<(), Error> {
        if status == sys::SCHEDQ_OK {
            return Ok(());
        }
        Err(Error::new(status, text(self.0.as_ptr())))
    }
}

/// What the library, or `Words`, holds at an address, as a string.
pub(crate) fn text(from: *const c_char) -> String {
    if from.is_null() {
        return String::new();
    }
    unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned()
}

fn static_text(from: *const c_char) -> &'static str {
    unsafe { CStr::from_ptr(from) }.to_str().unwrap_or("")
}

/// A name that the library wants with a NUL behind it.
pub(crate) fn c_string(what: &str, text: &str) -> Result<std::ffi::CString, Error> {
    std::ffi::CString::new(text)
        .map_err(|_| Error::Invalid(format!("{} {:?}: a NUL is in it", what, text)))
}

/// Room for what the library fills, as much as a caller asked for.
pub(crate) fn room<R>(what: &str, most: usize) -> Result<Vec<R>, Error> {
    let mut room = Vec::new();
    room.try_reserve_exact(most).map_err(|_| {
        Error::NoMemory(format!("{} {}: there is no memory for so many", what, most))
    })?;
    Ok(room)
}

pub(crate) fn place_name(place: sys::schedq_place_t) -> &'static str {
    static_text(unsafe { sys::schedq_place_name(place) })
}
