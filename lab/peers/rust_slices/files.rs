// SPDX-License-Identifier: BSL-1.0
//
// Files with tokio, on a runtime without other threads but those that it keeps for calls that block.
//
// Reads and writes at positions are calls of the standard library in `spawn_blocking`, as tokio has none of its
// own; in order they are those of tokio::fs::File, which copies, and returns from a write while it goes on.

use crate::{fail, number, Session};
use serde_json::Value;
use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::cell::{Cell, RefCell};
use std::fs::{self, File, OpenOptions};
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::{spawn_blocking, LocalSet};

const ALIGNMENT: usize = 4096;
const WORD: usize = 8;

/// Memory for transfers past the page cache.
struct Space {
    bytes: *mut u8,
    layout: Layout,
}

unsafe impl Send for Space {}

impl Space {
    fn new(size: usize) -> Self {
        let layout = Layout::from_size_align(size, ALIGNMENT).unwrap_or_else(|error| fail(error));
        let bytes = unsafe { alloc_zeroed(layout) };
        if bytes.is_null() {
            fail("out of memory");
        }
        Space { bytes, layout }
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        unsafe { dealloc(self.bytes, self.layout) }
    }
}

impl Deref for Space {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        unsafe { std::slice::from_raw_parts(self.bytes, self.layout.size()) }
    }
}

impl DerefMut for Space {
    fn deref_mut(&mut self) -> &mut [u8] {
        unsafe { std::slice::from_raw_parts_mut(self.bytes, self.layout.size()) }
    }
}

/// Marks both ends of a block.
fn stamp(block: &mut [u8], with: u64) {
    let end = block.len() - WORD;
    block[..WORD].copy_from_slice(&with.to_ne_bytes());
    block[end..].copy_from_slice(&with.to_ne_bytes());
}

fn is_stamped(block: &[u8], with: u64) -> bool {
    block[..WORD] == with.to_ne_bytes() && block[block.len() - WORD..] == with.to_ne_bytes()
}

/// A file of the session's own. Each word of it says at first where it stands.
struct Scratch {
    path: std::path::PathBuf,
    direct: bool,
    block: usize,
    blocks: u64,
}

impl Scratch {
    fn new(case: &Value) -> Self {
        let (block, size) = (number(case, "bytes"), number(case, "file_bytes"));
        let path = std::env::temp_dir().join(format!("lab-files-{}", std::process::id()));
        let mut content = vec![0; size];
        for (at, word) in content.chunks_exact_mut(WORD).enumerate() {
            word.copy_from_slice(&((at * WORD) as u64).to_ne_bytes());
        }
        let made = fs::write(&path, &content).and_then(|()| File::open(&path));
        let file = made.unwrap_or_else(|error| fail(format_args!("{}: {error}", path.display())));
        file.sync_all().unwrap_or_else(|error| fail(error));
        let direct = case["cache"] == "none";
        if direct {
            use std::os::fd::AsRawFd;
            unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        }
        Scratch { path, direct, block, blocks: (size / block) as u64 }
    }

    fn open(&self) -> File {
        let flags = if self.direct { libc::O_DIRECT } else { 0 };
        let opened = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&self.path);
        opened.unwrap_or_else(|error| fail(error))
    }

    fn check_content(&self, offset: u64, read: &[u8], all: bool) {
        let is = |at: usize| read[at..at + WORD] == (offset + at as u64).to_ne_bytes();
        let right = is(0) && is(read.len() - WORD) && (!all || (0..read.len()).step_by(WORD).all(is));
        if !right {
            fail("the bytes read are not those of the file");
        }
    }

    fn check_stamps(&self, stamps: impl Iterator<Item = (u64, u64)>) {
        let (file, mut space) = (self.open(), Space::new(self.block));
        for (block, with) in stamps {
            let read = file.read_exact_at(&mut space, block * self.block as u64);
            if read.is_err() || !is_stamped(&space, with) {
                fail("the bytes of the file are not those that were written");
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap_or_else(|error| fail(error))
}

async fn blocking<T: Send + 'static>(job: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> T {
    let ended = spawn_blocking(job).await.unwrap_or_else(|error| fail(error));
    ended.unwrap_or_else(|error| fail(error))
}

pub fn session(case: &Value) -> Box<dyn Session> {
    let file = Rc::new(Scratch::new(case));
    match case["kind"].as_str().unwrap_or("") {
        "random_reads" => Box::new(Reads::new(case, file)),
        "group_commit" => Box::new(Commits::new(case, file)),
        kind => Box::new(Passes {
            way: match kind {
                "writes_at" => Way::WriteAt,
                "writes_in_order" => Way::Write,
                "reads_in_order" => Way::Read,
                _ => fail(format_args!("no such kind: {kind}")),
            },
            runtime: runtime(),
            file,
            pass: 0,
        }),
    }
}

/// As minstd_rand of C++, for the same cost.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0 * 48271 % 2147483647;
        self.0 % limit
    }
}

