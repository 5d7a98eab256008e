//! Explanations and features: rules, examples, and sweeps over code that was not written for us.
//!
//! One program, because linking one per file cost more than running them all.

mod aliases;
mod changes;
mod depth;
mod difference;
mod examples;
mod execution;
mod failures;
mod features;
mod helpers;
mod idioms_page;
mod installed_actions;
mod installed_code;
mod layout;
mod models;
mod parsers;
mod robust;
mod rules;
mod small_models;
mod standard_library;
mod sweep;
mod unfolding;
mod variables;
