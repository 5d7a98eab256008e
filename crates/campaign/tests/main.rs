//! The campaign crate from outside: processes that are forked, killed and watched, and the store.
//!
//! One program, because linking one per file cost more than running them all.

mod processes;
mod store;
mod store_files;
mod store_survives;
mod toys;
