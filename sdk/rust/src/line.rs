//! The calls of a device over HTTP, and its stream. This file does not interpret messages.

use crate::fault::Reason;
use crate::message::Message;
use crate::state::{has, Ack};
use futures_util::{SinkExt, StreamExt};
use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{json, Map, Value};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep_until, timeout, Instant};
use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message as Frame};
use tokio_tungstenite::WebSocketStream;

/// The wait of a poll, s, unless the server names another.
const POLL: u64 = 60;
const POLL_MAX: u64 = 240;
/// The server's largest frame of messages is far below it.
const BYTES_MAX: usize = 16 << 20;
const PING: u64 = 9;

/// The answer of a call, and a frame of a stream.
pub(crate) struct Answer {
    pub is_ok: bool,
    pub msg: String,
    /// The reason of a refusal.
    pub reason: Reason,
    pub token: Option<String>,
    pub messages: Option<Vec<Message>>,
    /// The places of the device that ended.
    pub ended: Vec<Reason>,
    /// True if the server says why the token ended.
    pub is_ending: bool,
}

impl Answer {
    fn read(text: &str) -> Option<Answer> {
        let all: Map<String, Value> = serde_json::from_str(text).ok()?;
        let list = |name: &str| all.get(name).and_then(Value::as_array);
        let ended = list("ended").into_iter().flatten().filter_map(Value::as_object);
        Some(Answer {
            is_ok: all.get("rc")?.as_i64()? == 1,
            msg: all.get("msg")?.as_str()?.to_string(),
            reason: Reason::read(&all),
            token: all.get("device_token").and_then(Value::as_str).map(str::to_string),
            messages: list("data").map(|data| data.iter().filter_map(Message::read).collect()),
            ended: ended.map(Reason::read).collect(),
            is_ending: all.contains_key("reason"),
        })
    }
}

/// An event of a stream.
pub(crate) enum Event {
    Opened,
    Answer(Box<Answer>),
    /// The server saved these, or will never take them.
    Answered(Vec<Ack>),
}

/// How a stream ended.
pub(crate) struct Closed {
    /// 0: without a code; 401: the handshake was refused for the token.
    pub code: u16,
    pub reason: Reason,
    /// True if it lasted long enough to reset the pauses.
    pub has_held: bool,
}

enum Order {
    Send(String),
    Cut(Reason),
}

/// The open stream: orders for it, and the frames whose answers are to come.
struct Open {
    orders: mpsc::UnboundedSender<Order>,
    pending: VecDeque<(Vec<Ack>, Instant)>,
}

pub(crate) struct Line {
    pub base: String,
    pub client: Client,
    pub pace: f64,
    /// In the headers of each request: the language, and the largest frame.
    pub headers: HeaderMap,
    poll: AtomicU64,
    open: Mutex<Option<Open>>,
    /// True if a handshake was given up that may still reach the server.
    astray: AtomicBool,
}

impl Line {
    pub fn new(base: String, client: Client, pace: f64, headers: HeaderMap) -> Line {
        let (open, astray) = (Mutex::new(None), AtomicBool::new(false));
        Line { base, client, pace, headers, poll: AtomicU64::new(POLL), open, astray }
    }

    pub fn seconds(&self, given: f64) -> Duration {
        Duration::from_secs_f64(given * self.pace)
    }

    /// The wait of the next poll, s.
    pub fn poll(&self) -> u64 {
        self.poll.load(Ordering::Relaxed)
    }

    async fn send(&self, request: RequestBuilder, token: Option<&str>) -> Result<Response, Reason> {
        let request = request.headers(self.headers.clone());
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        request.send().await.map_err(|fault| Reason::of_call(&fault, &self.base))
    }