struct Reads {
    runtime: Runtime,
    file: Rc<Scratch>,
    opened: Arc<File>,
    readers: Vec<Option<(Dice, Space)>>,
}

impl Reads {
    fn new(case: &Value, file: Rc<Scratch>) -> Self {
        let readers = (1..=number(case, "at_once") as u64)
            .map(|seed| Some((Dice(seed), Space::new(file.block))))
            .collect();
        Reads { runtime: runtime(), opened: Arc::new(file.open()), file, readers }
    }
}

impl Session for Reads {
    fn play(&mut self, operations: u64, all: bool) {
        let share = operations / self.readers.len() as u64;
        let tasks = LocalSet::new();
        let running: Vec<_> = self
            .readers
            .iter_mut()
            .map(|reader| {
                let Some((mut dice, mut space)) = reader.take() else { fail("a reader is missing") };
                let (file, opened) = (self.file.clone(), self.opened.clone());
                tasks.spawn_local(async move {
                    for _ in 0..share {
                        let offset = dice.below(file.blocks) * file.block as u64;
                        let opened = opened.clone();
                        space = blocking(move || {
                            opened.read_exact_at(&mut space, offset)?;
                            Ok(space)
                        })
                        .await;
                        file.check_content(offset, &space, all);
                    }
                    (dice, space)
                })
            })
            .collect();
        let readers = &mut self.readers;
        tasks.block_on(&self.runtime, async {
            for (task, reader) in running.into_iter().zip(readers) {
                *reader = Some(task.await.unwrap_or_else(|error| fail(error)));
            }
        });
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    WriteAt,
    Write,
    Read,
}

struct Passes {
    way: Way,
    runtime: Runtime,
    file: Rc<Scratch>,
    pass: u64,
}

impl Passes {
    async fn write_at(&self, opened: &Arc<File>, mut space: Space) -> Space {
        for at in 0..self.file.blocks {
            stamp(&mut space, self.pass << 32 | at);
            let (opened, offset) = (opened.clone(), at * self.file.block as u64);
            space = blocking(move || {
                opened.write_all_at(&space, offset)?;
                Ok(space)
            })
            .await;
        }
        let opened = opened.clone();
        blocking(move || opened.sync_data()).await;
        space
    }

    async fn write(&self, opened: &mut tokio::fs::File, space: &mut Space) -> std::io::Result<()> {
        opened.rewind().await?;
        for at in 0..self.file.blocks {
            stamp(space, self.pass << 32 | at);
            opened.write_all(space).await?;
        }
        opened.sync_data().await
    }

    async fn read(&self, opened: &mut tokio::fs::File, space: &mut Space, all: bool) -> std::io::Result<()> {
        opened.rewind().await?;
        for at in 0..self.file.blocks {
            opened.read_exact(space).await?;
            self.file.check_content(at * self.file.block as u64, space, all);
        }
        Ok(())
    }

    async fn play_all(&mut self, operations: u64, all: bool) -> std::io::Result<()> {
        let (positions, mut stream) =
            (Arc::new(self.file.open()), tokio::fs::File::from_std(self.file.open()));
        let mut space = Space::new(self.file.block);
        for _ in 0..operations / self.file.blocks {
            self.pass += 1;
            match self.way {
                Way::WriteAt => space = self.write_at(&positions, space).await,
                Way::Write => self.write(&mut stream, &mut space).await?,
                Way::Read => self.read(&mut stream, &mut space, all).await?,
            }
        }
        Ok(())
    }
}

impl Session for Passes {
    fn play(&mut self, operations: u64, all: bool) {
        let runtime = std::mem::replace(&mut self.runtime, runtime());
        runtime.block_on(self.play_all(operations, all)).unwrap_or_else(|error| fail(error));
        self.runtime = runtime;
    }

