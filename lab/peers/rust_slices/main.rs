// SPDX-License-Identifier: BSL-1.0
//
// What tokio and crossbeam can do in the suites `files` and `channels`: a contender that plays slices, as
// lab/kit/driver.hpp has it, without latencies.

mod channels;
mod files;

use serde_json::{json, Value};
use std::io::{BufRead, Write};
use std::process::exit;
use std::time::{Duration, Instant};

/// Says why in one line, and ends the process: who has not done the work must not look fast.
pub fn fail(why: impl std::fmt::Display) -> ! {
    eprintln!("{}: {why}", env!("CARGO_PKG_NAME"));
    exit(1)
}

pub trait Session {
    /// Plays so many operations. This is what is timed.
    fn play(&mut self, operations: u64, verifies_all: bool);

    /// What may be left until the clock has stopped.
    fn check(&mut self) {}
}

pub fn number(case: &Value, name: &str) -> usize {
    case[name].as_u64().unwrap_or_else(|| fail(format_args!("no number \"{name}\" in {case}"))) as usize
}

#[derive(Clone, Copy, PartialEq)]
enum Library {
    Tokio,
    Crossbeam,
}

impl Library {
    fn version(self) -> [&'static str; 3] {
        match self {
            Library::Tokio => ["tokio", "1.54.1", "threads"],
            Library::Crossbeam => ["crossbeam-channel", "0.5.15", "threads"],
        }
    }

    fn session(self, suite: &str, case: &Value) -> Result<Box<dyn Session>, &'static str> {
        match (suite, self) {
            ("files", Library::Tokio) => Ok(files::session(case)),
            ("channels", Library::Tokio) => Ok(Box::new(channels::OfTokio::new(case))),
            ("channels", Library::Crossbeam) => Ok(Box::new(channels::OfCrossbeam::new(case))),
            _ => Err("has no such thing"),
        }
    }
}

fn processor_time() -> Duration {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut used) };
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// Of all threads: times that one was taken from its processor, and the most memory in MiB.
fn usage() -> (i64, f64) {
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut used) };
    (used.ru_nvcsw + used.ru_nivcsw, used.ru_maxrss as f64 / 1024.0)
}

fn play(session: &mut dyn Session, operations: u64) -> Value {
    let (switches, _) = usage();
    let processor = processor_time();
    let begun = Instant::now();
    session.play(operations, false);
    let wall = begun.elapsed();
    let processor = processor_time() - processor;
    let switches = usage().0 - switches;
    session.check();
    json!({"wall_ns": wall.as_nanos() as u64, "cpu_ns": processor.as_nanos() as u64,
           "operations": operations, "allocations": null, "context_switches": switches,
           "counters": {}, "latency": null})
}

fn library() -> Library {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let of = |name: &str| match name {
        "tokio" => Library::Tokio,
        "crossbeam" => Library::Crossbeam,
        _ => fail("there are --backend tokio and crossbeam"),
    };
    match all[..] {
        ["--backend", name] => of(name),
        ["--backend", name, "--version"] => {
            println!("{}", of(name).version().join(" "));
            exit(0)
        }
        _ => fail("usage: --backend NAME [--version], then one line of JSON for each request"),
    }
}

fn main() {
    let library = library();
    let mut session: Option<Box<dyn Session>> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap_or_else(|error| fail(error));
        let asked: Value = serde_json::from_str(&line).unwrap_or_else(|error| fail(error));
        let reply = match asked["do"].as_str().unwrap_or("") {
            "about" => {
                let [name, version, backend] = library.version();
                json!({"name": name, "library": name, "version": version, "backend": backend})
            }
            // They are not counted here, and slices tell none.
            "count_system_calls" => json!({"counting": true}),
            "prepare" => match library.session(asked["suite"].as_str().unwrap_or(""), &asked["case"]) {
                Ok(mut made) => {
                    let warm_up = number(&asked["case"], "warm_up") as u64;
                    if warm_up > 0 {
                        made.play(warm_up, true);
                        made.check();
                    }
                    session = Some(made);
                    json!({"ready": true})
                }
                Err(why) => json!({"cannot_run": why}),
            },
            "play" => {
                let Some(playing) = session.as_mut() else { fail("play before a case was prepared") };
                play(playing.as_mut(), asked["operations"].as_u64().unwrap_or(0))
            }
            "finish" => {
                session = None;
                json!({"memory_mb": usage().1, "latency": null})
            }
            other => fail(format_args!("there is no request \"{other}\"")),
        };
        let mut out = std::io::stdout().lock();
        if writeln!(out, "{reply}").and_then(|()| out.flush()).is_err() {
            return; // No receiver is left.
        }
    }
}
