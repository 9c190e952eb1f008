// SPDX-License-Identifier: BSL-1.0
//
// What tokio-tungstenite can do as a server of WebSocket, so that the lab can put it beside gyre
// (lab/README.md, "Peers").
//
// A task per connection; the room is a channel for each member, whose messages share their bytes, and what
// has gathered there is fed before one flush: https://docs.rs/futures-util/latest/futures_util/sink/trait.SinkExt.html

#[path = "../rust/seam.rs"]
#[allow(dead_code)] // What `baseline` asks.
mod seam;

use futures_util::{SinkExt, StreamExt};
use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{unbounded_channel, UnboundedSender};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::{Message, Result};
use tokio_tungstenite::{accept_hdr_async, WebSocketStream};

static ROOM: Mutex<Option<HashMap<u64, UnboundedSender<Message>>>> = Mutex::new(None);

async fn echo(mut socket: WebSocketStream<TcpStream>) -> Result<()> {
    while let Some(message) = socket.next().await {
        let message = message?;
        if message.is_text() || message.is_binary() {
            socket.send(message).await?;
        }
    }
    Ok(())
}

fn publish(message: Message) {
    if let Some(members) = ROOM.lock().unwrap().as_ref() {
        for each in members.values() {
            let _ = each.send(message.clone());
        }
    }
}

async fn converse(mut socket: WebSocketStream<TcpStream>, id: u64) -> Result<()> {
    let (sender, mut queue) = unbounded_channel();
    ROOM.lock().unwrap().get_or_insert_with(HashMap::new).insert(id, sender);
    let ended = loop {
        tokio::select! {
            came = socket.next() => match came {
                Some(Ok(message)) if message.is_text() || message.is_binary() => publish(message),
                Some(Ok(_)) => {}
                Some(Err(error)) => break Err(error),
                None => break Ok(()),
            },
            Some(message) = queue.recv() => {
                let mut sent = socket.feed(message).await;
                while let (true, Ok(next)) = (sent.is_ok(), queue.try_recv()) {
                    sent = socket.feed(next).await;
                }
                if sent.is_ok() {
                    sent = socket.flush().await;
                }
                if sent.is_err() {
                    break sent;
                }
            }
        }
    };
    if let Some(members) = ROOM.lock().unwrap().as_mut() {
        members.remove(&id);
    }
    ended
}

#[allow(clippy::result_large_err)] // The library's type.
async fn serve(stream: TcpStream, id: u64) -> Result<()> {
    let mut in_room = false;
    let look = |asked: &Request, answer: Response| -> std::result::Result<Response, ErrorResponse> {
        in_room = asked.uri().path() == "/hub";
        Ok(answer)
    };
    let socket = accept_hdr_async(stream, look).await?;
    if in_room {
        converse(socket, id).await
    } else {
        echo(socket).await
    }
}

async fn accept(listener: TcpListener) {
    for id in 0.. {
        // A client that has gone again is no reason to stop.
        let Ok((stream, _)) = listener.accept().await else { continue };
        if stream.set_nodelay(true).is_err() {
            continue;
        }
        tokio::spawn(serve(stream, id));
    }
}

fn listen(options: &seam::Options) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(options.address)?;
    socket.listen(seam::BACKLOG)
}

fn main() {
    let version = concat!("tokio-tungstenite ", env!("CARGO_PKG_VERSION"), " epoll");
    let options = seam::options(version, &["websocket"]);
    seam::end_on_terminate();
    let mut builder = if options.threads == 1 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    if options.threads > 1 {
        builder.worker_threads(options.threads.into());
    }
    let runtime = builder.enable_io().build().unwrap_or_else(|error| seam::leave(1, error));
    runtime.block_on(async {
        let listener = listen(&options)
            .unwrap_or_else(|error| seam::leave(1, format_args!("{}: {error}", options.address)));
        seam::say_ready();
        let _ = tokio::spawn(accept(listener)).await;
    });
}
