//! Noun phrases (3.5).
