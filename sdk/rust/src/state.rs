//! What a device keeps over restarts: one text in the store of the app.

use serde_json::{json, Value};
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

/// An acknowledgement; two of one message and state are the same.
#[derive(Clone, Debug)]
pub(crate) struct Ack {
    pub id: i64,
    pub state: String,
    pub detail: String,
}

impl Ack {
    pub fn new(id: i64, state: &str) -> Ack {
        Ack { id, state: state.to_string(), detail: String::new() }
    }

    pub fn json(&self) -> Value {
        match self.detail.as_str() {
            "" => json!({"id": self.id, "state": self.state}),
            detail => json!({"id": self.id, "state": self.state, "detail": detail}),
        }
    }
}

pub(crate) fn has(acks: &[Ack], wanted: &Ack) -> bool {
    acks.iter().any(|one| one.id == wanted.id && one.state == wanted.state)
}

/// HWID, token, the last messages with their states, and what the server has not confirmed.
#[derive(Clone)]
pub(crate) struct State {
    pub hwid: String,
    pub token: Option<String>,
    pub seen: Vec<(i64, String)>,
    pub acks: Vec<Ack>,
}

const SEEN_MAX: usize = 1_000;
const ACKS_MAX: usize = 1_000;
const DETAIL_MAX: usize = 255;

impl State {
    /// Reads a text. A missing or broken one, or one of another HWID, makes a new device.
    pub fn read(text: Option<&str>, hwid: Option<&str>) -> State {
        let kept = text.and_then(State::whole);
        // The token belongs to the HWID that was registered.
        kept.filter(|kept| hwid.is_none_or(|own| own == kept.hwid)).unwrap_or_else(|| State {
            // Random: it does not identify the phone.
            hwid: hwid.map_or_else(|| format!("{:032x}", rand::random::<u128>()), str::to_string),
            token: None,
            seen: Vec::new(),
            acks: Vec::new(),
        })
    }

    fn whole(text: &str) -> Option<State> {
        let kept: Value = serde_json::from_str(text).ok()?;
        let word = |value: &Value| value.as_str().map(str::to_string);
        let seen = |one: &Value| Some((one[0].as_i64()?, word(&one[1])?));
        let ack = |one: &Value| {
            let detail = word(&one["detail"]).unwrap_or_default();
            Some(Ack { id: one["id"].as_i64()?, state: word(&one["state"])?, detail })
        };
        (kept["version"] == 1).then_some(())?;
        Some(State {
            hwid: word(&kept["hwid"])?,
            token: word(&kept["token"]),
            seen: kept["seen"].as_array()?.iter().map(seen).collect::<Option<_>>()?,
            acks: kept["acks"].as_array()?.iter().map(ack).collect::<Option<_>>()?,
        })
    }

    pub fn text(&self) -> String {
        let acks: Vec<Value> = self.acks.iter().map(Ack::json).collect();
        json!({"version": 1, "hwid": self.hwid, "token": self.token, "seen": self.seen, "acks": acks})
            .to_string()
    }

    /// The acknowledged state of a message that is known.
    pub fn seen(&self, id: i64) -> Option<&str> {
        self.seen.iter().find(|one| one.0 == id).map(|one| one.1.as_str())
    }

    /// With a message and its acknowledgement, which waits.
    pub fn knowing(mut self, ack: Ack) -> State {
        self.seen.retain(|one| one.0 != ack.id);
        self.seen.push((ack.id, ack.state.clone()));
        self.seen.drain(..self.seen.len().saturating_sub(SEEN_MAX));
        self.owing(ack)
    }

    /// With one more acknowledgement that waits.
    pub fn owing(self, mut ack: Ack) -> State {
        let line = ack.detail.split(char::is_control).collect::<Vec<_>>().join(" ");
        ack.detail = line.chars().take(DETAIL_MAX).collect();
        let mut state = self.without(std::slice::from_ref(&ack));
        state.acks.push(ack);
        state.acks.drain(..state.acks.len().saturating_sub(ACKS_MAX));
        state
    }

    /// Without acknowledgements that the server confirmed.
    pub fn without(mut self, sent: &[Ack]) -> State {
        self.acks.retain(|one| !has(sent, one));
        self
    }
}
