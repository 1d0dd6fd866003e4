//! Does the level of devices record just what an independent observer logs: the kernel's own tracing of the same device?
//!
//! A file system of its own on a loop device, so that nobody else writes there. Needs root, tracefs, losetup and ext4; skipped by
//! name without them.

mod common;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{nandlab, stderr, temporary};

/// What a program does with four files: buffered and synchronised, past the page cache, through memory, and read from the disk.
const PROGRAM: &str = "
import mmap, os
with open('buffered', 'wb') as f:
    for page in range(300):
        f.write(bytes([page % 251]) * 4096)
    f.flush()
    os.fsync(f.fileno())
f = os.open('direct', os.O_RDWR | os.O_CREAT | os.O_DIRECT)
buffer = mmap.mmap(-1, 16384)
for at in [3, 0, 9, 1]:
    os.pwrite(f, buffer, at * 16384)
for at in [9, 3]:
    os.preadv(f, [buffer], at * 16384)
view = mmap.mmap(os.open('mapped', os.O_RDWR), 0)
view[5 * 4096] = 1
view[20 * 4096:22 * 4096] = b'm' * 8192
f = os.open('cold', os.O_RDONLY)
while os.read(f, 10000):
    pass
";
const FILES: [&str; 4] = ["buffered", "direct", "mapped", "cold"];

