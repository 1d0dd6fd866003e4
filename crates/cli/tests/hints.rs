//! Do hints, files and call stacks go through the tools, and are hints worked out from them?

mod common;

use std::fmt::Write;

use common::{json, nandlab, nandlab_reading, path, stderr, tool};

/// Requests of two stacks: one reads a file of 8 pages again and again, the other any page of a large one.
fn recorded() -> String {
    let mut text = "# nandlab trace 1\ntime_ns,device,op,offset,length,file,file_page,stack\n".to_owned();
    for i in 0..400_u64 {
        let (page, far) = (i % 8, i * 7919 % 100_003);
        writeln!(text, "{},0,R,{},4096,5,{page},70", 2000 * i, page * 4096).expect("text grows");
        writeln!(text, "{},0,R,{},4096,6,{far},71", 2000 * i + 1, (far + 8) * 4096).expect("text grows");
    }
    text += "# {\"module\":[1,{\"path\":\"/usr/lib/libc.so.6\"}]}\n";
    text += "# {\"module\":[2,{\"path\":\"/usr/bin/grep\",\"build\":\"abcd\"}]}\n";
    text += "# {\"stack\":[70,[[1,4096],[2,256]]]}\n# {\"stack\":[71,[[1,4096],[2,512]]]}\n";
    text += "# {\"file\":[5,{\"path\":\"/etc/hosts\",\"device\":1,\"inode\":2,\"generation\":3}]}\n";
    text
}

