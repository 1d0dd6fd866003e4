//! The demand-mapped FTLs: DFTL, RFTL and URM's compressed map.

mod map {
    pub mod device;
    pub mod golden;
    pub mod life;
    pub mod theory;
}
