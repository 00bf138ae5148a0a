//! The last word when the memory ends all the same.
//!
//! What a count needs is known before it begins, but other programs take memory as well, and
//! under `ulimit -v` an allocation may fail at any time. Rust then aborts the program with a core
//! dump. This allocator says in one line what to do instead, and ends with the exit code for what
//! cannot be done here and now. What the journal holds is good: its lines are complete or dropped.

#![expect(unsafe_code, reason = "an allocator is unsafe by its nature, and `_exit` is not in std")]

use std::alloc::{GlobalAlloc, Layout, System};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use rustix::process::{Resource, getrlimit};

use super::exit::Exit;

/// The system's allocator, which does not return if there is no memory.
pub(crate) struct OrExit;

const MESSAGE: &[u8] = b"nqueens: out of memory: ask for fewer --threads, or count \
    where there is more; what a journal holds is good, and the same command resumes\n";

/// Makes all threads share one heap if reserved memory counts (`ulimit -v`): glibc would reserve 64 MiB for the
/// heap of each thread, and twice as much for a moment.
pub(crate) fn share_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if getrlimit(Resource::As).current.is_some() {
        // SAFETY: it sets a number, before there are other threads.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// Hands the memory on, or ends the program. That takes no memory, and runs no destructor and no exit
/// handler: other threads are at work, and what they hold may be what is needed to end in good order.
fn or_exit(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        // SAFETY: the message is a valid buffer of the length given, and `_exit` may be called at any
        // time. If nobody can be told, the exit code tells.
        unsafe {
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(Exit::NotNow as i32)
        }
    }
    memory
}

// SAFETY: all memory comes from the system's allocator and goes back to it, with the layouts as
// they are given; a null pointer is never handed on, as the program has ended before.
unsafe impl GlobalAlloc for OrExit {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system asks for.
        or_exit(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_exit(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the memory is the system's.
        or_exit(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}
