//! The demand-mapped FTLs: what their caches do, that they lose nothing, and that they match theory.

mod map {
    pub mod caches;
    pub mod device;
    pub mod golden;
    pub mod learned;
    pub mod life;
    pub mod replicas;
    pub mod theory;
}
