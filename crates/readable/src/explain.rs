//! Models, machines and harnesses in plain English (section 6 of the specification).

mod facts;
mod flow;
mod locate;
mod run;