/// What is said about stacks, modules and files at the end of text.
fn tables(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> =
        text.lines().filter(|line| line.starts_with("# {\"") && !line.contains("\"tool\"")).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn files_and_stacks_survive_every_tool() {
    let (text, columns) = (recorded(), path("recorded.parquet"));
    tool(&format!("trace convert - -o {columns}"), &text);
    let row = "\n0,0,R,0,4096,5,0,70\n1,0,R,32768,4096,6,0,71\n";
    for line in [
        "trace convert",
        "trace cut",
        "trace sample --rate 1",
        "trace scale --time 1",
        "trace filter",
        "trace remap --align 512",
        "trace merge --keep-devices",
    ] {
        let (words, options) = line.split_once(" --").map_or((line, String::new()), |(w, o)| (w, format!(" --{o}")));
        let inputs = if words.ends_with("merge") { format!("{columns} {columns}") } else { columns.clone() };
        let out = tool(&format!("{words} {inputs}{options}"), "");
        assert_eq!(tables(&out), tables(&text), "{line}");
        let once =
            out.replace("\n0,0,R,0,4096,5,0,70\n0,0", "\n0,0").replace("\n1,0,R,32768,4096,6,0,71\n1,0", "\n1,0");
        assert!(once.contains(row), "{line}: {}", &out[..600]);
    }
    let parts = path("recorded-{}.parquet");
    tool(&format!("trace split {columns} -o {parts} --every 500"), "");
    assert_eq!(tables(&tool(&format!("trace cut {}", parts.replace("{}", "1")), "")), tables(&text));
    for part in ["cut - --take 5", "convert - -n 5"] {
        assert_eq!(tables(&tool(&format!("trace {part}"), &text)), tables(&text), "{part} reads on to them");
    }
    let early = nandlab_reading(&["trace", "split", "-", "-o", &parts, "--every", "500"], text.as_bytes());
    assert!(stderr(&early).contains("keep it as Parquet first"), "{}", stderr(&early));
    let limited = nandlab_reading(&["trace", "split", "-", "-o", &parts, "--every", "500", "-n", "5"], text.as_bytes());
    assert!(stderr(&limited).contains("keep it as Parquet first"), "{}", stderr(&limited));
    let piped = tool("trace cut -", &tool("trace filter -", &text));
    assert_eq!(tables(&piped), tables(&text), "through pipes too");
    let split = tool(
        "trace remap - --modulo 6KiB",
        "time_ns,device,op,offset,length,file,file_page,stack\n0,0,R,0,16384,9,3,4\n",
    );
    assert!(split.contains("R,0,6144,9,3,4\n0,0,R,0,6144,9,4,4\n0,0,R,0,4096,9,6,4\n"), "{split}");
    let lost = nandlab(&["trace", "convert", &columns, "--to", "spc", "-o", &path("recorded.spc")]);
    assert!(stderr(&lost).contains("files and stacks left out: 800"), "{}", stderr(&lost));
}

#[test]
fn hints_are_worked_out_from_stacks_and_shown_by_location() {
    let (columns, hinted) = (path("unhinted.parquet"), path("hinted.parquet"));
    tool(&format!("trace convert - -o {columns}"), &recorded());
    tool(&format!("trace hint {columns} -o {hinted}"), "");
    let report = json(&tool(&format!("trace patterns {hinted} --json -"), ""));
    let locations = report["locations"].as_array().expect("a list");
    let row = |at: usize, key: &str| locations[at][key].clone();
    let both = [0, 1].map(|at| (row(at, "frames")[1].as_str().unwrap().to_owned(), row(at, "pattern")));
    assert!(both.contains(&("grep+0x100".to_owned(), "looping".into())), "{report:#}");
    assert!(both.contains(&("grep+0x200".to_owned(), "random".into())), "{report:#}");
    let period = |at: usize| row(at, "mean_period").as_f64().unwrap().round();
    assert!([0, 1].map(period).contains(&16.0) || [0, 1].map(period).contains(&15.0), "8 pages, every other request");
    // With one frame that counts, both are the C library's read.
    let shallow = path("shallow.parquet");
    tool(&format!("trace hint {columns} -o {shallow} --depth 1 --skip none"), "");
    let report = json(&tool(&format!("trace patterns {shallow} --json -"), ""));
    assert_eq!((report["locations"].as_array().unwrap().len(), &report["locations"][0]["stacks"]), (1, &2.into()));
    let table = tool(&format!("trace patterns {hinted}"), "");
    assert!(table.contains("libc.so.6+0x1000 < grep+0x100") && table.contains("400 (50.0 %)"), "{table}");
    let picture = path("patterns.svg");
    tool(&format!("trace patterns {hinted} --plot {picture}"), "");
    let picture = std::fs::read_to_string(picture).unwrap();
    assert!(picture.contains("looping") && picture.contains("random"), "the legend names the patterns");
}

#[test]
fn labels_of_a_generator_are_compared_with_what_is_found() {
    let mut made = "time_ns,device,op,offset,length,pc,pattern,run_pages,period\n".to_owned();
    (0..5000).for_each(|i| writeln!(made, "{i},0,R,{},4096,3,l,0,0", i % 20 * 4096).expect("text grows"));
    let text = tool("trace hint - -v", &made);
    let last = text.lines().rev().find(|line| line.contains("\"hint ")).expect("what the tool did");
    let counts = json(&last[1..])["counts"].clone();
    assert!(counts["said_looping_hinted_looping"].as_u64() > Some(4500), "{counts}");
}

#[test]
fn hints_that_tell_nothing_are_said_to() {
    let made = "# nandlab trace 1\ntime_ns,device,op,offset,length,pc,pattern,run_pages,period\n0,0,R,0,4096,0,r,0,0\n";
    let table = tool("trace patterns -", made);
    assert!(table.starts_with("1 request of 1 program location: none of them tells anything\n"), "{table}");
}

#[test]
fn wrong_uses_are_refused_with_the_way_out() {
    let plain = "# nandlab trace 1\ntime_ns,device,op,offset,length\n0,0,R,0,4096\n";
    for (line, input, help) in [
        ("trace patterns -", plain.to_owned(), "nandlab trace hint"),
        ("trace hint -", recorded(), "nandlab trace convert"),
        ("trace hint -", plain.to_owned(), "have no call stacks and no program locations"),
        ("trace lengths - -o no.toml", plain.to_owned(), "nandlab record"),
        ("trace hint - --depth 0", plain.to_owned(), "from 1"),
        ("trace patterns - --csv --json -", plain.to_owned(), "leave --csv out, or write --json FILE"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let output = nandlab_reading(&args, input.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(stderr(&output).contains(help), "{line}: {}", stderr(&output));
    }
}
