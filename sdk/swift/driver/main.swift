// The driver of the kit, for `gatepost device check --against` and tests: orders come as lines of
// JSON on standard input, and results go out in the same form.
import Foundation
import GatepostDevice

typealias Object = [String: Any]

func object(_ text: String) -> Object {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? Object ?? [:]
}

func data(_ object: Object) -> Data {
    let options = JSONSerialization.WritingOptions.withoutEscapingSlashes
    return (try? JSONSerialization.data(withJSONObject: object, options: options)) ?? Data()
}

let output = NSLock()

func say(_ said: String, _ line: Object = [:]) {
    output.lock()
    FileHandle.standardOutput.write(data(line.merging(["said": said]) { $1 }) + Data("\n".utf8))
    output.unlock()
}

func sayState(_ state: String, _ why: Reason?) {
    let text = why?.text ?? ""
    let detail = [why?.msg, text, why?.word].compactMap { $0 }.first { !$0.isEmpty } ?? ""
    var line: Object = ["state": state, "detail": detail, "text": text]
    line["reason"] = why?.word
    line["limit"] = why?.limit
    line["free_url"] = why?.freeURL
    say("state", line)
}

/// The file of the store: the state of the kit, and the app's effects.
actor EffectsStore: Store {
    private let url: URL
    private var state: String?
    private(set) var effects: [Int] = []

    init(folder: String) {
        url = URL(fileURLWithPath: folder).appendingPathComponent("device.json")
        guard let text = try? String(contentsOf: url, encoding: .utf8) else { return }
        let kept = object(text)
        state = kept["state"] as? String
        effects = kept["effects"] as? [Int] ?? []
    }

    func read() -> String? { state }

    func write(_ text: String) throws {
        state = text
        try save()
    }

    func handle(_ got: Delivery, inTransaction: Bool) throws -> Done {
        effects.append(got.message.id)
        if inTransaction { state = got.state }
        try save()
        return inTransaction ? .kept : .usual
    }

    private func save() throws {
        let kept: Object = ["state": state ?? NSNull(), "effects": effects]
        try data(kept).write(to: url, options: .atomic)
    }
}

func address(_ from: Any?) -> PushAddress? {
    guard let from = from as? Object, let gateway = from["gateway"] as? String else { return nil }
    let token = from["token"] as? String
    let whole = (from["token"] as? Object).map { String(decoding: data($0), as: UTF8.self) }
    return (token ?? whole).map { PushAddress(gateway: gateway, token: $0) }
}

func server(_ order: Object) throws -> Server? {
    func word(_ name: String) -> String { order[name] as? String ?? "" }
    guard let fetched = order["subscription"] as? Object else {
        return try Server(
            url: word("url"), installCode: word("link"), domainHash: word("domain_hash"))
    }
    let headers = fetched["headers"] as? Object ?? [:]
    return Server(discoveredAt: fetched["url"] as? String ?? "") { headers[$0] as? String }
}

func start(_ order: Object, _ server: Server, _ store: EffectsStore) -> Device {
    var options = Options()
    options.facts = [
        "os": order["os"] as? String ?? "", "os_version": "15", "device_name": "Driver",
        "app_version": "1.0",
    ]
    options.hwid = order["hwid"] as? String
    options.locale = order["locale"] as? String ?? ""
    options.push = address(order["push"])
    options.mode = order["mode"] as? String == "poll" ? .poll : .stream
    options.ping = order["ping"] as? Int ?? 0
    options.frameMax = order["frame_max"] as? Int ?? 0
    options.pace = order["pace"] as? Double ?? 1
    if ProcessInfo.processInfo.environment["DRIVER_LOG"] != nil {
        options.log = { FileHandle.standardError.write(Data(($0 + "\n").utf8)) }
    }
    let inTransaction = order["transaction"] as? Bool == true
    let device = Device(server: server, store: store, options: options) { got in
        let message = got.message
        say("message", [
            "id": message.id, "type": message.type, "title": got.texts.title,
            "text": got.texts.plain, "action": message.action,
        ])
        return try await store.handle(got, inTransaction: inTransaction)
    }
    Task {
        for await status in device.statuses {
            switch status {
            case .open: sayState("open", nil)
            case .closed(let reason): sayState("closed", reason)
            case .ended(let reason): sayState("ended", reason)
            }
        }
    }
    return device
}

func run(_ device: Device) async {
    switch await device.run() {
    case .refused(let reason): sayState("refused", reason)
    case .replaced: sayState("replaced", nil)
    case .stopped, .running: break
    }
}

func obey(_ order: Object, _ device: Device, _ store: EffectsStore) async {
    switch order["do"] as? String {
    case "push":
        let shown = order["shown"] as? Bool == true
        await device.takePush(order["data"] as? Object ?? [:], wasShown: shown)
    case "push_token": await device.setPush(address(order))
    case "opened": await device.opened(order["id"] as? Int ?? 0)
    case "headers": say("headers", ["headers": (try? await device.headers()) ?? [:]])
    case "effects": say("effects", ["ids": await store.effects])
    default: break
    }
}

var running: Task<Void, Never>?
var begun: (device: Device, store: EffectsStore)?
while let text = readLine() {
    let order = object(text)
    if order["do"] as? String == "start" {
        do {
            guard let server = try server(order) else {
                say("nothing")
                continue
            }
            let store = EffectsStore(folder: order["folder"] as? String ?? "")
            let device = start(order, server, store)
            begun = (device, store)
            running = Task { await run(device) }
            say("started")
        } catch {
            sayState("refused", error as? Reason)
        }
    } else if order["do"] as? String == "stop" {
        running?.cancel()
        say("stopped")
    } else if let (device, store) = begun {
        Task { await obey(object(text), device, store) }
    }
}
