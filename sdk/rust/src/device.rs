//! The device: what it does in which order.

use crate::fault::Reason;
use crate::line::{Answer, Closed, Event, Line};
use crate::message::{Message, Texts, COMMAND};
use crate::server::{fetch_headers, Server};
use crate::state::{Ack, State};
use futures_util::FutureExt;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::Client;
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::panic::{catch_unwind, AssertUnwindSafe};
use tokio::sync::{mpsc, watch, Mutex};
use tokio::time::{sleep, Instant};

pub use crate::state::Store;

/// The error of a handler: its text goes to the provider.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A message for the app.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub message: Message,
    pub texts: Texts,
    /// The state of the device with this message in it. An app that writes it to its store in the
    /// transaction of its own effect returns [`Done::Kept`]: then the message is handled exactly
    /// once, else at least once.
    pub state: String,
}

/// The outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Done {
    /// A notification was received, a command executed.
    Usual,
    Opened,
    Failed,
    /// The app wrote [`Delivery::state`] itself.
    Kept,
}

/// A change that the app may show its user.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    Open,
    /// The device comes back by itself.
    Closed(Reason),
    /// The device lost a place, and works on with the others.
    Ended(Reason),
}

/// Why a device ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Show the reason to the user, and run again only when the user asks for it.
    Refused(Reason),
    /// Another stream of this device is in use: do not start it again.
    Replaced,
    /// The device runs already: the other call goes on.
    Running,
}

/// The app of a device. A panic or an error in it ends nothing.
pub trait App: Send + Sync {
    /// Handles a new message, one after the other. An error is acknowledged as failed. It must not
    /// wait for its device, which waits for it.
    fn on_message(&self, got: Delivery) -> impl Future<Output = Result<Done, BoxError>> + Send;

    fn on_status(&self, _status: Status) {}

    /// Takes a line for a log.
    fn log(&self, _line: &str) {}
}

/// How messages come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Mode {
    #[default]
    Stream,
    /// Holds no socket open beside its polls.
    Poll,
}

/// Where pushes go: `gateway` is `fcm`, `apns` or `webpush`; `token` a text, or the subscription
/// of Web Push.
#[derive(Clone, Debug, PartialEq)]
pub struct PushAddress {
    pub gateway: String,
    pub token: Value,
}

/// The terms of a device.
pub struct Options {
    pub server: Server,
    pub store: Box<dyn Store>,
    /// Further fields of a registration: `os`, `os_version`, `device_name`, `app_version`, …
    pub facts: BTreeMap<String, String>,
    /// The one that the app has; else one is drawn and kept.
    pub hwid: Option<String>,
    /// The language of texts, such as `pt-BR`.
    pub locale: String,
    pub push: Option<PushAddress>,
    pub mode: Mode,
    /// Seconds between two pings of a stream (15 to 600), or between two polls; 0: the usual.
    pub ping: u64,
    /// The largest frame of the stream, bytes (1,024 to 65,536); 0: the server's.
    pub frame_max: u32,
    /// Multiplies all times, for tests.
    pub pace: f64,
    /// The app's client, if it has one; it must speak HTTP/1.1.
    pub client: Option<Client>,
}

impl Options {
    pub fn new(server: Server, store: impl Store + 'static) -> Options {
        Options {
            server,
            store: Box::new(store),
            facts: BTreeMap::new(),
            hwid: None,
            locale: String::new(),
            push: None,
            mode: Mode::Stream,
            ping: 0,
            frame_max: 0,
            pace: 1.0,
            client: None,
        }
    }
}

/// Returns the HWID in a store; draws and keeps one if there is none.
pub fn hwid_in(store: &dyn Store) -> io::Result<String> {
    let state = State::read(store.read()?.as_deref(), None);
    store.write(&state.text())?;
    Ok(state.hwid)
}

const TOKEN_ERROR: &str = "Device token error";
const ACKS_EACH: usize = 100;
/// A batch has at most 100 messages, and the server sends no more before they are known.
const QUEUED: usize = 128;

