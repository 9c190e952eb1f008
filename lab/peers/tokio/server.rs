// SPDX-License-Identifier: BSL-1.0
//
// What tokio can do as a server, so that the lab can put it beside gyre (lab/README.md, "Peers").
//
// As its documentation advises for speed:
// - a scheduler without other threads where one is enough, the multi-threaded one for more:
//   https://docs.rs/tokio/latest/tokio/runtime/index.html#runtime-configurations
// - accepting is a spawned task, since what block_on runs is no worker:
//   https://docs.rs/tokio/latest/tokio/attr.main.html#non-worker-async-function
// - a task per connection that reads and then writes all:
//   https://docs.rs/tokio/latest/tokio/net/struct.TcpListener.html

#[path = "../rust/seam.rs"]
mod seam;

use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::{Builder, Runtime};

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; seam::INPUT_SIZE];
    loop {
        let size = stream.read(&mut buffer).await?;
        if size == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..size]).await?;
    }
}

async fn http(mut stream: TcpStream) -> io::Result<()> {
    let mut input = vec![0; seam::REQUEST_SIZE_MAX];
    let mut output = Vec::new();
    let mut used = 0;
    loop {
        // No request is longer than the buffer: reading into none of it ends the connection, too.
        let size = stream.read(&mut input[used..]).await?;
        if size == 0 {
            return Ok(());
        }
        used += size;
        output.clear();
        let (taken, ends) = seam::answer(&input[..used], &mut output);
        if !output.is_empty() {
            stream.write_all(&output).await?;
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
            tokio::spawn(http(stream));
        } else {
            tokio::spawn(echo(stream));
        }
    }
}

fn runtime(threads: u16) -> io::Result<Runtime> {
    if threads == 1 {
        return Builder::new_current_thread().enable_io().build();
    }
    Builder::new_multi_thread().worker_threads(threads.into()).enable_io().build()
}

fn listen(options: &seam::Options) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(options.address)?;
    socket.listen(seam::BACKLOG)
}

fn main() {
    let options = seam::options(concat!("tokio ", env!("CARGO_PKG_VERSION"), " epoll"), &["echo", "http"]);
    seam::end_on_terminate();
    let runtime = runtime(options.threads).unwrap_or_else(|error| seam::leave(1, error));
    runtime.block_on(async {
        let listener = listen(&options)
            .unwrap_or_else(|error| seam::leave(1, format_args!("{}: {error}", options.address)));
        seam::say_ready();
        let _ = tokio::spawn(accept(listener, options.http)).await;
    });
}
