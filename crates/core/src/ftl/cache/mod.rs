//! Parts of page maps that FTLs hold in RAM: tables of entries, nodes, whole or compressed translation pages, models.

pub mod apart;
pub mod cmt;
pub mod compressed;
pub mod models;
pub mod nodes;
pub mod pages;
pub mod slab;
pub mod tp_cache;
pub mod urm_table;
