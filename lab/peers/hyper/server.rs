// SPDX-License-Identifier: BSL-1.0
//
// What hyper can do as a server of HTTP/1.1, so that the lab can put it beside gyre (lab/README.md, "Peers").
//
// As its documentation has it: a task per connection with http1::Builder, whose pipeline_flush gathers the
// answers of requests that came together:
// https://docs.rs/hyper/latest/hyper/server/conn/http1/struct.Builder.html#method.pipeline_flush
// Runtimes are those of the peer `tokio`.

#[path = "../rust/seam.rs"]
#[allow(dead_code)] // What `baseline` asks.
mod seam;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::sync::OnceLock;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Runtime};

const TEXT: HeaderValue = HeaderValue::from_static("text/plain");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// As json_text of lab/servers/web.cpp.
fn json_text() -> Bytes {
    static MADE: OnceLock<Bytes> = OnceLock::new();
    let items = |id: u32| {
        format!(
            r#"{{"id":{id},"name":"article {id}","price":{},"stock":{},"tags":["new","sold"]}}"#,
            id * 199,
            1000 - id * 7
        )
    };
    let make = || (1..=12).map(items).collect::<Vec<_>>().join(",");
    MADE.get_or_init(|| Bytes::from(format!(r#"{{"items":[{}],"count":12}}"#, make()))).clone()
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or(0)
}

fn numbers_of(query: &str) -> i64 {
    query.split('&').filter_map(|pair| pair.split_once('=')).map(|(_, value)| number(value)).sum()
}

fn answer(kind: HeaderValue, content: Bytes) -> Response<Full<Bytes>> {
    let mut made = Response::new(Full::new(content));
    made.headers_mut().insert(CONTENT_TYPE, kind);
    made
}

async fn serve(asked: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(match asked.uri().path() {
        "/text" => answer(TEXT, Bytes::from_static(b"Hello, World!")),
        "/json" => answer(JSON, json_text()),
        "/sum" => {
            let mut sum = numbers_of(asked.uri().query().unwrap_or(""));
            if asked.method() == Method::POST {
                let body = asked.into_body().collect().await.map(|it| it.to_bytes()).unwrap_or_default();
                sum += number(std::str::from_utf8(&body).unwrap_or(""));
            }
            answer(TEXT, Bytes::from(sum.to_string()))
        }
        _ => {
            let mut made = answer(TEXT, Bytes::new());
            *made.status_mut() = StatusCode::NOT_FOUND;
            made
        }
    })
}

async fn accept(listener: TcpListener) {
    let mut builder = http1::Builder::new();
    builder.pipeline_flush(true);
    loop {
        // A client that has gone again is no reason to stop.
        let Ok((stream, _)) = listener.accept().await else { continue };
        if stream.set_nodelay(true).is_err() {
            continue;
        }
        tokio::spawn(builder.serve_connection(TokioIo::new(stream), service_fn(serve)));
    }
}

fn runtime(threads: u16) -> io::Result<Runtime> {
    if threads == 1 {
        return Builder::new_current_thread().enable_all().build();
    }
    Builder::new_multi_thread().worker_threads(threads.into()).enable_all().build()
}

fn listen(options: &seam::Options) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(options.address)?;
    socket.listen(seam::BACKLOG)
}

fn main() {
    let options = seam::options(concat!("hyper ", env!("CARGO_PKG_VERSION"), " epoll"), &["http_server"]);
    seam::end_on_terminate();
    let runtime = runtime(options.threads).unwrap_or_else(|error| seam::leave(1, error));
    runtime.block_on(async {
        let listener = listen(&options)
            .unwrap_or_else(|error| seam::leave(1, format_args!("{}: {error}", options.address)));
        seam::say_ready();
        let _ = tokio::spawn(accept(listener)).await;
    });
}
