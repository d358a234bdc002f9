//! The driver of the kit, for `gatepost device check --against` and tests: orders come as lines of
//! JSON on standard input, and results go out in the same form.

use gatepost_device::{App, BoxError, Delivery, Device, Done, End, FileStore, Status};
use gatepost_device::{Options, Reason, Server, Store};
use serde_json::{json, Value};
use std::io::{Error, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::io::{stdin, AsyncBufReadExt, BufReader};

fn say(line: Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn say_state(state: &str, why: &Reason) {
    let detail = [&why.msg, &why.text, &why.word].into_iter().find(|text| !text.is_empty());
    say(
        json!({"said": "state", "state": state, "detail": detail.map_or("", String::as_str), "reason": why.word,
        "text": why.text, "limit": why.limit, "free_url": why.free_url}),
    );
}

/// The file of the store: the state of the kit, and the app's effects.
struct File {
    path: FileStore,
    kept: Mutex<Value>,
}

impl File {
    fn open(folder: &str) -> Result<File, BoxError> {
        let path = FileStore(Path::new(folder).join("device.json"));
        let fresh = json!({"state": null, "effects": []});
        let kept = path.read()?.map_or(Ok(fresh), |text| serde_json::from_str(&text))?;
        Ok(File { path, kept: Mutex::new(kept) })
    }

    fn change(&self, changed: impl FnOnce(&mut Value)) -> Result<(), Error> {
        let mut kept = self.kept.lock().map_err(|_| Error::other("poisoned"))?;
        changed(&mut kept);
        self.path.write(&kept.to_string())
    }
}

#[derive(Clone)]
struct Driver {
    file: Arc<File>,
    transaction: bool,
}

impl Store for Driver {
    fn read(&self) -> Result<Option<String>, Error> {
        let kept = self.file.kept.lock().map_err(|_| Error::other("poisoned"))?;
        Ok(kept["state"].as_str().map(str::to_string))
    }

    fn write(&self, text: &str) -> Result<(), Error> {
        self.file.change(|kept| kept["state"] = json!(text))
    }
}

impl App for Driver {
    async fn on_message(&self, got: Delivery) -> Result<Done, BoxError> {
        let (message, texts) = (&got.message, &got.texts);
        let (title, action) = (&texts.title, message.action());
        say(json!({"said": "message", "id": message.id, "type": message.kind, "title": title,
            "text": texts.plain, "action": action}));
        self.file.change(|kept| {
            if let Some(effects) = kept["effects"].as_array_mut() {
                effects.push(json!(message.id));
            }
            if self.transaction {
                kept["state"] = json!(got.state);
            }
        })?;
        Ok(if self.transaction { Done::Kept } else { Done::Usual })
    }

    fn on_status(&self, status: Status) {
        match status {
            Status::Open => say_state("open", &Reason::default()),
            Status::Closed(reason) => say_state("closed", &reason),
            Status::Ended(reason) => say_state("ended", &reason),
        }
    }

    fn log(&self, line: &str) {
        if std::env::var_os("DRIVER_LOG").is_some() {
            eprintln!("{line}");
        }
    }
}

/// Returns the server of an order; none: the answer to a subscription's fetch names none.
fn server_of(order: &Value) -> Result<Option<Server>, Reason> {
    let word = |name: &str| order[name].as_str().unwrap_or("");
    let fetched = &order["subscription"];
    match fetched["url"].as_str() {
        Some(url) => Ok(Server::discovered(url, |name| fetched["headers"][name].as_str())),
        None => Ok(Some(Server::of_link(word("url"), word("link"), word("domain_hash"))?)),
    }
}

fn start(order: &Value, server: Server) -> Result<(Driver, Device<Driver>), BoxError> {
    let word = |name: &str| order[name].as_str().unwrap_or("").to_string();
    let file = Arc::new(File::open(&word("folder"))?);
    let driver = Driver { file, transaction: order["transaction"] == true };
    let mut options = Options::default();
    for (name, value) in [
        ("os", word("os").as_str()),
        ("os_version", "15"),
        ("device_name", "Driver"),
        ("app_version", "1.0"),
    ] {
        options.facts.insert(name.to_string(), value.to_string());
    }
    options.hwid = order["hwid"].as_str().map(str::to_string);
    options.locale = word("locale");
    options.push = order["push"].is_object().then(|| order["push"].clone());
    options.polls = order["mode"] == "poll";
    options.ping = order["ping"].as_u64().unwrap_or(0);
    options.frame_max = order["frame_max"].as_u64().map_or(0, |bytes| bytes as u32);
    options.pace = order["pace"].as_f64().unwrap_or(1.0);
    Ok((driver.clone(), Device::new(server, driver.clone(), driver, options)?))
}

async fn run(device: Arc<Device<Driver>>) {
    match device.run().await {
        End::Refused(reason) => say_state("refused", &reason),
        End::Replaced => say_state("replaced", &Reason::default()),
        End::Running => {}
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let mut lines = BufReader::new(stdin()).lines();
    let first = lines.next_line().await?.ok_or("no order")?;
    let order: Value = serde_json::from_str(&first)?;
    let server = match server_of(&order) {
        Ok(Some(server)) => server,
        Ok(None) => {
            say(json!({"said": "nothing"}));
            return Ok(());
        }
        Err(reason) => {
            say_state("refused", &reason);
            return Ok(());
        }
    };
    let (driver, device) = start(&order, server)?;
    let device = Arc::new(device);
    let running = tokio::spawn(run(device.clone()));
    say(json!({"said": "started"}));
    while let Some(line) = lines.next_line().await? {
        let order: Value = serde_json::from_str(&line)?;
        let phone = device.clone();
        match order["do"].as_str().unwrap_or("") {
            "push" => {
                tokio::spawn(async move {
                    let shown = order["shown"] == true;
                    phone
                        .take_push(order["data"].as_object().unwrap_or(&Default::default()), shown)
                        .await;
                });
            }
            "push_token" => {
                let address = json!({"gateway": order["gateway"], "token": order["token"]});
                tokio::spawn(async move { phone.set_push(Some(address)).await });
            }
            "opened" => {
                tokio::spawn(async move { phone.opened(order["id"].as_i64().unwrap_or(0)).await });
            }
            "headers" => say(json!({"said": "headers", "headers": device.headers().await})),
            "effects" => {
                let ids = driver.file.kept.lock().map_err(|_| "poisoned")?["effects"].clone();
                say(json!({"said": "effects", "ids": ids}));
            }
            "stop" => {
                running.abort();
                say(json!({"said": "stopped"}));
            }
            _ => {}
        }
    }
    Ok(())
}
