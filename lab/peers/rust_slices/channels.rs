// SPDX-License-Identifier: BSL-1.0
//
// Numbers from one thread to another. With tokio each has a runtime of its own, without other threads; the
// senders of crossbeam are threads, as it has no tasks.

use crate::{fail, number, Session};
use serde_json::Value;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use tokio::runtime::{Builder, Runtime};

const SENDER_SHIFT: u32 = 48;

/// Checks that of each sender all comes, in order.
struct Tally {
    next: Vec<u64>,
}

impl Tally {
    fn received(&mut self, number: u64) {
        let sender = (number >> SENDER_SHIFT) as usize;
        if sender >= self.next.len() || number != (sender as u64) << SENDER_SHIFT | self.next[sender] {
            fail("a number was lost, doubled or overtaken");
        }
        self.next[sender] += 1;
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap_or_else(|error| fail(error))
}

/// A thread that sends or receives so many numbers whenever it is told to.
struct Worker {
    counts: Option<mpsc::Sender<u64>>,
    done: mpsc::Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn new(mut job: impl FnMut(u64) + Send + 'static) -> Self {
        let (counts, told) = mpsc::channel::<u64>();
        let (tell, done) = mpsc::channel();
        let thread = thread::spawn(move || {
            for count in told {
                job(count);
                let _ = tell.send(());
            }
        });
        Worker { counts: Some(counts), done, thread: Some(thread) }
    }

    fn begin(&self, count: u64) {
        let _ = self.counts.as_ref().map(|counts| counts.send(count));
    }

    fn wait(&self) {
        self.done.recv().unwrap_or_else(|error| fail(error));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.counts = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

pub struct OfTokio {
    senders: u64,
    sent: u64, // By each, before this slice.
    sending: Runtime,
    sender: tokio::sync::mpsc::Sender<u64>,
    receiver: Worker,
}

impl OfTokio {
    pub fn new(case: &Value) -> Self {
        let (senders, take) = (number(case, "senders"), number(case, "take"));
        let (sender, mut numbers) = tokio::sync::mpsc::channel(number(case, "capacity"));
        let receiving = runtime();
        let mut tally = Tally { next: vec![0; senders] };
        let receiver = Worker::new(move |count| {
            receiving.block_on(async {
                if take > 1 {
                    let mut some = Vec::with_capacity(take);
                    let mut left = count as usize;
                    while left > 0 {
                        left -= numbers.recv_many(&mut some, take).await;
                        some.drain(..).for_each(|each| tally.received(each));
                    }
                } else {
                    for _ in 0..count {
                        let one = numbers.recv().await.unwrap_or_else(|| fail("closed"));
                        tally.received(one);
                    }
                }
            })
        });
        OfTokio { senders: senders as u64, sent: 0, sending: runtime(), sender, receiver }
    }
}

impl Session for OfTokio {
    fn play(&mut self, operations: u64, _: bool) {
        let (first, count) = (self.sent, operations / self.senders);
        self.sent += count;
        self.receiver.begin(operations);
        let (senders, sender) = (self.senders, &self.sender);
        self.sending.block_on(async {
            let tasks: Vec<_> = (0..senders)
                .map(|each| {
                    let sender = sender.clone();
                    tokio::spawn(async move {
                        for number in first..first + count {
                            if sender.send(each << SENDER_SHIFT | number).await.is_err() {
                                fail("closed");
                            }
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap_or_else(|error| fail(error));
            }
        });
        self.receiver.wait();
    }
}

pub struct OfCrossbeam {
    senders: Vec<Worker>,
    receiver: Worker,
}

impl OfCrossbeam {
    pub fn new(case: &Value) -> Self {
        let (senders, take) = (number(case, "senders"), number(case, "take"));
        let (sender, numbers) = crossbeam_channel::bounded(number(case, "capacity"));
        let mut tally = Tally { next: vec![0; senders] };
        let receiver = Worker::new(move |count| {
            let mut left = count;
            while left > 0 {
                tally.received(numbers.recv().unwrap_or_else(|error| fail(error)));
                left -= 1;
                if take > 1 {
                    for each in numbers.try_iter().take(left.min(take as u64 - 1) as usize) {
                        tally.received(each);
                        left -= 1;
                    }
                }
            }
        });
        let senders = (0..senders as u64)
            .map(|which| {
                let sender = sender.clone();
                let mut next = 0;
                Worker::new(move |count| {
                    for number in next..next + count {
                        if sender.send(which << SENDER_SHIFT | number).is_err() {
                            fail("closed");
                        }
                    }
                    next += count;
                })
            })
            .collect();
        OfCrossbeam { senders, receiver }
    }
}

impl Session for OfCrossbeam {
    fn play(&mut self, operations: u64, _: bool) {
        let count = operations / self.senders.len() as u64;
        self.receiver.begin(operations);
        self.senders.iter().for_each(|each| each.begin(count));
        self.senders.iter().for_each(Worker::wait);
        self.receiver.wait();
    }
}