/// What a command prints; nothing if it fails or is not there.
fn said(command: &[&str]) -> Option<String> {
    let output = Command::new(command[0]).args(&command[1..]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A loop device with a file system, and a log of what is handed to it. All of it goes with the value.
#[derive(Default)]
struct Disk {
    device: Option<String>,
    mounts: Vec<PathBuf>,
    log: Option<PathBuf>,
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Some(log) = &self.log {
            _ = fs::remove_dir(log);
        }
        for mount in self.mounts.iter().rev() {
            _ = said(&["umount", &mount.to_string_lossy()]);
        }
        if let Some(device) = &self.device {
            _ = said(&["losetup", "-d", device]);
        }
    }
}

impl Disk {
    fn new(folder: &Path) -> Option<Self> {
        let mut disk = Self::default();
        let image = folder.join("disk");
        fs::File::create(&image).and_then(|file| file.set_len(64 << 20)).ok()?;
        let device = said(&["losetup", "-f", "--show", &image.to_string_lossy()])?;
        disk.device = Some(device.clone());
        said(&["mkfs.ext4", "-q", &device])?;
        disk.mount(&["-t", "ext4", &device], folder.join("mount"))?;
        let tracing = folder.join("tracing");
        disk.mount(&["-t", "tracefs", "none"], tracing.clone())?;
        let log = tracing.join(format!("instances/nandlab-{}", std::process::id()));
        fs::create_dir(&log).ok()?;
        disk.log = Some(log.clone());
        let numbers = said(&["lsblk", "-n", "-d", "-o", "MAJ:MIN", &device])?;
        let (major, minor) = numbers.trim().split_once(':')?;
        let number = (major.parse::<u32>().ok()? << 20) | minor.parse::<u32>().ok()?;
        let event = log.join("events/block/block_bio_queue");
        fs::write(log.join("buffer_size_kb"), "4096").ok()?;
        fs::write(event.join("filter"), format!("dev == {number}")).ok()?;
        fs::write(event.join("enable"), "1").ok()?;
        Some(disk)
    }

    fn mount(&mut self, what: &[&str], place: PathBuf) -> Option<()> {
        fs::create_dir_all(&place).ok()?;
        said(&[&["mount"], what, &[&place.to_string_lossy()]].concat())?;
        self.mounts.push(place);
        Some(())
    }

    fn folder(&self) -> &Path {
        &self.mounts[0]
    }

    /// What was handed to the device: kind, first sector, sectors.
    fn logged(&self) -> Vec<(char, u64, u64)> {
        let text = fs::read_to_string(self.log.as_ref().expect("a log").join("trace")).expect("the log");
        let row = |line: &str| {
            // `7,0 WS 1234 + 8 [dd]` after the name of the event.
            let words: Vec<&str> = line.split_once("block_bio_queue: ")?.1.split_whitespace().collect();
            Some((words[1].chars().next()?, words[2].parse().ok()?, words.get(4)?.parse().ok()?))
        };
        text.lines().filter_map(row).collect()
    }

    /// The sectors of a file.
    fn sectors(&self, file: &str) -> Vec<Range<u64>> {
        let path = self.folder().join(file);
        let told = said(&["filefrag", "-v", "-b512", &path.to_string_lossy()]).expect("filefrag");
        // `   0:        0..    2399:      67584..     69983:   2400:             last,eof`
        let extent = |line: &str| {
            let physical = line.split(':').nth(2)?;
            let (first, last) = physical.split_once("..")?;
            Some(first.trim().parse().ok()?..last.trim().parse::<u64>().ok()? + 1)
        };
        told.lines().filter_map(extent).collect()
    }
}

#[test]
fn every_data_request_that_the_kernel_logs_is_recorded_in_order() {
    let folder = temporary("observed");
    fs::create_dir_all(&folder).unwrap();
    let Some(disk) = Disk::new(&folder) else {
        eprintln!("observer skipped: it needs root, losetup, mkfs.ext4, lsblk and tracefs");
        return;
    };
    for file in ["mapped", "cold"] {
        fs::write(disk.folder().join(file), vec![7; 40 * 4096]).unwrap();
    }
    let forget = "import os\nfor name in ['mapped', 'cold']:\n  f = os.open(name, os.O_RDONLY)\n  os.fsync(f)\n  \
                  os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)\n";
    let forgotten = Command::new("python3").args(["-c", forget]).current_dir(disk.folder()).status();
    assert!(forgotten.is_ok_and(|status| status.success()), "python3");
    let before = disk.logged().len();
    let trace = folder.join("trace.parquet");
    let trace = trace.to_str().expect("UTF-8");
    let output = Command::new(env!("CARGO_BIN_EXE_nandlab"))
        .args(["record", "--level", "device", "-o", trace, "--", "python3", "-c", PROGRAM])
        .current_dir(disk.folder())
        .output()
        .expect("nandlab");
    let told = stderr(&output);
    if told.contains("the device level needs") || told.contains("needs ptrace") {
        eprintln!("observer skipped: {told}");
        return;
    }
    assert!(output.status.success(), "{told}");
    let places: Vec<Range<u64>> = FILES.iter().flat_map(|file| disk.sectors(file)).collect();
    let is_data = |sector: u64| places.iter().any(|place| place.contains(&sector));
    let logged: Vec<_> = disk.logged().into_iter().skip(before).filter(|row| is_data(row.1)).collect();
    let text = String::from_utf8(nandlab(&["trace", "convert", trace]).stdout).expect("text");
    let rows = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split(',').collect()).collect();
    let number = |row: &[&str], at: usize| row[at].parse::<u64>().expect("a number");
    let data = |row: &&Vec<&str>| matches!(row[2], "R" | "W") && is_data(number(row, 3) / 512);
    let recorded: Vec<&Vec<&str>> = rows.iter().filter(data).collect();
    let told: Vec<_> = recorded
        .iter()
        .map(|row| (row[2].chars().next().unwrap(), number(row, 3) / 512, number(row, 4) / 512))
        .collect();
    assert_eq!(told, logged);
    let has = |kind, sectors: u64| logged.iter().filter(|row| row.0 == kind).map(|row| row.2).sum::<u64>() >= sectors;
    assert!(has('W', (300 + 16 + 3) * 8) && has('R', (40 + 8) * 8), "the program did what it should: {logged:?}");
    assert!(recorded.iter().all(|row| number(row, 10) != 0 && number(row, 12) != 0), "a file and a call stack each");
}
