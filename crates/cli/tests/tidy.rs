//! Promises about the repository as a whole: the map agrees with the territory, and the code keeps
//! to plain words. Each check is also run on inputs that it must refuse.

mod crate_order;
mod files;
mod map;
mod outside;
mod spelling;
mod test_programs;
mod words;
