//! What a device keeps over restarts: one text in the store of the app.

use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, RandomState};
use std::io::{Error, ErrorKind};
use std::path::PathBuf;

/// Keeps one text of the app over restarts. The kit calls it between two steps, never twice at once.
pub trait Store: Send + Sync {
    /// Returns the text that was written last.
    fn read(&self) -> Result<Option<String>, Error>;
    /// Replaces the text whole: one that is written in part must never be read.
    fn write(&self, text: &str) -> Result<(), Error>;
}

/// A [`Store`] in a file, which it replaces by renaming.
pub struct FileStore(PathBuf);

impl FileStore {
    pub fn new(path: impl Into<PathBuf>) -> FileStore {
        FileStore(path.into())
    }
}

impl Store for FileStore {
    fn read(&self) -> Result<Option<String>, Error> {
        match std::fs::read_to_string(&self.0) {
            Err(fault) if fault.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    fn write(&self, text: &str) -> Result<(), Error> {
        let next = self.0.with_extension("new");
        std::fs::write(&next, text)?;
        std::fs::rename(next, &self.0)
    }
}

/// Returns the HWID in a store; draws and keeps one if there is none.
pub fn hwid_in(store: &dyn Store) -> Result<String, Error> {
    Ok(State::open(store, None)?.hwid)
}

/// Draws 64 bits: a hasher's keys come from the system's randomness, and differ each time.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// An acknowledgement; two of one message and state are the same.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Ack {
    id: i64,
    state: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    detail: String,
}

impl Ack {
    pub fn new(id: i64, state: &str, detail: &str) -> Ack {
        let line = detail.split(char::is_control).collect::<Vec<_>>().join(" ");
        Ack { id, state: state.to_string(), detail: line.chars().take(DETAIL_MAX).collect() }
    }
}

impl PartialEq for Ack {
    fn eq(&self, other: &Ack) -> bool {
        (self.id, &self.state) == (other.id, &other.state)
    }
}

/// HWID, token, the last messages with their states, and what the server has not confirmed.
#[derive(Clone, Default, Deserialize, Serialize)]
pub(crate) struct State {
    version: u32,
    pub hwid: String,
    pub token: Option<String>,
    seen: Vec<(i64, String)>,
    pub acks: Vec<Ack>,
}

const VERSION: u32 = 1;
const KEPT_MAX: usize = 1_000;
const DETAIL_MAX: usize = 255;

impl State {
    /// Reads a store. A missing or broken text, or one of another HWID, makes a new device.
    pub fn open(store: &dyn Store, hwid: Option<&str>) -> Result<State, Error> {
        let kept = store.read()?.and_then(|text| serde_json::from_str::<State>(&text).ok());
        // The token belongs to the HWID that was registered.
        let is_own = |kept: &State| hwid.is_none_or(|own| own == kept.hwid);
        let state =
            kept.filter(|kept| kept.version == VERSION && is_own(kept)).unwrap_or_else(|| {
                // Random: it does not identify the phone.
                let drawn = || format!("{:016x}{:016x}", random(), random());
                let hwid = hwid.map_or_else(drawn, str::to_string);
                State { version: VERSION, hwid, ..State::default() }
            });
        // A HWID that was drawn is kept before it is used.
        store.write(&state.text())?;
        Ok(state)
    }

    pub fn text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// The acknowledged state of a message that is known.
    pub fn seen(&self, id: i64) -> Option<&str> {
        self.seen.iter().find(|one| one.0 == id).map(|one| one.1.as_str())
    }

    /// Adds a message with its acknowledgement, which waits, if it is new.
    pub fn know(&mut self, ack: Ack) {
        if self.seen(ack.id).is_none() {
            push(&mut self.seen, (ack.id, ack.state.clone()));
            self.owe(ack);
        }
    }

    /// Adds an acknowledgement that waits.
    pub fn owe(&mut self, ack: Ack) {
        self.acks.retain(|one| *one != ack);
        push(&mut self.acks, ack);
    }

    /// Takes off acknowledgements that the server confirmed.
    pub fn confirm(&mut self, sent: &[Ack]) {
        self.acks.retain(|one| !sent.contains(one));
    }
}

/// Adds one more; the oldest go.
fn push<T>(kept: &mut Vec<T>, one: T) {
    kept.push(one);
    kept.drain(..kept.len().saturating_sub(KEPT_MAX));
}