    fn check(&mut self) {
        if self.way != Way::Read {
            self.file.check_stamps((0..self.file.blocks).map(|at| (at, self.pass << 32 | at)));
        }
    }
}

/// Records go into one batch while the other is written; see group_journal of lab/kit/file_load.hpp.
struct Journal {
    gathering: Option<Space>,
    gathered: usize,
    last: u64,
    end: usize,
    stamps: Vec<u64>,
}

struct Commits {
    runtime: Runtime,
    file: Rc<Scratch>,
    opened: Arc<File>,
    committers: u64,
    journal: Rc<RefCell<Journal>>,
    spare: Option<Space>,
}

impl Commits {
    fn new(case: &Value, file: Rc<Scratch>) -> Self {
        let committers = number(case, "at_once");
        let space = || Some(Space::new(committers * file.block));
        let stamps = vec![0; file.blocks as usize];
        let journal = Journal { gathering: space(), gathered: 0, last: 0, end: 0, stamps };
        Commits {
            runtime: runtime(),
            opened: Arc::new(file.open()),
            committers: committers as u64,
            journal: Rc::new(RefCell::new(journal)),
            spare: space(),
            file,
        }
    }
}

impl Session for Commits {
    fn play(&mut self, operations: u64, _: bool) {
        let tasks = LocalSet::new();
        let durable = Rc::new([Notify::new(), Notify::new()]);
        let (wanted, batch) = (Rc::new(Notify::new()), Rc::new(Cell::new(0_usize)));
        let (block, share) = (self.file.block, operations / self.committers);
        for _ in 0..self.committers {
            let (journal, durable) = (self.journal.clone(), durable.clone());
            let (wanted, batch) = (wanted.clone(), batch.clone());
            tasks.spawn_local(async move {
                for _ in 0..share {
                    let first = {
                        let mut all = journal.borrow_mut();
                        let (at, with) = (all.gathered, all.last + 1);
                        let Some(space) = all.gathering.as_mut() else { fail("no batch") };
                        stamp(&mut space[at * block..(at + 1) * block], with);
                        (all.gathered, all.last) = (at + 1, with);
                        at == 0
                    };
                    if first {
                        wanted.notify_one();
                    }
                    durable[batch.get() % 2].notified().await;
                }
            });
        }
        let mut left = operations;
        let (journal, opened, spare) = (&self.journal, &self.opened, &mut self.spare);
        tasks.block_on(&self.runtime, async {
            while left > 0 {
                while journal.borrow().gathered == 0 {
                    wanted.notified().await;
                }
                let (space, records, begin) = {
                    let mut all = journal.borrow_mut();
                    let records = std::mem::take(&mut all.gathered);
                    let begin = if all.end + records <= all.stamps.len() { all.end } else { 0 };
                    all.end = begin + records;
                    let first = all.last - records as u64 + 1;
                    for each in 0..records {
                        all.stamps[begin + each] = first + each as u64;
                    }
                    let Some(space) = std::mem::replace(&mut all.gathering, spare.take()) else { fail("no batch") };
                    (space, records, begin)
                };
                let done = batch.get();
                batch.set(done + 1);
                let opened = opened.clone();
                *spare = Some(
                    blocking(move || {
                        opened.write_all_at(&space[..records * block], (begin * block) as u64)?;
                        opened.sync_data()?;
                        Ok(space)
                    })
                    .await,
                );
                left -= records as u64;
                durable[done % 2].notify_waiters();
            }
        });
        self.runtime.block_on(tasks); // The last committers have been told, and end.
    }

    fn check(&mut self) {
        let all = self.journal.borrow();
        if all.gathered != 0 {
            fail("a record was never written");
        }
        let written = all.stamps.iter().enumerate().filter(|(_, with)| **with != 0);
        self.file.check_stamps(written.map(|(at, with)| (at as u64, *with)));
    }
}
