//! The demand-mapped FTLs: what their caches do and that they match theory.

#![allow(clippy::print_stdout, reason = "measured numbers are part of what these tests tell")]

mod kit;

mod map {
    pub mod caches;
    pub mod compressed;
    pub mod costs;
    pub mod device;
    pub mod learned;
    pub mod options;
    pub mod parameters;
    pub mod replicas;
    pub mod theory;
    pub mod uneven;
}
