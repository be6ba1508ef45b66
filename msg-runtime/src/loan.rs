//! Slots lent for plain messages, to be filled where subscribers will read them.

use crate::{
    buffer::{InPlace, Plain, Uninit},
    error::SendError,
    message::Message,
    transport,
};
use std::{fmt, mem::MaybeUninit, ops};

/// A slot lent for a plain message that is not there yet. Dropping it sends nothing.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Message, Publisher, Subscriber};
///
/// #[derive(Message, Clone, Copy)]
/// #[message(namespace = "demo", plain)]
/// #[repr(C)]
/// struct Cloud {
///     stamp: u64,
///     points: [f32; 3000],
/// }
///
/// let clouds = Subscriber::<Cloud>::open("shm;doc-loan-uninit")?;
/// let publisher = Publisher::<Cloud>::open("shm;doc-loan-uninit")?;
/// let cloud = publisher.loan_uninit()?.init(|slot| {
///     let cloud = slot.as_mut_ptr();
///     // SAFETY: `cloud` is where a `Cloud` belongs; both of its fields are written, so that it is one.
///     unsafe {
///         (&raw mut (*cloud).stamp).write(7);
///         (&raw mut (*cloud).points).write([0.5; 3000]);
///         slot.assume_init_mut()
///     }
/// });
/// cloud.send()?;
/// assert_eq!(clouds.recv()?.view().points[2999], 0.5);
///
/// // Without `unsafe`: as a value, that is copied into the slot.
/// publisher.loan_uninit()?.init(|slot| slot.write(Cloud { stamp: 8, points: [1.0; 3000] })).send()?;
/// assert_eq!(clouds.recv()?.view().stamp, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LoanUninit<'a, M: Message + Plain> {
    pub(crate) room: Uninit<transport::Loan<'a>, M>,
}

impl<'a, M: Message + Plain> LoanUninit<'a, M> {
    /// Lets `fill` make the message in the slot. The reference that it returns is the proof that it did.
    ///
    /// # Panics
    ///
    /// If `fill` returns a reference to something else. Nothing is sent then.
    pub fn init<F>(self, fill: F) -> Loan<'a, M>
    where
        F: for<'slot> FnOnce(&'slot mut MaybeUninit<M>) -> &'slot mut M,
    {
        Loan { message: self.room.init(fill) }
    }
}

impl<M: Message + Plain> ops::Deref for LoanUninit<'_, M> {
    type Target = MaybeUninit<M>;

    fn deref(&self) -> &MaybeUninit<M> {
        &self.room
    }
}

impl<M: Message + Plain> ops::DerefMut for LoanUninit<'_, M> {
    fn deref_mut(&mut self) -> &mut MaybeUninit<M> {
        &mut self.room
    }
}

impl<M: Message + Plain> fmt::Debug for LoanUninit<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoanUninit").field("type", &M::TYPE_NAME).finish_non_exhaustive()
    }
}

/// A slot lent to be filled with a plain message. Dropping it sends nothing.
pub struct Loan<'a, M: Message + Plain> {
    pub(crate) message: InPlace<transport::Loan<'a>, M>,
}

impl<M: Message + Plain> Loan<'_, M> {
    /// Sends the message.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn send(self) -> Result<(), SendError> {
        self.message.into_bytes().send(size_of::<M>())
    }
}

impl<M: Message + Plain> ops::Deref for Loan<'_, M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.message
    }
}

impl<M: Message + Plain> ops::DerefMut for Loan<'_, M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.message
    }
}

impl<M: Message + Plain> fmt::Debug for Loan<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("type", &M::TYPE_NAME).finish_non_exhaustive()
    }
}
