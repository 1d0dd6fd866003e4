//! How many pages the host can address, and devices that are grown to a capacity.

use super::{DeviceConfig, OverProvisioning};
use crate::error::ConfigError;
use crate::types::Bytes;

/// Most pages of an array: numbers of pages have 31 bits in the OOB, and four of them are markers.
pub(super) const PAGES_MAX: u64 = (1 << 31) - 4;
/// Most erase blocks of a plane.
pub(super) const BLOCKS_MAX: u32 = 1 << 24;

impl DeviceConfig {
    /// Pages that the host can address.
    pub fn logical_pages(&self) -> u32 {
        self.logical_pages_of(self.geometry.pages())
    }

    /// Pages that the host can address if the array has that many.
    fn logical_pages_of(&self, pages: u64) -> u32 {
        let physical = pages as f64;
        match self.over_provisioning {
            OverProvisioning::SpareOverLogical(x) => (physical / (1.0 + x)) as u32,
            OverProvisioning::SpareOverPhysical(x) => (physical * (1.0 - x)).round() as u32,
            OverProvisioning::LogicalPages(pages) => pages,
        }
    }

    /// Adds erase blocks to every plane until the host can address that many bytes; the part of spare pages stays. A
    /// device that is large enough stays as it is.
    ///
    /// # Errors
    /// If a device cannot have that many pages.
    pub fn grow(&mut self, capacity: Bytes) -> Result<(), ConfigError> {
        let wanted = capacity.0.div_ceil(self.geometry.page_bytes.into());
        let now = self.logical_pages();
        if wanted <= now.into() {
            return Ok(());
        }
        let planes = u64::from(self.geometry.blocks() / self.geometry.blocks_per_plane);
        let stripe = planes * u64::from(self.geometry.pages_per_block);
        let most = (PAGES_MAX / stripe).min(BLOCKS_MAX.into()) as u32;
        let is_enough = |blocks: u32| match self.over_provisioning {
            // The part of spare pages is that of the device as it was.
            OverProvisioning::LogicalPages(_) => {
                u128::from(blocks) * u128::from(now) >= u128::from(self.geometry.blocks_per_plane) * u128::from(wanted)
            }
            _ => u64::from(self.logical_pages_of(u64::from(blocks) * stripe)) >= wanted,
        };
        if !is_enough(most) {
            let page = Bytes(self.geometry.page_bytes.into());
            let problem = format!(
                "{capacity} with its spare pages is more than the {PAGES_MAX} pages of {page} that a device can have"
            );
            return Err(ConfigError::new(
                "--capacity",
                problem,
                "use less, or larger pages (device.geometry.page_bytes)",
            ));
        }
        let (mut few, mut enough) = (self.geometry.blocks_per_plane, most);
        while enough - few > 1 {
            let middle = few + (enough - few) / 2;
            *(if is_enough(middle) { &mut enough } else { &mut few }) = middle;
        }
        self.geometry.blocks_per_plane = enough;
        if let OverProvisioning::LogicalPages(pages) = &mut self.over_provisioning {
            *pages = wanted as u32;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Builder;
    use super::*;

    const GIB: u64 = 1 << 30;

    fn grown(preset: &str, gib: u64) -> Result<DeviceConfig, ConfigError> {
        let mut builder = Builder::preset(preset).unwrap();
        builder.grow(Bytes(gib * GIB));
        builder.finish().map(|config| config.device)
    }

    #[test]
    fn capacity_is_met_by_the_fewest_blocks_that_suffice() {
        for (preset, _) in super::super::DEVICES {
            let plain = Builder::preset(preset).unwrap().finish().unwrap().device;
            let device = grown(preset, 1000).unwrap();
            let wanted = (1000 * GIB).div_ceil(device.geometry.page_bytes.into());
            assert!(u64::from(device.logical_pages()) >= wanted, "{preset}");
            let spare = |device: &DeviceConfig| device.geometry.pages() as f64 / f64::from(device.logical_pages());
            assert!(
                (spare(&device) / spare(&plain) - 1.0).abs() < 1e-3,
                "{preset}: {} {}",
                spare(&device),
                spare(&plain)
            );
            let mut less = device.clone();
            less.geometry.blocks_per_plane -= 1;
            if !matches!(device.over_provisioning, OverProvisioning::LogicalPages(_)) {
                assert!(u64::from(less.logical_pages()) < wanted, "{preset}");
            }
        }
    }

    #[test]
    fn capacity_never_shrinks_a_device() {
        let plain = Builder::preset("lab").unwrap().finish().unwrap().device;
        assert_eq!(grown("lab", 1).unwrap().geometry, plain.geometry);
    }

    #[test]
    fn capacity_beyond_all_devices_is_refused() {
        let error = grown("lab", 9 << 10).unwrap_err().to_string();
        assert!(error.contains("--capacity") && error.contains("9TiB"), "{error}");
        assert!(grown("lab", u64::MAX / GIB).is_err());
    }
}
