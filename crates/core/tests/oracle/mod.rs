//! An oracle for the whole device: buffer above FTL above flash, slow and plain, sharing no code with the product.
//!
//! Written from the papers and the manual pages. The product gets the same requests; after every one, all fields of its
//! ledger, the admission, the completion and the bytes read are those of the oracle, and at the end the mean response,
//! the place and version of every page, the wear and the dirty pages. What AALRU and HitStat know of their pages is
//! compared after every fourth. A field that is added to the ledger does not compile in `counts.rs` until somebody says
//! there how it is derived.

pub mod buffer_aalru;
pub mod buffer_groups;
pub mod buffer_hitstat;
pub mod buffer_pages;
pub mod cases;
pub mod counts;
pub mod device;
pub mod dice;
pub mod flash;
pub mod ftl;
pub mod ftl_bast;
pub mod ftl_block;
pub mod ftl_dftl;
pub mod ftl_fast;
pub mod ftl_log;
pub mod ftl_page;
pub mod policy;
pub mod product;
pub mod run;
pub mod workload;
