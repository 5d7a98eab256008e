//! Clauses (3.6).
