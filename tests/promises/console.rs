//! Promise: the output that README.md and docs/ show in blocks of `console` is what the program prints, apart from
//! times, the names of kernels and the home folder. CONTRIBUTING.md makes this promise about examples.

use std::fs;
use std::path::Path;

use super::examples::{in_shell, pages};
use crate::common::{arg, fresh_folder, stderr, stdout};

/// The commands in the `console` blocks of a page, each with the output that is shown.
fn outputs_in_page(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut outputs: Vec<(&str, Vec<&str>)> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").expect("an end");
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => outputs.push((command, Vec::new())),
                None => outputs.last_mut().expect("a command comes first").1.push(line),
            }
        }
    }
    outputs
}

/// The home folder in the pages, where a test has a folder of its own.
const HOME: &str = "/home/me";

/// Pages show real output. Only times, the kernel's name and the folder differ from run to run.
#[test]
fn the_output_in_console_blocks_is_what_the_program_prints() {
    let folder = fresh_folder("examples-console").canonicalize().expect("a folder");
    let mut compared = 0;
    for path in pages() {
        let text = fs::read_to_string(&path).expect("text");
        for (command, shown) in outputs_in_page(&text) {
            let output = in_shell(command, &folder);
            let printed = stdout(&output).lines().chain(stderr(&output).lines());
            let printed: Vec<String> = printed.map(|line| comparable(line, &folder)).collect();
            let home = Path::new(HOME);
            let shown: Vec<String> = shown.into_iter().map(|line| comparable(line, home)).collect();
            assert_eq!(shown, printed, "{}: {command}", path.display());
            compared += 1;
        }
    }
    assert!(compared > 0, "no page shows output");
}

/// Replaces times, kernels and the home folder in a line, and spaces between words by single ones. CPU time is left
/// out, because it may be printed with or without an interval.
fn comparable(line: &str, home: &Path) -> String {
    if line.starts_with("CPU time ") {
        return "CPU time".to_owned();
    }
    let line = line.replace(arg(home), HOME);
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        if ["ns", "µs", "ms", "s"].contains(&word) {
            words.pop();
            words.push("TIME".to_owned());
        } else {
            words.push(without_decimals(word));
        }
    }
    let mut text = words.join(" ");
    for name in crate::common::KERNELS {
        text = text.replace(&format!("kernel {name}"), "kernel NAME");
        text = text.replace(&format!("\"kernel\":\"{name}\""), "\"kernel\":\"NAME\"");
    }
    text
}

/// Replaces the numbers with a decimal point in a word.
fn without_decimals(word: &str) -> String {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut text = word.to_owned();
    for part in word.split(|c| !is_of_number(c)) {
        if part.matches('.').count() == 1 && part.parse::<f64>().is_ok() {
            text = text.replace(part, "NUMBER");
        }
    }
    text
}

#[test]
fn only_times_and_kernels_may_differ_from_the_output_that_is_shown() {
    let comparable_here = |line: &str| comparable(line, Path::new("/a folder"));
    let line = "12   14200  1787   671 µs  agrees";
    assert_eq!(comparable_here(line), comparable_here("12 14200 1787 1.02 ms agrees"));
    assert_ne!(comparable_here(line), comparable_here("12 14200 1786 1.02 ms agrees"));
    let json = |kernel| format!("{{\"kernel\":\"{kernel}\",\"seconds\":0.000309}}");
    let other = json("portable").replace("309", "41");
    assert_eq!(comparable_here(&json("avx2")), comparable_here(&other));
    assert_ne!(comparable_here(&json("avx2")), comparable_here(&json("avx9")));
    assert_eq!(comparable_here("--journal '/a folder/q16'"), "--journal '/home/me/q16'");
    assert_eq!(comparable_here("CPU time     8 ms ± 2 ms to go"), "CPU time");
}
