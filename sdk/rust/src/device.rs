//! The device: what it does in which order, its calls over HTTP and its stream.

use crate::app::{fetch_headers, App, BoxError, Delivery, Done, End, Options, Reason, Server};
use crate::app::{fields, Status};
use crate::message::{Message, COMMAND};
use crate::socket::{Socket, CLOSE, PING, PONG, TEXT};
use crate::state::{ack, random, State, Store};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{json, Map, Value};
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::future::{poll_fn, Future};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch, Mutex};
use tokio::time::{sleep, sleep_until, timeout, Instant};

const TOKEN_ERROR: &str = "Device token error";
/// Refusals that pass by themselves.
const PASSING: [&str; 2] = ["Too many requests", "Unknown error"];
const ACKS_EACH: usize = 100;
/// A batch has at most 100 messages, and the server sends no more before they are known.
const QUEUED: usize = 128;
/// The wait of a poll, s, unless the server names another.
const POLL: u64 = 60;
const POLL_MAX: u64 = 240;

/// A stream, and how much silence it bears.
type Opened = (Socket, Duration);
/// Frames of a stream, with the acknowledgements that some of them answer.
type Frames = mpsc::Receiver<(Value, Vec<Value>)>;
type Answer = Result<Value, Reason>;

/// A device. Share it in an `Arc`; dropping the future of [`Device::run`] cancels it.
pub struct Device<A> {
    app: A,
    server: Server,
    store: Box<dyn Store>,
    options: Options,
    client: Client,
    kept: watch::Sender<State>,
    /// Makes one step of reading, handling and writing the state after the other.
    steps: Mutex<()>,
    running: Mutex<()>,
    /// The address for pushes, or null.
    push: watch::Sender<Value>,
    /// Tells a stream, which listens while it is open, of acknowledgements.
    wake: watch::Sender<()>,
    end: watch::Sender<Option<End>>,
    /// The wait of the next poll, s.
    poll: AtomicU64,
    /// True if a handshake was given up that may still reach the server.
    astray: AtomicBool,
}

impl<A: App> Device<A> {
    /// Makes a device, which does nothing before it runs but keep its HWID. Fails with its store.
    pub fn new(
        server: Server,
        store: impl Store + 'static,
        app: A,
        options: Options,
    ) -> Result<Device<A>, BoxError> {
        let mut state = State::open(&store, options.hwid.as_deref())?;
        // A server that was discovered tells nothing of a dead token.
        state.registered = (!server.shown.contains_key("subscription_url")).then_some(Value::Null);
        let own = || Client::builder().http1_only().redirect(reqwest::redirect::Policy::none());
        Ok(Device {
            app,
            client: options.client.clone().map_or_else(|| own().build(), Ok)?,
            server,
            store: Box::new(store),
            kept: watch::Sender::new(state),
            steps: Mutex::default(),
            running: Mutex::default(),
            push: watch::Sender::new(options.push.clone().unwrap_or_default()),
            options,
            wake: watch::Sender::default(),
            end: watch::Sender::default(),
            poll: POLL.into(),
            astray: false.into(),
        })
    }

    /// Works until the device is refused or replaced. What the server has not confirmed when the
    /// future is dropped is sent at the next start.
    pub async fn run(&self) -> End {
        let Ok(_running) = self.running.try_lock() else { return End::Running };
        self.end.send_replace(None);
        let mut ended = self.end.subscribe();
        tokio::select! {
            biased;
            _ = ended.wait_for(Option::is_some) => {}
            () = self.sessions() => {}
        }
        self.end.borrow().clone().unwrap_or(End::Running)
    }

    /// Takes what FCM, APNs or Web Push brought, in the app's background too. `was_shown`: the
    /// system showed the notification, so the app must not.
    pub async fn take_push(&self, data: &Map<String, Value>, was_shown: bool) {
        let id = data.get("id").map_or_else(String::new, Value::to_string);
        let Ok(id @ 1..) = id.trim_matches('"').parse() else { return };
        let message = data.get("message").and_then(Message::read);
        let message = message.filter(|message| message.id == id && !message.is_stub);
        if was_shown && data.get("kind").is_some_and(|kind| kind == "notification") {
            self.change(|state| state.know(id, "received", "")).await;
        } else if let Some(message) = message {
            self.handle(message).await;
        } else if let (0, Some(token)) = (self.wake.receiver_count(), self.state().token) {
            self.note(self.fetch(&token, "", 0).await);
        }
        self.note(self.send_acks().await);
    }

