// SPDX-License-Identifier: BSL-1.0
//
// What the peers in Rust have in common, which is everything but the runtime: how they are started and
// ended, and what they answer (lab/README.md, "Peers").

use std::net::{Ipv4Addr, SocketAddr};
use std::process::exit;

pub const INPUT_SIZE: usize = 128 * 1024; // The largest message of the lab as a whole.
pub const REQUEST_SIZE_MAX: usize = 16 * 1024;
pub const BACKLOG: u32 = 4096;
const THREADS_MAX: u16 = 64;

macro_rules! response {
    ($connection:literal) => {
        concat!(
            "HTTP/1.1 404 Not Found\r\nConnection: ", $connection, "\r\nContent-Type: text/plain\r\n",
            "Content-Length: 24\r\n\r\nThere is nothing here.\r\n"
        )
        .as_bytes()
    };
}
const KEPT: &[u8] = response!("keep-alive");
const CLOSING: &[u8] = response!("     close");

pub struct Options {
    pub http: bool, // The workload of `baseline`.
    pub threads: u16,
    pub address: SocketAddr,
}

/// Says why in one line, and ends the process.
pub fn leave(code: i32, why: impl std::fmt::Display) -> ! {
    eprintln!("{}: {why}", env!("CARGO_PKG_NAME"));
    exit(code)
}

fn number(text: &str, least: u16, most: u16) -> u16 {
    match text.parse() {
        Ok(value) if (least..=most).contains(&value) => value,
        _ => leave(2, format_args!("no number from {least} to {most}: {text}")),
    }
}

/// Reads the command line. `version` is what to answer to `--version`; the first workload is the one where
/// none is told.
pub fn options(version: &str, workloads: &[&str]) -> Options {
    let (mut http, mut threads, mut port) = (false, 1, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        if name == "--version" {
            println!("{version}");
            exit(0);
        }
        if !["--workload", "--threads", "--port"].contains(&name.as_str()) {
            leave(2, format_args!("unknown argument: {name}"));
        }
        let Some(value) = arguments.next() else { leave(2, format_args!("a value is missing after {name}")) };
        match (name.as_str(), value.as_str()) {
            ("--threads", text) => threads = number(text, 1, THREADS_MAX),
            ("--port", text) => port = Some(number(text, 0, u16::MAX)),
            (_, known) if workloads.contains(&known) => http = known == "http",
            (_, other) => leave(2, format_args!("no such workload: {other}")),
        }
    }
    let Some(port) = port else { leave(2, "--port is missing") };
    Options { http, threads, address: (Ipv4Addr::LOCALHOST, port).into() }
}

/// From now on SIGTERM ends the process with 0. Nothing has to be brought to an end before.
pub fn end_on_terminate() {
    extern "C" fn end(_: libc::c_int) {
        unsafe { libc::_exit(0) }
    }
    let handler = end as extern "C" fn(libc::c_int);
    unsafe { libc::signal(libc::SIGTERM, handler as libc::sighandler_t) };
}

pub fn say_ready() {
    println!("ready"); // Standard output is flushed with each line.
}

/// Whether the client wants to go on after this request (RFC 9112, 9.3).
fn keeps_alive(request: &[u8]) -> bool {
    let mut lines = request.split(|&byte| byte == b'\n').map(|line| line.trim_ascii());
    let modern = lines.next().map_or(false, |first| first.ends_with(b"HTTP/1.1"));
    for line in lines {
        if line.len() > 10 && line[10] == b':' && line[..10].eq_ignore_ascii_case(b"connection") {
            let value = line[11..].trim_ascii();
            if value.eq_ignore_ascii_case(b"close") {
                return false;
            }
            if value.eq_ignore_ascii_case(b"keep-alive") {
                return true;
            }
        }
    }
    modern
}

/// Appends an answer for each request that is whole. Returns how much of the input they were, and whether
/// the connection ends with the last of them.
pub fn answer(input: &[u8], output: &mut Vec<u8>) -> (usize, bool) {
    let mut begin = 0;
    while let Some(at) = memchr::memmem::find(&input[begin..], b"\r\n\r\n") {
        let end = begin + at + 4;
        if !keeps_alive(&input[begin..end]) {
            output.extend_from_slice(CLOSING);
            return (end, true);
        }
        output.extend_from_slice(KEPT);
        begin = end;
    }
    (begin, false)
}
