//! The calls of a device over HTTP, and the handshake of its stream.

use crate::app::{BoxError, Options};
use crate::fault::Reason;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::WebSocketStream;

/// The wait of a poll, s, unless the server names another.
const POLL: u64 = 60;
const POLL_MAX: u64 = 240;
const PING: u64 = 9;

/// A stream, and how much silence it bears.
pub(crate) type Opened = (WebSocketStream<reqwest::Upgraded>, Duration);

/// The end of a stream: the code of the server's close frame, the status of its handshake or 0, and
/// the reason.
pub(crate) type Closed = (u16, Reason);

impl From<Reason> for Closed {
    fn from(reason: Reason) -> Closed {
        (0, reason)
    }
}

pub(crate) struct Line {
    base: String,
    client: Client,
    /// In each request: the language, and the largest frame.
    headers: HeaderMap,
    pace: f64,
    /// The wait of the next poll, s.
    pub poll: AtomicU64,
    /// True if a handshake was given up that may still reach the server.
    pub astray: AtomicBool,
}

impl Line {
    pub fn new(options: &Options) -> Result<Line, BoxError> {
        let mut headers = HeaderMap::new();
        if !options.locale.is_empty() {
            headers.insert("accept-language", HeaderValue::from_str(&options.locale)?);
        }
        if options.frame_max > 0 {
            headers.insert("x-frame-max", options.frame_max.into());
        }
        let own = || Client::builder().http1_only().redirect(reqwest::redirect::Policy::none());
        Ok(Line {
            base: options.server.base.clone(),
            client: options.client.clone().map_or_else(|| own().build(), Ok)?,
            headers,
            pace: options.pace,
            poll: POLL.into(),
            astray: false.into(),
        })
    }

    pub fn seconds(&self, given: f64) -> Duration {
        Duration::from_secs_f64(given * self.pace)
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base));
        request.headers(self.headers.clone()).timeout(self.seconds(30.0))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Reason> {
        request.send().await.map_err(|fault| Reason::of_call(fault, &self.base))
    }

    pub async fn ask(&self, request: RequestBuilder) -> Result<Value, Reason> {
        let response = self.send(request).await?;
        let status = response.status();
        if !response.url().path().ends_with("/ack") {
            let named = number_in(response.headers(), "x-wait-max").filter(|&named| named > 0);
            self.poll.store(named.map_or(POLL, |named| named.min(POLL_MAX)), Ordering::Relaxed);
        }
        let text = response.text().await.map_err(|fault| Reason::of_call(fault, &self.base))?;
        let answer = answer_in(&text).filter(|_| status != StatusCode::NOT_FOUND);
        answer.ok_or_else(|| self.no_server(status))
    }

    /// Says what a page in place of an answer means.
    fn no_server(&self, status: StatusCode) -> Reason {
        let (word, what) = match status {
            StatusCode::NOT_FOUND => ("wrong_path", "is the path of no Gatepost"),
            StatusCode::SERVICE_UNAVAILABLE => ("no_answer", "takes nothing now"),
            _ => ("not_json", "answers with a page, not JSON"),
        };
        Reason::new(word, format!("{} {what}: {status}.", self.base))
    }

    /// Opens a stream. `ping`: seconds between two pings; 0: the usual.
    pub async fn open(&self, token: &str, ping: u64) -> Result<Opened, Closed> {
        // Until it is answered; also if the future is dropped meanwhile.
        let was_astray = self.astray.swap(true, Ordering::Relaxed);
        let opened = self.shake_hands(token, ping).await;
        let is_lost = |word: &str| ["timeout", "no_answer"].contains(&word);
        // With an answer, or without a connection, it reached no stream.
        if !matches!(&opened, Err((0, reason)) if is_lost(&reason.word)) {
            self.astray.store(was_astray, Ordering::Relaxed);
        }
        opened
    }

    async fn shake_hands(&self, token: &str, ping: u64) -> Result<Opened, Closed> {
        let query = if ping > 0 { format!("?ping={ping}") } else { String::new() };
        let key = generate_key();
        let request = self
            .request(Method::GET, &format!("/stream{query}"))
            .bearer_auth(token)
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", &key);
        let response = self.send(request).await?;
        let (status, headers) = (response.status(), response.headers());
        let accept = headers.get("sec-websocket-accept");
        if accept.is_none_or(|accept| *accept != derive_accept_key(key.as_bytes())) {
            let word = headers.get("x-ended").and_then(|word| word.to_str().ok()).unwrap_or("");
            let reason = match status {
                StatusCode::UNAUTHORIZED => Reason::new(word, "The token of the device ended."),
                _ => self.no_server(status),
            };
            return Err((status.as_u16(), reason));
        }
        let named = number_in(headers, "x-ping-interval").filter(|&named| named > PING);
        let bears = named.map_or(30.0, |named| (2 * named + 10) as f64);
        let raw = response.upgrade().await.map_err(|fault| Reason::of_call(fault, &self.base))?;
        // Its usual limits are far above the server's largest frame of messages.
        let socket = WebSocketStream::from_raw_socket(raw, Role::Client, None).await;
        Ok((socket, self.seconds(bears)))
    }
}

fn number_in(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// Reads an answer, or a frame like one.
pub(crate) fn answer_in(text: &str) -> Option<Value> {
    let answer = serde_json::from_str::<Value>(text).ok()?;
    (answer["rc"].is_i64() && answer["msg"].is_string()).then_some(answer)
}