    /// Tells that the user opened a notification.
    pub async fn opened(&self, id: i64) {
        self.change(|state| state.owe(ack(id, "opened", ""))).await;
        self.note(self.send_acks().await);
    }

    /// Tells that the network gave another address, or none. The device registers it soon, or when
    /// it runs.
    pub async fn set_push(&self, push: Option<Value>) {
        self.push.send_replace(push.unwrap_or_default());
        self.change(|state| state.registered = None).await;
    }

    /// Returns the headers by which a subscription's fetch names this device.
    pub async fn headers(&self) -> BTreeMap<String, String> {
        fetch_headers(&self.state().hwid, &self.options.facts)
    }

    fn seconds(&self, given: f64) -> Duration {
        let pace = Some(self.options.pace).filter(|&pace| pace > 0.0);
        Duration::from_secs_f64(given * pace.unwrap_or(1.0))
    }

    fn finish(&self, end: End) {
        self.log(&format!("ended: {end:?}"));
        self.end.send_replace(Some(end));
    }

    fn report(&self, status: Status) {
        self.log(&format!("{status:?}"));
        if self.end.borrow().is_none() {
            // A panic of the app ends nothing; its hook has shown it.
            let _ = catch_unwind(AssertUnwindSafe(|| self.app.on_status(status)));
        }
    }

