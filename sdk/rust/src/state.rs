//! What a device keeps over restarts: one text in the store of the app.

use serde_json::{json, Value};
use std::hash::{BuildHasher, RandomState};
use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use tokio::time::Instant;

/// Keeps one text of the app over restarts. The kit calls it between two steps, never twice at once.
pub trait Store: Send + Sync {
    /// Returns the text that was written last.
    fn read(&self) -> Result<Option<String>, Error>;
    /// Replaces the text whole: one that is written in part must never be read.
    fn write(&self, text: &str) -> Result<(), Error>;
}

/// A [`Store`] in the file of its name, which it replaces by renaming.
pub struct FileStore(pub PathBuf);

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

/// Returns an acknowledgement, as the server takes it.
pub(crate) fn ack(id: i64, state: &str, detail: &str) -> Value {
    let line = detail.replace(char::is_control, " ").chars().take(255).collect::<String>();
    let mut ack = json!({"id": id, "state": state, "detail": line});
    ack.as_object_mut().filter(|_| line.is_empty()).and_then(|fields| fields.remove("detail"));
    ack
}

/// HWID, token, the last messages with their states, and what the server has not confirmed.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub hwid: String,
    pub token: Option<String>,
    seen: Vec<(i64, String)>,
    pub acks: Vec<Value>,
    /// Not written: the address for pushes that the server has, or null; when a dead token was
    /// renewed; and the token of a registration whose answer was lost, as the new one was in it.
    pub registered: Option<Value>,
    pub renewed: Option<Instant>,
    pub doubted: Option<String>,
}

const VERSION: u32 = 1;
const KEPT_MAX: usize = 1_000;

impl State {
    /// Reads a store. A missing or broken text, or one of another HWID, makes a new device.
    pub fn open(store: &dyn Store, hwid: Option<&str>) -> Result<State, Error> {
        let kept = store.read()?.and_then(|text| State::read(&text));
        // The token belongs to the HWID that was registered.
        let own = kept.filter(|kept| hwid.is_none_or(|own| own == kept.hwid));
        // Random: it does not identify the phone.
        let drawn = || format!("{:016x}{:016x}", random(), random());
        let hwid = || hwid.map_or_else(drawn, str::to_string);
        let state = own.unwrap_or_else(|| State { hwid: hwid(), ..State::default() });
        // A HWID that was drawn is kept before it is used.
        store.write(&state.text())?;
        Ok(state)
    }

    fn read(text: &str) -> Option<State> {
        let kept =
            serde_json::from_str::<Value>(text).ok().filter(|kept| kept["version"] == VERSION)?;
        let (hwid, token) =
            (kept["hwid"].as_str()?.into(), kept["token"].as_str().map(String::from));
        let seen = serde_json::from_value(kept["seen"].clone()).ok()?;
        Some(State {
            hwid,
            token,
            seen,
            acks: kept["acks"].as_array()?.clone(),
            ..State::default()
        })
    }

    pub fn text(&self) -> String {
        let State { hwid, token, seen, acks, .. } = self;
        json!({"version": VERSION, "hwid": hwid, "token": token, "seen": seen, "acks": acks})
            .to_string()
    }

    /// The acknowledged state of a message that is known.
    pub fn seen(&self, id: i64) -> Option<&str> {
        self.seen.iter().find(|one| one.0 == id).map(|one| one.1.as_str())
    }

    /// Adds a message with its acknowledgement, which waits, if it is new.
    pub fn know(&mut self, id: i64, state: &str, detail: &str) {
        if self.seen(id).is_none() {
            push(&mut self.seen, (id, state.to_string()));
            self.owe(ack(id, state, detail));
        }
    }

    /// Adds an acknowledgement that waits.
    pub fn owe(&mut self, ack: Value) {
        self.acks.retain(|one| *one != ack);
        push(&mut self.acks, ack);
    }

    /// Takes off acknowledgements that the server confirmed.
    pub fn confirm(&mut self, sent: &[Value]) {
        self.acks.retain(|one| !sent.contains(one));
    }
}

/// Adds one more; the oldest go.
fn push<T>(kept: &mut Vec<T>, one: T) {
    kept.push(one);
    kept.drain(..kept.len().saturating_sub(KEPT_MAX));
}
