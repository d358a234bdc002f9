//! The device: what it does in which order.

use crate::app::{App, BoxError, Delivery, Done, End, Mode, Options, PushAddress, Status};
use crate::fault::Reason;
use crate::line::{answer_in, Closed, Line, Opened};
use crate::message::{Message, COMMAND};
use crate::server::fetch_headers;
use crate::state::{random, Ack, State};
use futures_util::{FutureExt, SinkExt, StreamExt};
use reqwest::{Method, RequestBuilder};
use serde_json::{json, Map, Value};
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch, Mutex};
use tokio::time::{sleep, sleep_until, timeout, Instant};
use tokio_tungstenite::tungstenite::Message as Frame;

const TOKEN_ERROR: &str = "Device token error";
/// Refusals that pass by themselves.
const PASSING: [&str; 2] = ["Too many requests", "Unknown error"];
const ACKS_EACH: usize = 100;
/// A batch has at most 100 messages, and the server sends no more before they are known.
const QUEUED: usize = 128;

/// A device. Share it in an `Arc`; dropping the future of [`Device::run`] cancels it.
pub struct Device<A> {
    app: A,
    options: Options,
    line: Line,
    kept: StdMutex<Option<State>>,
    /// Makes one step of reading, handling and writing the state after the other.
    steps: Mutex<()>,
    registering: Mutex<Registering>,
    running: Mutex<()>,
    /// Tells a stream, which listens while it is open, of acknowledgements.
    wake: watch::Sender<()>,
    end: watch::Sender<Option<End>>,
}

type Frames = mpsc::Receiver<(Value, Vec<Ack>)>;

/// Makes one registration after the other.
#[derive(Default)]
struct Registering {
    push: Option<PushAddress>,
    /// Whether the server knows the address.
    is_known: bool,
    renewed: Option<Instant>,
    /// The token of a registration whose answer was lost: the new token was in it.
    doubted: Option<String>,
}