    fn log(&self, line: &str) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.app.log(line)));
    }

    /// Logs a fault that the next connection makes good.
    fn note<T>(&self, result: Result<T, Reason>) {
        if let Err(why) = result {
            self.log(&format!("it waits for the next connection: {why}"));
        }
    }

    async fn sessions(&self) {
        let first = self.seconds(0.5);
        let mut wait = first;
        while self.end.borrow().is_none() {
            let (mut push, mut has_held) = (self.push.subscribe(), false);
            let ended = tokio::select! {
                Ok(()) = push.changed() => Err(Reason::new("closed", "another address for pushes")),
                ended = self.session(&mut has_held) => ended,
            };
            let Err(why) = ended;
            self.report(Status::Closed(why));
            wait = if has_held { first } else { wait };
            sleep(wait.mul_f64(0.5 + random() as f64 / u64::MAX as f64)).await;
            wait = self.seconds(60.0).min(2 * wait);
        }
    }

    /// Works with one connection. `has_held`: it did long enough to begin with the first pause.
    async fn session(&self, has_held: &mut bool) -> Result<Infallible, Reason> {
        let token = self.register().await?;
        if self.options.polls {
            return self.polls(&token, has_held).await;
        }
        let opened = self.open(&token).await?;
        let since = Instant::now();
        let Err(why) = self.stream(&token, opened).await;
        *has_held = since.elapsed() >= self.seconds(10.0);
        let is_own = self.astray.fetch_and(!*has_held && why.code != 4002, Relaxed) && !*has_held;
        match why.code {
            // Else an older attempt of this device was late.
            4002 if !is_own => self.finish(End::Replaced),
            // The inbox says why, in the language of the user.
            4001 | 4004 if self.end.borrow().is_none() => {
                self.note(self.fetch(&token, "", 0).await);
            }
            _ => {}
        }
        Err(why)
    }

    /// Registers if it is due, and returns the token. It is due at each start of a device with
    /// pushes, as the gateway may have dropped a dead address.
    async fn register(&self) -> Result<String, Reason> {
        let State { hwid, token, registered, .. } = self.state();
        let push = self.push.borrow().clone();
        if let Some(token) = &token {
            if registered.as_ref() == Some(&push) {
                return Ok(token.clone());
            }
            // The inbox says first whether the slot was freed: a registration could take another.
            self.fetch(token, "", 0).await?;
        }
        let mut body = json!({"hwid": hwid});
        for (name, value) in self.options.facts.iter().chain(&self.server.shown) {
            body[name] = json!(value);
        }
        if !push.is_null() {
            body["push"] = push.clone();
        }
        let asked = self.ask("/register", token.as_deref(), body, 0).await;
        if asked.is_err() {
            self.change(|state| state.doubted = token.clone()).await;
        }
        let answer = asked?;
        if let (true, Some(renewed)) = (answer["rc"] == 1, answer["device_token"].as_str()) {
            let now = (Some(renewed.to_string()), Some(push));
            self.change(|state| (state.token, state.registered) = now).await;
            return Ok(renewed.to_string());
        }
        let reason = Reason::read(&answer);
        if !PASSING.contains(&reason.msg.as_str()) && self.state().token == token {
            self.finish(End::Refused(reason.clone()));
        }
        Err(reason)
    }

    /// Heeds what any answer may say: places that ended, and the death of the token. Then its slot
    /// ended, or the device registers again, once: two devices of one HWID would do it for ever.
    async fn heed(&self, token: &str, answer: &Value) {
        for place in answer["ended"].as_array().into_iter().flatten() {
            self.report(Status::Ended(Reason::read(place)));
        }
        if answer["msg"] != TOKEN_ERROR {
            return;
        }
        let (hour, again) = (self.seconds(3_600.0), "another device registers this HWID");
        let ended = self.change(|state| {
            state.token.take_if(|own| own == token)?;
            if answer["reason"].is_string() {
                return Some(Reason::read(answer));
            }
            let is_doubted = state.doubted.as_deref() == Some(token);
            let before = if is_doubted { None } else { state.renewed.replace(Instant::now()) };
            before.filter(|at| at.elapsed() < hour).map(|_| Reason::new(again, again))
        });
        if let Some(reason) = ended.await {
            self.finish(End::Refused(reason));
        }
    }

    /// Opens a stream: its socket, and how much silence it bears.
    async fn open(&self, token: &str) -> Result<Opened, Reason> {
        let ping = self.options.ping;
        let path = if ping > 0 { &format!("/stream?ping={ping}") } else { "/stream" };
        let request = self
            .request(Method::GET, path, Some(token))
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", Socket::key());
        let sent = request.send().await.map_err(|fault| self.broken(fault));
        let response = sent.inspect_err(|why| {
            // It may reach the server yet.
            self.astray.fetch_or(["timeout", "no_answer"].contains(&why.word.as_str()), Relaxed);
        })?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            if response.status() == StatusCode::UNAUTHORIZED {
                self.fetch(token, "", 0).await?;
            }
            return Err(self.no_server(response.status()));
        }
        let named = number_in(&response, "x-ping-interval").unwrap_or(0);
        let bears = self.seconds((2 * named + 10).max(30) as f64);
        let stream = response.upgrade().await.map_err(|fault| self.broken(fault))?;
        Ok((Socket { stream, buffer: Vec::new(), message: Vec::new() }, bears))
    }

    /// Reads a stream and sends acknowledgements on it. A missing answer ends it: they go again.
    async fn stream(&self, token: &str, opened: Opened) -> Result<Infallible, Reason> {
        let (mut socket, bears) = opened;
        let mut woken = self.wake.subscribe();
        woken.mark_changed();
        self.report(Status::Open);
        let (queue, frames) = mpsc::channel(QUEUED);
        let mut handling = pin!(self.handle_frames(token, frames));
        let mut pending = VecDeque::<(Vec<Value>, Instant)>::new();
        let mut silence = Instant::now() + bears;
        loop {
            let late = pending.front().map_or(silence, |sent| sent.1);
            let frame = tokio::select! {
                biased;
                Err(why) = &mut handling => return Err(why),
                () = sleep_until(silence) => return Err(Reason::new("silence", "silence")),
                () = sleep_until(late) => return Err(no_answer("acknowledges nothing")),
                Ok(()) = woken.changed() => {
                    let mut due = self.state().acks;
                    due.retain(|ack| !pending.iter().any(|sent| sent.0.contains(ack)));
                    for some in due.chunks(ACKS_EACH) {
                        let text = json!({"items": some}).to_string();
                        let sent = timeout(bears, socket.send(TEXT, text.as_bytes())).await;
                        sent.ok().and_then(Result::ok).ok_or_else(|| no_answer("takes nothing"))?;
                        pending.push_back((some.to_vec(), Instant::now() + self.seconds(30.0)));
                    }
                    continue;
                }
                frame = socket.next() => frame,
            };
            silence = Instant::now() + bears;
            match frame.ok_or_else(|| no_answer("broke off"))? {
                (TEXT, text) => {
                    let answer = answer_in(&text).ok_or_else(|| no_answer("sent no answer"))?;
                    // Those that the server refused for their form it will never take.
                    let is_batch = answer["data"].is_array() || answer["reason"].is_string();
                    let sent = if is_batch { None } else { pending.pop_front() };
                    let frame = (answer, sent.unzip().0.unwrap_or_default());
                    queue.try_send(frame).map_err(|_| no_answer("brings too much"))?;
                }
                (PING, data) => drop(timeout(bears, socket.send(PONG, &data)).await),
                (CLOSE, data) => {
                    let _ = timeout(bears, socket.send(CLOSE, &data)).await;
                    let (code, text) = data.split_first_chunk().unwrap_or((&[0; 2], &[]));
                    let (code, text) = (u16::from_be_bytes(*code), String::from_utf8_lossy(text));
                    let why = no_answer(&format!("closed the stream: {text} ({code})"));
                    return Err(Reason { code, ..why });
                }
                _ => {}
            }
        }
    }

    /// Handles frames of a stream, and confirms the acknowledgements that some of them answer.
    async fn handle_frames(&self, token: &str, mut frames: Frames) -> Result<(), Reason> {
        while let Some((answer, acks)) = frames.recv().await {
            if !acks.is_empty() {
                self.change(|state| state.confirm(&acks)).await;
            }
            self.heed(token, &answer).await;
            self.take(token, &answer).await?;
            self.send_acks().await?;
        }
        Ok(())
    }

    async fn polls(&self, token: &str, has_held: &mut bool) -> Result<Infallible, Reason> {
        // The first one tells at once that the line is open, and how long others may wait.
        let mut wait = 0;
        loop {
            // The server repeats a message at once until it is acknowledged.
            self.send_acks().await?;
            let began = Instant::now();
            let query = if wait > 0 { format!("?wait={wait}") } else { String::new() };
            let count = self.fetch(token, &query, wait).await?;
            if !std::mem::replace(has_held, true) {
                self.report(Status::Open);
            } else if count == 0 {
                // A server that does not wait is not asked without a pause.
                let (ping, early) = (self.options.ping as f64, began.elapsed());
                let early = self.seconds(1.0).saturating_sub(early);
                sleep(if ping > 0.0 { self.seconds(ping) } else { early }).await;
            }
            wait = if self.options.ping > 0 { 0 } else { self.poll.load(Relaxed) };
        }
    }

    /// Takes the messages of the inbox, and returns how many there were.
    async fn fetch(&self, token: &str, query: &str, wait: u64) -> Result<usize, Reason> {
        let answer = self.call(&format!("/inbox{query}"), token, Value::Null, wait).await?;
        self.take(token, &answer).await
    }

    async fn take(&self, token: &str, answer: &Value) -> Result<usize, Reason> {
        let messages = Message::all_in(answer);
        let count = messages.len();
        for message in messages {
            let mut all = vec![message];
            if all[0].is_stub && self.state().seen(all[0].id).is_none() {
                // It did not fit into the frame: it is acknowledged after the whole of it.
                let path = format!("/inbox?id={}", all[0].id);
                all = Message::all_in(&self.call(&path, token, Value::Null, 0).await?);
                all.retain(|one| !one.is_stub);
            }
            for one in all {
                self.handle(one).await;
            }
        }
        Ok(count)
    }

    /// Sends what is not confirmed: on the stream, or by calls.
    async fn send_acks(&self) -> Result<(), Reason> {
        if self.wake.send(()).is_ok() {
            return Ok(());
        }
        let State { token: Some(token), acks, .. } = self.state() else { return Ok(()) };
        for some in acks.chunks(ACKS_EACH) {
            self.call("/ack", &token, json!({"items": some}), 0).await?;
            self.change(|state| state.confirm(some)).await;
        }
        Ok(())
    }

    /// Gives a new message to the app. A copy is acknowledged again: the first may be lost.
    async fn handle(&self, message: Message) {
        let _step = self.steps.lock().await;
        let (id, mut state) = (message.id, self.state());
        if let Some(before) = state.seen(id) {
            let again = ack(id, before, "");
            state.owe(again);
            return self.keep(state);
        }
        let usual = if message.kind == COMMAND { "executed" } else { "received" };
        let mut known = state.clone();
        known.know(id, usual, "");
        let handling = async {
            message.check()?;
            let texts = message.texts(&self.options.locale);
            self.app.on_message(Delivery { message, texts, state: known.text() }).await
        };
        let done = caught(handling).await;
        self.log(&format!("message {id}: {done:?}"));
        match done {
            Ok(Done::Kept) => drop(self.kept.send_replace(known)),
            Ok(Done::Usual) => self.keep(known),
            other => {
                let said = if matches!(other, Ok(Done::Opened)) { "opened" } else { "failed" };
                state.know(id, said, &other.map_or_else(|why| why.to_string(), |_| String::new()));
                self.keep(state);
            }
        }
    }

    fn state(&self) -> State {
        self.kept.borrow().clone()
    }

    async fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let _step = self.steps.lock().await;
        let mut state = self.state();
        let done = change(&mut state);
        self.keep(state);
        done
    }

    /// Keeps the state, in memory alone if the store fails: the next write has it all.
    fn keep(&self, state: State) {
        if let Err(fault) = self.store.write(&state.text()) {
            self.log(&format!("the store failed: {fault}"));
        }
        self.kept.send_replace(state);
    }

    fn request(&self, method: Method, path: &str, token: Option<&str>) -> RequestBuilder {
        let frame_max = Some(self.options.frame_max).filter(|&bytes| bytes > 0);
        let frame_max = frame_max.map_or_else(String::new, |bytes| bytes.to_string());
        let bearer = token.map_or_else(String::new, |token| format!("Bearer {token}"));
        let named = fields([
            ("accept-language", self.options.locale.as_str()),
            ("authorization", bearer.as_str()),
            ("x-frame-max", frame_max.as_str()),
        ]);
        let request = self.client.request(method, format!("{}{path}", self.server.base));
        let request = request.timeout(self.seconds(30.0));
        named.iter().fold(request, |request, (name, value)| request.header(name, value))
    }

    fn broken(&self, fault: reqwest::Error) -> Reason {
        Reason::of_call(fault, &self.server.base)
    }

    /// Makes a call, and heeds what its answer says.
    async fn ask(&self, path: &str, token: Option<&str>, body: Value, wait: u64) -> Answer {
        let method = if body.is_null() { Method::GET } else { Method::POST };
        let mut request = self.request(method, path, token);
        request = request.timeout(self.seconds(30.0) + Duration::from_secs(wait));
        if !body.is_null() {
            request = request.json(&body);
        }
        let response = request.send().await.map_err(|fault| self.broken(fault))?;
        let status = response.status();
        if path != "/ack" {
            let named = number_in(&response, "x-wait-max").filter(|&named| named > 0);
            self.poll.store(named.map_or(POLL, |named| named.min(POLL_MAX)), Relaxed);
        }
        let text = response.text().await.map_err(|fault| self.broken(fault))?;
        let answer = answer_in(text.as_bytes()).filter(|_| status != StatusCode::NOT_FOUND);
        let answer = answer.ok_or_else(|| self.no_server(status))?;
        if let Some(token) = token {
            self.heed(token, &answer).await;
        }
        Ok(answer)
    }

    async fn call(&self, path: &str, token: &str, body: Value, wait: u64) -> Answer {
        let answer = self.ask(path, Some(token), body, wait).await?;
        if answer["rc"] == 1 {
            Ok(answer)
        } else {
            Err(Reason::read(&answer))
        }
    }

    /// Says what a page in place of an answer means.
    fn no_server(&self, status: StatusCode) -> Reason {
        let (word, what) = match status {
            StatusCode::NOT_FOUND => ("wrong_path", "is the path of no Gatepost"),
            StatusCode::SERVICE_UNAVAILABLE => ("no_answer", "takes nothing now"),
            _ => ("not_json", "answers with a page, not JSON"),
        };
        Reason::new(word, format!("{} {what}: {status}.", self.server.base))
    }
}

/// Awaits a handler, whose panic is an error.
async fn caught<T>(work: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
    let mut work = pin!(work);
    let poll = |context: &mut Context<'_>| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(Err("the handler panicked".into())))
    };
    poll_fn(poll).await
}

fn number_in(response: &Response, name: &str) -> Option<u64> {
    response.headers().get(name)?.to_str().ok()?.parse().ok()
}

/// Reads an answer, or a frame like one.
fn answer_in(text: &[u8]) -> Option<Value> {
    let answer = serde_json::from_slice::<Value>(text).ok()?;
    (answer["rc"].is_i64() && answer["msg"].is_string()).then_some(answer)
}

fn no_answer(what: &str) -> Reason {
    Reason::new("no_answer", format!("The server {what}."))
}
