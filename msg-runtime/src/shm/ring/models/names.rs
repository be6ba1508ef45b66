//! Who comes in while the last one goes out: names and locks of a segment's files, as `attach` and `participant` use
//! them, over a kernel of a few words.
//!
//! Files and locks are the kernel's, which loom does not know; so the steps are written out here, one for each system
//! call, with the lock on all bytes, a look at the name, and the removal as they are there. The data file goes with the
//! readers file and is left out.

use loom::sync::{Arc, Mutex};
use loom::thread;

use super::check;

/// Segments that exist in a run, at most.
const SEGMENTS: usize = 4;
/// Participants of a run, each with a byte of its own.
const BYTES: usize = 3;

/// The name and the files behind it.
#[derive(Default)]
struct Kernel {
    /// Which segment has the name.
    named: Option<usize>,
    /// Who holds which byte of which segment's readers file.
    locks: [[Option<usize>; BYTES]; SEGMENTS],
    made: usize,
}

/// One of our rules left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    /// Whoever comes in does not look whether the file that it has locked still has the name.
    NoLookAtTheName,
    /// Whoever goes out removes the files without the lock on all bytes.
    NoLockOnAll,
    /// Whoever goes out looks only once whether it is the last.
    OneLook,
    /// Whoever goes out removes whatever has the name.
    NoLookBeforeRemoval,
}

#[derive(Clone)]
struct Participant {
    kernel: Arc<Mutex<Kernel>>,
    me: usize,
    mistake: Mistake,
}

impl Participant {
    fn call<R>(&self, call: impl FnOnce(&mut Kernel) -> R) -> R {
        call(&mut self.kernel.lock().unwrap())
    }

    /// Takes all bytes, unless somebody else holds one.
    fn lock_all(&self, segment: usize) -> bool {
        self.call(|kernel| {
            let locks = &mut kernel.locks[segment];
            let free = locks.iter().all(|holder| holder.is_none_or(|holder| holder == self.me));
            if free {
                *locks = [Some(self.me); BYTES];
            }
            free
        })
    }

    fn unlock_all(&self, segment: usize) {
        self.call(|kernel| {
            for holder in &mut kernel.locks[segment] {
                *holder = holder.filter(|holder| *holder != self.me);
            }
        });
    }

    /// Makes a segment with our lock on it and gives it the name, unless something has it.
    fn create(&self) -> Option<usize> {
        self.call(|kernel| {
            if kernel.named.is_some() || kernel.made == SEGMENTS {
                return None;
            }
            let segment = kernel.made;
            kernel.made += 1;
            kernel.locks[segment][self.me] = Some(self.me);
            kernel.named = Some(segment);
            Some(segment)
        })
    }

    /// One attempt to come in, as in `Opening::attempt`; `None`: start over.
    fn attempt(&self) -> Option<usize> {
        let Some(segment) = self.call(|kernel| kernel.named) else { return self.create() };
        // Nobody is there: leftovers of the dead are removed.
        if self.lock_all(segment) {
            self.remove(segment);
            self.unlock_all(segment);
            return None;
        }
        let locked = self.call(|kernel| {
            let byte = &mut kernel.locks[segment][self.me];
            let free = byte.is_none();
            if free {
                *byte = Some(self.me);
            }
            free
        });
        if !locked {
            return None;
        }
        if self.mistake == Mistake::NoLookAtTheName || self.is_named(segment) {
            return Some(segment);
        }
        self.leave(segment);
        None
    }

    fn is_named(&self, segment: usize) -> bool {
        self.call(|kernel| kernel.named == Some(segment))
    }

    fn remove(&self, segment: usize) {
        if self.mistake == Mistake::NoLookBeforeRemoval || self.is_named(segment) {
            self.call(|kernel| kernel.named = None);
        }
    }

    /// As `Membership::remove_files_if_last`, and then the file is closed.
    fn leave(&self, segment: usize) {
        let mut last = self.mistake == Mistake::NoLockOnAll || self.lock_all(segment);
        if !last {
            self.unlock_all(segment);
            last = self.mistake != Mistake::OneLook && self.lock_all(segment);
        }
        if last {
            self.remove(segment);
        }
        self.unlock_all(segment);
    }
}

/// Two go out while one comes in. Whoever is in has the segment that everybody finds; when all are out, nothing is left.
fn comes_and_goes(mistake: Mistake) {
    check(2, move || {
        let kernel = Arc::new(Mutex::new(Kernel::default()));
        let participant = |me| Participant { kernel: Arc::clone(&kernel), me, mistake };
        let first = participant(0).create().unwrap();
        kernel.lock().unwrap().locks[first][1] = Some(1);
        let goes = [0, 1].map(|me| {
            let participant = participant(me);
            thread::spawn(move || participant.leave(first))
        });
        let comes = participant(2);
        // It tries for as long as somebody is in its way; here that ends.
        let entered = (0..3).find_map(|_| comes.attempt());
        if let Some(segment) = entered {
            assert!(comes.is_named(segment), "it is where nobody finds it");
        }
        goes.into_iter().for_each(|going| going.join().unwrap());
        let Some(segment) = entered.or_else(|| comes.attempt()).or_else(|| comes.attempt()) else {
            panic!("nobody is in the way any more")
        };
        assert!(comes.is_named(segment), "it is where nobody finds it");
        comes.leave(segment);
        assert_eq!(kernel.lock().unwrap().named, None, "a file is left");
    });
}

/// Two go out at once and nobody comes: the files go with them.
fn both_go(mistake: Mistake) {
    check(2, move || {
        let kernel = Arc::new(Mutex::new(Kernel::default()));
        let participant = |me| Participant { kernel: Arc::clone(&kernel), me, mistake };
        let first = participant(0).create().unwrap();
        kernel.lock().unwrap().locks[first][1] = Some(1);
        let goes = [0, 1].map(|me| {
            let participant = participant(me);
            thread::spawn(move || participant.leave(first))
        });
        goes.into_iter().for_each(|going| going.join().unwrap());
        assert_eq!(kernel.lock().unwrap().named, None, "a file is left");
    });
}

#[test]
fn of_two_who_go_at_once_one_takes_the_files_along() {
    both_go(Mistake::None);
}

#[test]
fn whoever_comes_while_the_last_ones_go_is_where_everybody_finds_it() {
    comes_and_goes(Mistake::None);
}

#[test]
fn every_rule_about_names_is_needed() {
    let mistakes =
        [Mistake::NoLookAtTheName, Mistake::NoLockOnAll, Mistake::OneLook, Mistake::NoLookBeforeRemoval];
    for mistake in mistakes {
        let fails = |scenario: fn(Mistake)| std::thread::spawn(move || scenario(mistake)).join().is_err();
        assert!(fails(comes_and_goes) || fails(both_go), "{mistake:?} is not caught");
    }
}