impl<A: App> Device<A> {
    /// Makes a device. It does nothing before it runs.
    pub fn new(options: Options, app: A) -> Result<Device<A>, BoxError> {
        let (push, is_known) = (options.push.clone(), options.push.is_none());
        Ok(Device {
            app,
            line: Line::new(&options)?,
            options,
            kept: StdMutex::default(),
            steps: Mutex::default(),
            registering: Mutex::new(Registering { push, is_known, ..Registering::default() }),
            running: Mutex::default(),
            wake: watch::Sender::default(),
            end: watch::Sender::default(),
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
        self.note(self.pushed(data, was_shown).await);
    }

    /// Tells that the user opened a notification.
    pub async fn opened(&self, id: i64) {
        self.note(self.change(|state| state.owe(Ack::new(id, "opened", ""))).await);
        self.note(self.send_acks().await);
    }

    /// Tells that the network gave another address, or none.
    pub async fn set_push(&self, push: Option<PushAddress>) {
        let mut registering = self.registering.lock().await;
        (registering.push, registering.is_known) = (push, false);
        drop(registering);
        // A device that does not run, which would wait for its end, registers when it does.
        if self.end.receiver_count() > 0 && self.end.borrow().is_none() {
            if let Err(why) = self.register().await {
                self.report(Status::Closed(why));
            }
        }
    }

    /// Returns the headers by which a subscription's fetch names this device.
    pub async fn headers(&self) -> BTreeMap<String, String> {
        let hwid = self.state().map_or_else(|_| String::new(), |state| state.hwid);
        fetch_headers(&hwid, &self.options.facts)
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
    fn note(&self, result: Result<(), Reason>) {
        if let Err(why) = result {
            self.log(&format!("it waits for the next connection: {why}"));
        }
    }

    async fn sessions(&self) {
        let (first, longest) = (self.line.seconds(0.5), self.line.seconds(60.0));
        let mut wait = first;
        while self.end.borrow().is_none() {
            let mut has_held = false;
            if let Err(why) = self.session(&mut has_held).await {
                self.report(Status::Closed(why));
            }
            wait = if has_held { first } else { wait };
            sleep(wait.mul_f64(0.5 + random() as f64 / u64::MAX as f64)).await;
            wait = longest.min(2 * wait);
        }
    }

    /// Works with one connection. `has_held`: it did long enough to begin with the first pause.
    async fn session(&self, has_held: &mut bool) -> Result<(), Reason> {
        let is_known = self.registering.lock().await.is_known;
        let token = self.state()?.token;
        // The gateway may have dropped a dead address: a device with pushes registers at each start.
        // The inbox says first whether the slot was freed: a registration could take another one.
        if let (Some(token), false) = (&token, is_known) {
            self.fetch(token, 0).await?;
        }
        if token.is_none() || !is_known {
            self.register().await?;
        }
        let Some(token) = self.state()?.token else { return Ok(()) };
        if self.options.mode == Mode::Poll {
            return self.polls(&token, has_held).await;
        }
        let Err((code, reason)) = self.listen(&token, has_held).await;
        match code {
            // Else an older attempt of this device was late.
            4002 if !self.line.astray.swap(false, Ordering::Relaxed) => self.finish(End::Replaced),
            4001 => self.forget(&token, None).await?,
            // The inbox says why, in the language of the user.
            401 | 4004 => {
                self.note(self.fetch(&token, 0).await.map(drop));
                if !reason.word.is_empty() {
                    self.forget(&token, Some(reason.clone())).await?;
                }
            }
            _ => {}
        }
        Err(reason)
    }

    async fn register(&self) -> Result<(), Reason> {
        let mut registering = self.registering.lock().await;
        let state = self.state()?;
        let mut body = json!({"hwid": state.hwid});
        for (name, value) in self.options.facts.iter().chain(&self.options.server.shown) {
            body[name] = json!(value);
        }
        if let Some(push) = &registering.push {
            body["push"] = json!(push);
        }
        let mut request = self.line.request(Method::POST, "/register").json(&body);
        if let Some(token) = &state.token {
            request = request.bearer_auth(token);
        }
        let asked = self.line.ask(request).await;
        if asked.is_err() {
            registering.doubted = state.token.clone();
        }
        let answer = asked?;
        if let (true, Some(renewed)) = (answer["rc"] == 1, answer["device_token"].as_str()) {
            registering.is_known = true;
            return self.change(|state| state.token = Some(renewed.to_string())).await;
        }
        drop(registering);
        let reason = Reason::read(&answer);
        match &state.token {
            Some(token) if reason.msg == TOKEN_ERROR => self.heed(token, &answer).await?,
            _ if PASSING.contains(&reason.msg.as_str()) => {}
            _ => self.finish(End::Refused(reason.clone())),
        }
        Err(reason)
    }

    /// Heeds what any answer may say: places that ended, and the death of the token.
    async fn heed(&self, token: &str, answer: &Value) -> Result<(), Reason> {
        for place in answer["ended"].as_array().into_iter().flatten() {
            self.report(Status::Ended(Reason::read(place)));
        }
        if answer["msg"] == TOKEN_ERROR {
            self.forget(token, answer.get("reason").map(|_| Reason::read(answer))).await?;
        }
        Ok(())
    }

    /// Forgets a token that died. Its slot ended, or the device registers again, once: two devices
    /// of one HWID would do it for ever.
    async fn forget(&self, token: &str, ended: Option<Reason>) -> Result<(), Reason> {
        // A registration may renew it meanwhile.
        let mut registering = self.registering.lock().await;
        if !self.change(|state| state.token.take_if(|own| own == token).is_some()).await? {
            return Ok(());
        }
        registering.is_known = false;
        if let Some(reason) = ended {
            self.finish(End::Refused(reason));
        } else if registering.doubted.as_deref() != Some(token) {
            let hour = self.line.seconds(3_600.0);
            if registering.renewed.is_some_and(|at| at.elapsed() < hour) {
                let text = "another device registers this HWID";
                self.finish(End::Refused(Reason::new(text, text)));
            }
            registering.renewed = Some(Instant::now());
        }
        Ok(())
    }

    async fn listen(&self, token: &str, has_held: &mut bool) -> Result<Infallible, Closed> {
        let opened = self.line.open(token, self.options.ping).await?;
        let since = Instant::now();
        let closed = self.stream(token, opened).await;
        *has_held = since.elapsed() >= self.line.seconds(10.0);
        self.line.astray.fetch_and(!*has_held, Ordering::Relaxed);
        closed
    }

    /// Reads a stream and sends acknowledgements on it. A missing answer ends it: they go again.
    async fn stream(&self, token: &str, opened: Opened) -> Result<Infallible, Closed> {
        let (mut socket, bears) = opened;
        let mut woken = self.wake.subscribe();
        woken.mark_changed();
        self.report(Status::Open);
        let (queue, frames) = mpsc::channel(QUEUED);
        let mut handling = pin!(self.handle_frames(token, frames));
        let mut pending = VecDeque::<(Vec<Ack>, Instant)>::new();
        let mut silence = Instant::now() + bears;
        loop {
            let late = pending.front().map_or(silence, |sent| sent.1);
            let frame = tokio::select! {
                biased;
                Err(why) = &mut handling => return Err(why.into()),
                () = sleep_until(silence) => return Err(Reason::new("silence", "silence").into()),
                () = sleep_until(late) => return Err(no_answer("acknowledges nothing").into()),
                Ok(()) = woken.changed() => {
                    let mut due = self.state()?.acks;
                    due.retain(|ack| !pending.iter().any(|sent| sent.0.contains(ack)));
                    for some in due.chunks(ACKS_EACH) {
                        let text = json!({"items": some}).to_string();
                        let sent = timeout(bears, socket.send(Frame::text(text))).await;
                        sent.ok().and_then(Result::ok).ok_or_else(|| no_answer("takes nothing"))?;
                        pending.push_back((some.to_vec(), Instant::now() + self.line.seconds(30.0)));
                    }
                    continue;
                }
                frame = socket.next() => frame,
            };
            silence = Instant::now() + bears;
            match frame {
                Some(Ok(Frame::Text(text))) => {
                    let answer = answer_in(&text).ok_or_else(|| no_answer("sent no answer"))?;
                    // Those that the server refused for their form it will never take.
                    let is_batch = answer["data"].is_array() || answer.get("reason").is_some();
                    let sent = if is_batch { None } else { pending.pop_front() };
                    let acks = sent.map_or(Vec::new(), |sent| sent.0);
                    queue.try_send((answer, acks)).map_err(|_| no_answer("brings too much"))?;
                }
                Some(Ok(Frame::Close(given))) => {
                    // The server waits for this side's close frame.
                    let _ = timeout(self.line.seconds(1.0), socket.close(None)).await;
                    let (code, why) = given.map_or((0, String::new()), |given| {
                        (given.code.into(), given.reason.to_string())
                    });
                    let text = format!("The server closed the stream: {code} {why}.");
                    let word = if code == 4004 { &why } else { "closed" };
                    return Err((code, Reason::new(word, text)));
                }
                Some(Ok(_)) => {}
                Some(Err(fault)) => return Err(no_answer(&format!("broke off: {fault}")).into()),
                None => return Err(no_answer("broke off").into()),
            }
        }
    }

    /// Handles frames of a stream, and confirms the acknowledgements that some of them answer.
    async fn handle_frames(&self, token: &str, mut frames: Frames) -> Result<(), Reason> {
        while let Some((answer, acks)) = frames.recv().await {
            self.heed(token, &answer).await?;
            if !acks.is_empty() {
                self.change(|state| state.confirm(&acks)).await?;
            }
            self.take(token, &answer).await?;
            self.send_acks().await?;
        }
        Ok(())
    }

    async fn polls(&self, token: &str, has_held: &mut bool) -> Result<(), Reason> {
        // The first one tells at once that the line is open, and how long others may wait.
        let mut wait = 0;
        loop {
            // The server repeats a message at once until it is acknowledged.
            self.send_acks().await?;
            let began = Instant::now();
            let count = self.fetch(token, wait).await?;
            // A server that does not wait is not asked without a pause.
            let pause = match self.options.ping {
                0 => self.line.seconds(1.0).saturating_sub(began.elapsed()),
                ping => self.line.seconds(ping as f64),
            };
            if !std::mem::replace(has_held, true) {
                self.report(Status::Open);
            } else if count == 0 {
                sleep(pause).await;
            }
            wait = if self.options.ping > 0 { 0 } else { self.line.poll.load(Ordering::Relaxed) };
        }
    }

    async fn call(&self, token: &str, request: RequestBuilder) -> Result<Value, Reason> {
        let answer = self.line.ask(request.bearer_auth(token)).await?;
        self.heed(token, &answer).await?;
        if answer["rc"] != 1 {
            return Err(Reason::read(&answer));
        }
        Ok(answer)
    }

    /// Takes the messages of the inbox, and returns how many there were.
    async fn fetch(&self, token: &str, wait: u64) -> Result<usize, Reason> {
        let path = if wait > 0 { &format!("/inbox?wait={wait}") } else { "/inbox" };
        let time = self.line.seconds(30.0) + Duration::from_secs(wait);
        let request = self.line.request(Method::GET, path).timeout(time);
        self.take(token, &self.call(token, request).await?).await
    }

    async fn take(&self, token: &str, answer: &Value) -> Result<usize, Reason> {
        let messages = Message::all_in(answer);
        let count = messages.len();
        for mut message in messages {
            if message.is_stub && self.state()?.seen(message.id).is_none() {
                // It did not fit into the frame: it is acknowledged after the whole of it.
                let path = format!("/inbox?id={}", message.id);
                let request = self.line.request(Method::GET, &path);
                let found = Message::all_in(&self.call(token, request).await?);
                let Some(whole) = found.into_iter().find(|one| !one.is_stub) else { continue };
                message = whole;
            }
            self.handle(message).await?;
        }
        Ok(count)
    }

    async fn pushed(&self, data: &Map<String, Value>, was_shown: bool) -> Result<(), Reason> {
        let id = data.get("id").map_or_else(String::new, Value::to_string);
        let Ok(id @ 1..) = id.trim_matches('"').parse() else { return Ok(()) };
        let message = data.get("message").and_then(Message::read);
        let message = message.filter(|message| message.id == id && !message.is_stub);
        if was_shown && data.get("kind").is_some_and(|kind| kind == "notification") {
            self.change(|state| state.know(Ack::new(id, "received", ""))).await?;
        } else if let Some(message) = message {
            self.handle(message).await?;
        } else if let (0, Some(token)) = (self.wake.receiver_count(), self.state()?.token) {
            self.fetch(&token, 0).await?;
        }
        self.send_acks().await
    }

    /// Sends what is not confirmed: on the stream, or by calls.
    async fn send_acks(&self) -> Result<(), Reason> {
        if self.wake.send(()).is_ok() {
            return Ok(());
        }
        let State { token: Some(token), acks, .. } = self.state()? else { return Ok(()) };
        for some in acks.chunks(ACKS_EACH) {
            let request = self.line.request(Method::POST, "/ack");
            self.call(&token, request.json(&json!({"items": some}))).await?;
            self.change(|state| state.confirm(some)).await?;
        }
        Ok(())
    }

    /// Gives a new message to the app. A copy is acknowledged again: the first may be lost.
    async fn handle(&self, message: Message) -> Result<(), Reason> {
        let _step = self.steps.lock().await;
        let (id, mut state) = (message.id, self.state()?);
        if let Some(before) = state.seen(id) {
            let again = Ack::new(id, before, "");
            state.owe(again);
            self.keep(state);
            return Ok(());
        }
        let usual = if message.kind == COMMAND { "executed" } else { "received" };
        let mut known = state.clone();
        known.know(Ack::new(id, usual, ""));
        let handling = async {
            message.check()?;
            let texts = message.texts(&self.options.locale);
            self.app.on_message(Delivery { message, texts, state: known.text() }).await
        };
        let done = AssertUnwindSafe(handling).catch_unwind().await;
        let done = done.unwrap_or_else(|_| Err("the handler panicked".into()));
        let detail = done.as_ref().map_or_else(|fault| fault.to_string(), |_| String::new());
        self.log(&format!("message {id}: {done:?}"));
        match done {
            Ok(Done::Kept) => {
                *self.kept() = Some(known);
                return Ok(());
            }
            Ok(Done::Usual) => state.know(Ack::new(id, usual, "")),
            Ok(Done::Opened) => state.know(Ack::new(id, "opened", "")),
            Ok(Done::Failed) | Err(_) => state.know(Ack::new(id, "failed", &detail)),
        }
        self.keep(state);
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, Option<State>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state. Fails if the store does: the device waits for it.
    fn state(&self) -> Result<State, Reason> {
        let mut kept = self.kept();
        if let Some(state) = &*kept {
            return Ok(state.clone());
        }
        let read = State::open(&*self.options.store, self.options.hwid.as_deref());
        let state = read.map_err(|fault| Reason::new("store", fault.to_string()))?;
        Ok(kept.insert(state).clone())
    }

    async fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> Result<T, Reason> {
        let _step = self.steps.lock().await;
        let mut state = self.state()?;
        let done = change(&mut state);
        self.keep(state);
        Ok(done)
    }

    /// Keeps the state, in memory alone if the store fails: the next write has it all.
    fn keep(&self, state: State) {
        if let Err(fault) = self.options.store.write(&state.text()) {
            self.log(&format!("the store failed: {fault}"));
        }
        *self.kept() = Some(state);
    }
}

fn no_answer(what: &str) -> Reason {
    Reason::new("no_answer", format!("The server {what}."))
}