/// A device. Share it in an `Arc`; dropping the future of [`Device::run`] cancels it.
pub struct Device<A> {
    app: A,
    options: Options,
    line: Line,
    /// Makes one step of reading, handling and writing the state after the other.
    kept: Mutex<Option<State>>,
    registering: Mutex<Registering>,
    running: Mutex<()>,
    end: watch::Sender<Option<End>>,
}

/// Makes one registration after the other.
struct Registering {
    push: Option<PushAddress>,
    is_known: bool,
    renewed: Option<Instant>,
    /// The token of a registration whose answer was lost: the new token was in it.
    doubted: Option<String>,
}

impl<A: App> Device<A> {
    /// Makes a device. It does nothing before it runs.
    pub fn new(options: Options, app: A) -> Result<Device<A>, BoxError> {
        let mut headers = HeaderMap::new();
        if !options.locale.is_empty() {
            headers.insert("accept-language", HeaderValue::from_str(&options.locale)?);
        }
        if options.frame_max > 0 {
            headers.insert("x-frame-max", options.frame_max.into());
        }
        let own = || {
            let client = Client::builder().http1_only();
            client.redirect(reqwest::redirect::Policy::none()).build()
        };
        let client = options.client.clone().map_or_else(own, Ok)?;
        let line = Line::new(options.server.base.clone(), client, options.pace, headers);
        let push = options.push.clone();
        let registering = Registering { push, is_known: false, renewed: None, doubted: None };
        Ok(Device {
            app,
            options,
            line,
            kept: Mutex::new(None),
            registering: Mutex::new(registering),
            running: Mutex::new(()),
            end: watch::channel(None).0,
        })
    }

    /// Works until the device is refused or replaced. What the server has not confirmed when the
    /// future is dropped is sent at the next start.
    pub async fn run(&self) -> End {
        let Ok(_running) = self.running.try_lock() else { return End::Running };
        self.end.send_replace(None);
        let mut ended = self.end.subscribe();
        let end = async { ended.wait_for(Option::is_some).await.ok().and_then(|end| end.clone()) };
        tokio::select! {
            biased;
            end = end => end.unwrap_or(End::Running),
            never = self.sessions() => match never {},
        }
    }

    async fn sessions(&self) -> std::convert::Infallible {
        let (first, longest) = (self.line.seconds(0.5), self.line.seconds(60.0));
        let mut wait = first;
        loop {
            if self.session().await {
                wait = first;
            }
            sleep(wait.mul_f64(rand::random_range(0.5..1.5))).await;
            wait = longest.min(2 * wait);
        }
    }

    /// Works with one connection, and returns whether it held for a while.
    async fn session(&self) -> bool {
        let Some(state) = self.now().await else { return false };
        let has_push = {
            let registering = self.registering.lock().await;
            registering.push.is_some() && !registering.is_known
        };
        // The gateway may have dropped a dead address: a device with pushes registers at each start.
        // The inbox says first whether the slot was freed: a registration could take another one.
        let is_due = match &state.token {
            Some(token) => has_push && self.fetch(token, 0).await.is_ok(),
            None => true,
        };
        if is_due && !self.has_ended() {
            self.register().await;
        }
        match self.now().await.and_then(|state| state.token) {
            Some(_) if self.has_ended() => false,
            Some(token) if self.options.mode == Mode::Poll => self.polls(&token).await,
            Some(token) => self.listen(&token).await,
            None => false,
        }
    }

    fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    fn finish(&self, end: End) {
        self.log(&format!("ended: {end:?}"));
        self.end.send_replace(Some(end));
    }

    fn report(&self, status: Status) {
        self.log(&format!("{status:?}"));
        // A panic of the app ends nothing; its hook has shown it.
        let _ = catch_unwind(AssertUnwindSafe(|| self.app.on_status(status)));
    }