    /// Makes a call; without a body a GET. The time grows by the wait of a poll, s.
    pub async fn ask(
        &self,
        path: &str,
        token: Option<&str>,
        body: Option<Value>,
        wait: u64,
    ) -> Result<Answer, Reason> {
        let url = format!("{}{path}", self.base);
        let request = match body {
            Some(body) => self
                .client
                .post(url)
                .header("content-type", "application/json")
                .body(body.to_string()),
            None => self.client.get(url),
        };
        let request = request.timeout(self.seconds(30.0) + Duration::from_secs(wait));
        let response = self.send(request, token).await?;
        let status = response.status();
        if path != "/ack" {
            let named = number_in(response.headers(), "x-wait-max").filter(|&named| named > 0);
            self.poll.store(named.map_or(POLL, |named| named.min(POLL_MAX)), Ordering::Relaxed);
        }
        let text = response.text().await.map_err(|fault| Reason::of_call(&fault, &self.base))?;
        Answer::read(&text).ok_or_else(|| self.no_server(status))
    }

    /// Says what a page in place of an answer means.
    fn no_server(&self, status: StatusCode) -> Reason {
        let base = &self.base;
        match status {
            StatusCode::NOT_FOUND => Reason::new(
                "wrong_path",
                format!("{base} is the path of no Gatepost: it says 404."),
            ),
            _ => {
                Reason::new("not_json", format!("{base} answered {status} with a page, not JSON."))
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn is_open(&self) -> bool {
        self.open().is_some()
    }

    /// Ends the stream at once.
    pub fn cut(&self, why: Reason) {
        if let Some(open) = self.open().as_ref() {
            let _ = open.orders.send(Order::Cut(why));
        }
    }

    /// Returns whether the answer to an acknowledgement is to come.
    pub fn is_under_way(&self, ack: &Ack) -> bool {
        self.open().as_ref().is_some_and(|open| open.pending.iter().any(|(acks, _)| has(acks, ack)))
    }

    /// Sends acknowledgements on the stream. A missing answer ends it, and they go again.
    pub fn acknowledge(&self, acks: &[Ack]) {
        if let Some(open) = self.open().as_mut() {
            let text = json!({"items": acks.iter().map(Ack::json).collect::<Vec<_>>()}).to_string();
            let _ = open.orders.send(Order::Send(text));
            open.pending.push_back((acks.to_vec(), Instant::now() + self.seconds(30.0)));
        }
    }

    /// Returns once whether a late handshake of this device may have taken over the stream.
    pub fn was_own(&self) -> bool {
        self.astray.swap(false, Ordering::Relaxed)
    }

    /// Opens a stream and reads it until it ends. `ping`: seconds between two pings; 0: the usual.
    pub async fn hold(&self, token: &str, ping: u64, events: mpsc::Sender<Event>) -> Closed {
        // Until it is answered; also if the future is dropped meanwhile.
        let was_astray = self.astray.swap(true, Ordering::Relaxed);
        let opening = timeout(self.seconds(30.0), self.shake_hands(token, ping)).await;
        let (mut socket, bears) = match opening {
            Ok(Ok(opened)) => opened,
            Ok(Err((code, reason))) => {
                // With an answer, or without a connection, it reached no stream.
                if code > 0 || ["refused_port", "name", "tls"].contains(&reason.word.as_str()) {
                    self.astray.store(was_astray, Ordering::Relaxed);
                }
                return Closed { code, reason, has_held: false };
            }
            Err(late) => {
                let reason = Reason::of_call(&late, &self.base);
                return Closed { code: 0, reason, has_held: false };
            }
        };
        self.astray.store(was_astray, Ordering::Relaxed);
        let opened = Instant::now();
        let (orders, mut ordered) = mpsc::unbounded_channel();
        *self.open() = Some(Open { orders, pending: VecDeque::new() });
        // Also when the future is dropped.
        let _closing = OnDrop(|| *self.open() = None);
        let _ = events.send(Event::Opened).await;
        let mut silence = opened + bears;
        let (code, reason) = loop {
            let far = silence + Duration::from_secs(3_600);
            let unanswered =
                self.open().as_ref().and_then(|open| open.pending.front().map(|it| it.1));
            tokio::select! {
                order = ordered.recv() => match order {
                    Some(Order::Send(text)) => {
                        let sent = timeout(bears, socket.send(Frame::text(text))).await;
                        if !matches!(sent, Ok(Ok(()))) {
                            break (0, Reason::new("no_answer", "The stream takes nothing."));
                        }
                    }
                    Some(Order::Cut(why)) => break (0, why),
                    None => break (0, Reason::default()),
                },
                frame = socket.next() => {
                    silence = Instant::now() + bears;
                    let event = match frame {
                        Some(Ok(Frame::Text(text))) => self.event(&text),
                        Some(Ok(Frame::Close(given))) => {
                            let (code, why) = given.map_or((0, String::new()), |given| {
                                (u16::from(given.code), given.reason.to_string())
                            });
                            let text = format!("The server closed the stream: {code} {why}.");
                            let word = if code == 4004 { &why } else { "closed" };
                            break (code, Reason::new(word, text));
                        }
                        Some(Ok(_)) => continue,
                        Some(Err(fault)) => break (0, self.ended(&fault)),
                        None => break (0, self.ended(&Error::ConnectionClosed)),
                    };
                    match event {
                        Some(event) => _ = events.send(event).await,
                        None => break (0, Reason::new("not_json", "A frame was no answer.")),
                    }
                }
                () = sleep_until(silence) => break (0, Reason::new("silence", "silence")),
                () = sleep_until(unanswered.unwrap_or(far)) => {
                    break (0, Reason::new("no_answer", "An acknowledgement was not answered."));
                }
            }
        };
        if code != 0 {
            // The server waits for this side's close frame.
            let _ = timeout(self.seconds(1.0), socket.close(None)).await;
        }
        let has_held = opened.elapsed() >= self.seconds(10.0);
        self.astray.fetch_and(!has_held, Ordering::Relaxed);
        Closed { code, reason, has_held }
    }

    fn ended(&self, fault: &Error) -> Reason {
        Reason::new("no_answer", format!("The stream to {} broke off: {fault}.", self.base))
    }

    fn event(&self, text: &str) -> Option<Event> {
        let answer = Answer::read(text)?;
        if answer.messages.is_some() || answer.is_ending {
            return Some(Event::Answer(Box::new(answer)));
        }
        let oldest = self.open().as_mut().and_then(|open| open.pending.pop_front());
        Some(Event::Answered(oldest.map_or_else(Vec::new, |it| it.0)))
    }

    /// Returns the socket and how much silence it bears; else a status and the reason.
    async fn shake_hands(
        &self,
        token: &str,
        ping: u64,
    ) -> Result<(WebSocketStream<reqwest::Upgraded>, Duration), (u16, Reason)> {
        let query = if ping > 0 { format!("?ping={ping}") } else { String::new() };
        let key = generate_key();
        let request = self
            .client
            .get(format!("{}/stream{query}", self.base))
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", &key);
        let response = self.send(request, Some(token)).await.map_err(|reason| (0, reason))?;
        let (status, headers) = (response.status(), response.headers());
        let accepted = headers.get("sec-websocket-accept").map(|value| value.as_bytes().to_vec());
        if status != StatusCode::SWITCHING_PROTOCOLS
            || accepted.as_deref() != Some(derive_accept_key(key.as_bytes()).as_bytes())
        {
            let word = headers.get("x-ended").and_then(|word| word.to_str().ok()).unwrap_or("");
            let mut reason = self.no_server(status);
            if status == StatusCode::UNAUTHORIZED {
                reason = Reason::new(word, "The token of the device ended.");
            } else if status == StatusCode::SERVICE_UNAVAILABLE {
                reason = Reason::new("no_answer", format!("{} takes no stream now.", self.base));
            }
            return Err((status.as_u16(), reason));
        }
        let named = number_in(headers, "x-ping-interval").filter(|&named| named > PING);
        let bears = named.map_or(30.0, |named| (2 * named + 10) as f64);
        let upgraded = response.upgrade().await;
        let upgraded = upgraded.map_err(|fault| (0, Reason::of_call(&fault, &self.base)))?;
        let limits = WebSocketConfig::default()
            .max_message_size(Some(BYTES_MAX))
            .max_frame_size(Some(BYTES_MAX));
        let socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(limits)).await;
        Ok((socket, self.seconds(bears)))
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn number_in(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}
