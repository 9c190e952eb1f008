// SPDX-License-Identifier: BSL-1.0
//
// What monoio can do as a server, so that the lab can put it beside gyre (lab/README.md, "Peers").
//
// As its own benchmark has it: a runtime on io_uring for each thread, with a listener of its own on the same
// port, and a task per connection that owns its buffer and lends it to the kernel:
// https://github.com/bytedance/monoio/blob/master/docs/en/benchmark.md
//
// The ring is asked for IORING_SETUP_COOP_TASKRUN, which monoio lets its users do
// (RuntimeBuilder::uring_builder). In turns with a plain ring, processor time per request was 1.00 of it
// for 1,000 B on one connection, and on 100 connections 0.96 for 1,000 B, 0.92 for 10 KiB and 0.90 for
// 100 KiB. With SINGLE_ISSUER as well it was 1.00, 0.96, 0.93 and 0.93, with SINGLE_ISSUER and
// DEFER_TASKRUN instead 1.00, 0.97, 0.98 and 0.89. (9 rounds on two virtual processors with other work on
// them, Linux 6.18.)

#[path = "../rust/seam.rs"]
mod seam;

use std::io;
use std::net::{SocketAddr, TcpListener as Probe};

use monoio::buf::IoBufMut;
use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::{ListenerOpts, TcpListener, TcpStream};
use monoio::{IoUringDriver, Runtime, RuntimeBuilder};

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(seam::INPUT_SIZE);
    loop {
        let (result, lent) = stream.read(buffer).await;
        if result? == 0 {
            return Ok(());
        }
        let (result, lent) = stream.write_all(lent).await;
        result?;
        buffer = lent;
    }
}

async fn http(mut stream: TcpStream) -> io::Result<()> {
    let mut input = vec![0; seam::REQUEST_SIZE_MAX];
    let mut output = Vec::new();
    let mut used = 0;
    loop {
        // No request is longer than the buffer: reading into none of it ends the connection, too.
        let (result, lent) = stream.read(input.slice_mut(used..)).await;
        let size = result?;
        if size == 0 {
            return Ok(());
        }
        input = lent.into_inner();
        used += size;
        output.clear();
        let (taken, ends) = seam::answer(&input[..used], &mut output);
        if !output.is_empty() {
            let (result, lent) = stream.write_all(output).await;
            result?;
            output = lent;
        }
        if ends {
            return Ok(());
        }
        input.copy_within(taken..used, 0);
        used -= taken;
    }
}

async fn accept(listener: TcpListener, answers_http: bool) {
    loop {
        // A client that has gone again is no reason to stop.
        let Ok((stream, _)) = listener.accept().await else { continue };
        if stream.set_nodelay(true).is_err() {
            continue;
        }
        if answers_http {
            monoio::spawn(http(stream));
        } else {
            monoio::spawn(echo(stream));
        }
    }
}

fn runtime() -> Runtime<IoUringDriver> {
    let mut ring = io_uring::IoUring::builder();
    ring.setup_coop_taskrun();
    RuntimeBuilder::<IoUringDriver>::new()
        .uring_builder(ring)
        .build()
        .unwrap_or_else(|error| seam::leave(1, format_args!("io_uring: {error}")))
}

fn listen(address: SocketAddr, shared: bool) -> TcpListener {
    let options = ListenerOpts::new().reuse_port(shared).backlog(seam::BACKLOG as i32);
    TcpListener::bind_with_config(address, &options)
        .unwrap_or_else(|error| seam::leave(1, format_args!("{address}: {error}")))
}

fn main() {
    let options = seam::options(concat!("monoio ", env!("CARGO_PKG_VERSION"), " io_uring"), &["echo", "http"]);
    let shared = options.threads > 1;
    seam::end_on_terminate();
    // Sockets that share a port would share it with another server, too: only one that does not tells.
    if let Err(error) = Probe::bind(options.address) {
        seam::leave(1, format_args!("{}: {error}", options.address));
    }

    let serve = move |listening: Option<std::sync::mpsc::Sender<()>>| {
        runtime().block_on(async move {
            let listener = listen(options.address, shared);
            match listening {
                Some(sender) => drop(sender.send(())),
                None => seam::say_ready(),
            }
            accept(listener, options.http).await;
        })
    };
    for _ in 1..options.threads {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || serve(Some(sender)));
        let _ = receiver.recv(); // A thread that cannot listen ends the process.
    }
    serve(None);
}