    fn log(&self, line: &str) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.app.log(line)));
    }

    /// Takes what FCM, APNs or Web Push brought, in the app's background too. `was_shown`: the
    /// system showed the notification, so the app must not.
    pub async fn take_push(&self, data: &Map<String, Value>, was_shown: bool) {
        let id = match data.get("id") {
            Some(Value::String(text)) => text.parse().unwrap_or(0),
            other => other.and_then(Value::as_i64).unwrap_or(0),
        };
        if id <= 0 {
            return;
        }
        let message = data.get("message").and_then(Message::read).filter(|it| it.id == id);
        if was_shown && data.get("kind").and_then(Value::as_str) == Some("notification") {
            let shown = Ack::new(id, "received");
            self.change(|s| if s.seen(id).is_some() { s } else { s.knowing(shown) }).await;
        } else if let Some(message) = message {
            self.handle(message).await;
        } else if !self.line.is_open() {
            if let Some(token) = self.now().await.and_then(|state| state.token) {
                let _ = self.fetch(&token, 0).await;
            }
        }
        self.send_acks().await;
    }

    /// Tells that the user opened a notification.
    pub async fn opened(&self, id: i64) {
        self.change(|state| state.owing(Ack::new(id, "opened"))).await;
        self.send_acks().await;
    }

    /// Tells that the network gave another address, or none.
    pub async fn set_push(&self, push: Option<PushAddress>) {
        {
            let mut registering = self.registering.lock().await;
            (registering.push, registering.is_known) = (push, false);
        }
        // A device that does not run registers when it does.
        if self.running.try_lock().is_err() && !self.has_ended() {
            self.register().await;
        }
    }

    /// Returns the headers by which a subscription's fetch names this device.
    pub async fn headers(&self) -> BTreeMap<String, String> {
        let hwid = self.now().await.map_or_else(String::new, |state| state.hwid);
        fetch_headers(&hwid, &self.options.facts)
    }

    async fn register(&self) {
        let mut registering = self.registering.lock().await;
        let Some(state) = self.now().await else { return };
        let mut body = Map::from_iter([("hwid".to_string(), json!(state.hwid))]);
        for (name, value) in self.options.facts.iter().chain(&self.options.server.shown) {
            body.insert(name.clone(), json!(value));
        }
        if let Some(push) = &registering.push {
            let address = json!({"gateway": push.gateway, "token": push.token});
            body.insert("push".to_string(), address);
        }
        let token = state.token.as_deref();
        match self.line.ask("/register", token, Some(body.into()), 0).await {
            Err(reason) => {
                registering.doubted = state.token;
                self.report(Status::Closed(reason));
            }
            Ok(Answer { is_ok: true, token: Some(renewed), .. }) => {
                registering.is_known = true;
                self.change(|state| State { token: Some(renewed), ..state }).await;
            }
            Ok(answer) if answer.msg == TOKEN_ERROR && !answer.is_ending && token.is_some() => {
                self.forget(&mut registering, token.unwrap_or("")).await;
            }
            Ok(answer) if ["Too many requests", "Unknown error"].contains(&answer.msg.as_str()) => {
                self.report(Status::Closed(answer.reason));
            }
            Ok(answer) => {
                if answer.msg == TOKEN_ERROR {
                    self.change(|state| State { token: None, ..state }).await;
                }
                self.finish(End::Refused(answer.reason));
            }
        }
    }

    /// Ends the device whose slot was freed: it never registers again by itself.
    async fn slot_ended(&self, token: &str, reason: Reason) {
        if self.now().await.is_some_and(|state| state.token.as_deref() == Some(token)) {
            self.change(|state| State { token: None, ..state }).await;
            self.finish(End::Refused(reason));
        }
    }

    /// Forgets a token that died, after a registration that may have renewed it.
    async fn drop_token(&self, token: &str) {
        let mut registering = self.registering.lock().await;
        self.forget(&mut registering, token).await;
    }

    /// Lets the device register again, once: two devices of one HWID would do it for ever.
    async fn forget(&self, registering: &mut Registering, token: &str) {
        if self.now().await.is_none_or(|state| state.token.as_deref() != Some(token)) {
            return;
        }
        self.change(|state| State { token: None, ..state }).await;
        registering.is_known = false;
        if registering.doubted.as_deref() == Some(token) {
            return;
        }
        let hour = self.line.seconds(3_600.0);
        if registering.renewed.is_some_and(|at| at.elapsed() < hour) {
            let text = "another device registers this HWID";
            self.finish(End::Refused(Reason::new(text, text)));
        }
        registering.renewed = Some(Instant::now());
    }

    async fn listen(&self, token: &str) -> bool {
        let (events, mut queue) = mpsc::channel(QUEUED);
        let handling = async {
            while let Some(event) = queue.recv().await {
                match event {
                    Event::Opened => self.report(Status::Open),
                    Event::Answered(acks) if acks.is_empty() => continue,
                    Event::Answered(acks) => {
                        self.change(|state| state.without(&acks)).await;
                        continue;
                    }
                    Event::Answer(answer) => {
                        if let Err(why) = self.take(token, *answer).await {
                            self.line.cut(why);
                        }
                    }
                }
                self.send_acks().await;
            }
        };
        let (closed, ()) = tokio::join!(self.line.hold(token, self.options.ping, events), handling);
        let Closed { code, reason, has_held } = closed;
        self.report(Status::Closed(reason.clone()));
        match code {
            4002 if self.line.was_own() => self.log("an older attempt of this device was late"),
            4002 => self.finish(End::Replaced),
            4001 => self.drop_token(token).await,
            // The inbox says why, in the language of the user.
            401 | 4004 => {
                if let Err(_) | Ok(0) = self.fetch(token, 0).await {
                    if !reason.word.is_empty() && !self.has_ended() {
                        self.slot_ended(token, reason).await;
                    }
                }
            }
            _ => {}
        }
        has_held
    }

    async fn polls(&self, token: &str) -> bool {
        // The first one tells at once that the line is open, and how long others may wait.
        let mut wait = 0;
        let mut was_well = false;
        loop {
            let began = Instant::now();
            // The server repeats a message at once until it is acknowledged.
            let got = match self.send_acks().await {
                true => self.fetch(token, wait).await,
                false => Err(Reason::new("no_answer", "The acknowledgements were not answered.")),
            };
            match got {
                Err(reason) => {
                    self.report(Status::Closed(reason));
                    return was_well;
                }
                Ok(_) if !was_well => {
                    was_well = true;
                    self.report(Status::Open);
                }
                Ok(0) if self.options.ping > 0 => {
                    sleep(self.line.seconds(self.options.ping as f64)).await;
                }
                // A server that does not wait is not asked without a pause.
                Ok(0) if began.elapsed() < self.line.seconds(1.0) => {
                    sleep(self.line.seconds(1.0)).await;
                }
                Ok(_) => {}
            }
            wait = if self.options.ping > 0 { 0 } else { self.line.poll() };
        }
    }

    /// Takes the messages of the inbox, and returns how many there were.
    async fn fetch(&self, token: &str, wait: u64) -> Result<usize, Reason> {
        let query = if wait > 0 { format!("?wait={wait}") } else { String::new() };
        let answer = self.line.ask(&format!("/inbox{query}"), Some(token), None, wait).await?;
        let count = answer.messages.as_ref().map_or(0, Vec::len);
        self.take(token, answer).await?;
        Ok(count)
    }

    /// Handles an answer of the inbox, or a frame of the stream like it.
    async fn take(&self, token: &str, answer: Answer) -> Result<(), Reason> {
        if !answer.is_ok {
            match answer.msg.as_str() {
                TOKEN_ERROR if answer.is_ending => {
                    self.slot_ended(token, answer.reason.clone()).await;
                }
                TOKEN_ERROR => self.drop_token(token).await,
                _ => {}
            }
            return Err(answer.reason);
        }
        for ended in answer.ended {
            self.report(Status::Ended(ended));
        }
        for message in answer.messages.unwrap_or_default() {
            let is_new = self.now().await.is_some_and(|state| state.seen(message.id).is_none());
            if !message.is_stub || !is_new {
                self.handle(message).await;
                continue;
            }
            // The message did not fit into the frame: it is acknowledged after the whole of it.
            let path = format!("/inbox?id={}", message.id);
            let whole = self.line.ask(&path, Some(token), None, 0).await?;
            for one in whole.messages.unwrap_or_default() {
                if !one.is_stub {
                    self.handle(one).await;
                }
            }
        }
        Ok(())
    }

    /// Sends what is not confirmed, on the stream or by calls. False: some could not be sent.
    async fn send_acks(&self) -> bool {
        let Some(state) = self.now().await else { return false };
        let due: Vec<_> =
            state.acks.into_iter().filter(|ack| !self.line.is_under_way(ack)).collect();
        for some in due.chunks(ACKS_EACH) {
            let Some(token) = &state.token else { return false };
            if self.line.is_open() {
                self.line.acknowledge(some);
                continue;
            }
            let items = json!({"items": some.iter().map(Ack::json).collect::<Vec<_>>()});
            match self.line.ask("/ack", Some(token), Some(items), 0).await {
                Ok(answer) if answer.is_ok => self.change(|state| state.without(some)).await,
                Ok(answer) if answer.msg == TOKEN_ERROR => {
                    let _ = self.take(token, answer).await;
                    return false;
                }
                _ => return false,
            }
        }
        true
    }

    /// Gives a new message to the app. A copy is acknowledged again: the first may be lost.
    async fn handle(&self, message: Message) {
        let mut kept = self.kept.lock().await;
        let Some(state) = self.read(&mut kept) else { return };
        if let Some(before) = state.seen(message.id) {
            let again = Ack::new(message.id, before);
            return self.write(&mut kept, state.owing(again));
        }
        let usual = if message.kind == COMMAND { "executed" } else { "received" };
        let mut ack = Ack::new(message.id, usual);
        let known = state.clone().knowing(ack.clone());
        let done = match message.unknown() {
            Some(unknown) => Err(unknown),
            None => {
                let texts = message.texts(&self.options.locale);
                let got = Delivery { message, texts, state: known.text() };
                match AssertUnwindSafe(async { self.app.on_message(got).await })
                    .catch_unwind()
                    .await
                {
                    Ok(done) => done.map_err(|fault| fault.to_string()),
                    Err(_) => Err("the handler panicked".to_string()),
                }
            }
        };
        match done {
            Ok(Done::Usual) => {}
            Ok(Done::Opened) => ack.state = "opened".to_string(),
            Ok(Done::Failed) => ack.state = "failed".to_string(),
            Ok(Done::Kept) => {
                *kept = Some(known);
                return;
            }
            Err(detail) => {
                self.log(&format!("message {} failed: {detail}", ack.id));
                (ack.state, ack.detail) = ("failed".to_string(), detail);
            }
        }
        self.write(&mut kept, state.knowing(ack));
    }

    /// Returns the state; none: the store fails, and the device waits for it.
    async fn now(&self) -> Option<State> {
        self.read(&mut *self.kept.lock().await)
    }

    async fn change(&self, changed: impl FnOnce(State) -> State) {
        let mut kept = self.kept.lock().await;
        if let Some(state) = self.read(&mut kept) {
            self.write(&mut kept, changed(state));
        }
    }

    fn read(&self, kept: &mut Option<State>) -> Option<State> {
        if kept.is_none() {
            let read = || {
                let text = self.options.store.read()?;
                let state = State::read(text.as_deref(), self.options.hwid.as_deref());
                // A HWID that was drawn is kept before it is used.
                self.options.store.write(&state.text())?;
                Ok::<_, io::Error>(state)
            };
            match read() {
                Ok(state) => *kept = Some(state),
                Err(fault) => self.report(Status::Closed(Reason::new("store", fault.to_string()))),
            }
        }
        kept.clone()
    }

    /// Keeps the state, in memory alone if the store fails: the next write has it all.
    fn write(&self, kept: &mut Option<State>, state: State) {
        if let Err(fault) = self.options.store.write(&state.text()) {
            self.log(&format!("the store failed: {fault}"));
        }
        *kept = Some(state);
    }
}
