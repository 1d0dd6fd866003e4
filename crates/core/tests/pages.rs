//! Do the page policies decide as slow, obvious versions of them do?
//!
//! Each reference keeps plain `Vec`s and is written from the description, not from the fast code.

mod policies {
    pub mod harness;
    pub mod modern;
    pub mod modern_history;
    pub mod paged;
    pub mod queues;
    pub mod reconstructions;
}
