import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A message for the app.
public struct Delivery: Sendable {
    public let message: Message
    public let texts: Texts
    /// The state of the device with this message in it. An app that writes it to its store in the
    /// transaction of its own effect returns `.kept`: then the message is handled exactly once,
    /// else at least once.
    public let state: String
}

/// The outcome of a message. `usual`: a notification was received, a command executed. `kept`: the
/// app wrote `Delivery.state` itself.
public enum Done: String, Sendable { case usual, opened, failed, kept }

/// How messages come. `poll` holds no socket open beside its polls.
public enum Mode: Sendable { case poll, stream }

/// A change of a device that the app may show its user.
public enum Status: Sendable {
    case open
    /// The device comes back by itself.
    case closed(Reason)
    /// The device lost a place, and works on with the others.
    case ended(Reason)
}

/// Why a device ended.
public enum End: Sendable {
    /// Show the reason to the user, and run again only when the user asks for it.
    case refused(Reason)
    /// Another stream of this device is in use: do not start it again.
    case replaced
    /// The task was cancelled.
    case stopped
    /// The device runs already: the other call goes on.
    case running
}

/// Where pushes go: `gateway` is `fcm`, `apns` or `webpush`; `token` the text of it, or the
/// subscription of Web Push as JSON.
public struct PushAddress: Sendable, Equatable {
    public let gateway: String
    public let token: String

    public init(gateway: String, token: String) { (self.gateway, self.token) = (gateway, token) }

    var json: [String: Any] {
        let object = gateway == "webpush" ? objectIn(Data(token.utf8)) : nil
        return ["gateway": gateway, "token": object ?? token]
    }
}

/// The terms of a device.
public struct Options: Sendable {
    /// Further fields of a registration: `os`, `os_version`, `device_name`, `app_version`, …
    public var facts: [String: String] = [:]
    /// The one that the app has; else one is drawn and kept.
    public var hwid: String?
    /// The language of texts, such as `pt-BR`.
    public var locale = ""
    public var push: PushAddress?
    public var mode = Mode.poll
    /// Seconds between two pings of a stream (15 to 600), or between two polls; 0: the usual.
    public var ping = 0
    /// The largest frame of the stream, bytes (1,024 to 65,536); 0: the server's.
    public var frameMax = 0
    /// Multiplies all times, for tests.
    public var pace = 1.0
    /// Takes a line for a log.
    public var log: (@Sendable (String) -> Void)?

    public init() {}
}

/// A device. It does nothing before `run`: make it when your user agreed.
public actor Device {
    public typealias Handler = @Sendable (Delivery) async throws -> Done

    /// The changes of the device, for one reader.
    public nonisolated let statuses: AsyncStream<Status>
    private let changes: AsyncStream<Status>.Continuation
    let server: Server
    private let store: any Store
    let options: Options
    private let onMessage: Handler
    let configuration: URLSessionConfiguration
    /// Makes one step of reading, handling and writing the state after the other.
    private let steps = Gate()
    private var kept: State?
    private var push: PushAddress?
    /// True: no registration is due but for a token.
    private var isKnown: Bool
    private var renewed: UInt64?
    /// The token of a registration whose answer was lost: the new token was in it.
    private var doubted: String?
    private var isRunning = false
    private(set) var end: End?
    private var pause: Task<Void, Never>?
    /// True: the connection held for long enough to begin with the first pause again.
    var hasHeld = false
    /// True: a late handshake of this device may reach the server.
    var isAstray = false
    /// The wait of the next poll, s.
    var pollSeconds = 60
    var session: URLSession?
    /// The events of the open stream; nil: none is open.
    var signals: AsyncStream<Signal>.Continuation?
    var socket: URLSessionWebSocketTask?
    /// Frames of acknowledgements whose answers are to come, until a limit.
    var pending: [(acks: [Ack], limit: Task<Void, Never>)] = []

    /// Makes a device. A handler must not wait for its device, which waits for it.
    public init(
        server: Server, store: any Store, options: Options = Options(),
        configuration: URLSessionConfiguration = .ephemeral, onMessage: @escaping Handler
    ) {
        (self.server, self.store, self.options) = (server, store, options)
        (self.configuration, self.onMessage, push) = (configuration, onMessage, options.push)
        isKnown = options.push == nil && server.shown["subscription_url"] == nil
        (statuses, changes) = AsyncStream.makeStream(of: Status.self)
    }

    /// Works until the device is refused or replaced, or the task is cancelled. The next call sends
    /// what the server has not confirmed.
    public func run() async -> End {
        if isRunning { return .running }
        (isRunning, end) = (true, nil)
        await withTaskCancellationHandler {
            await connections()
        } onCancel: {
            Task { await self.finish(.stopped) }
        }
        isRunning = false
        return end ?? .stopped
    }

    private func connections() async {
        var wait = 0.5
        while end == nil && !Task.isCancelled {
            hasHeld = false
            do {
                let token = try await register()
                try await options.mode == .poll ? polls(token) : listen(token)
            } catch {
                if end == nil { report(.closed(Reason(error, server.base))) }
            }
            if hasHeld { wait = 0.5 }
            await rest(wait * Double.random(in: 0.5..<1.5))
            wait = min(2 * wait, 60)
        }
    }

    /// Waits for a time, s, or until the device ends.
    private func rest(_ given: Double) async {
        if end != nil { return }
        let nanoseconds = time(given)
        let pause = Task { _ = try? await Task.sleep(nanoseconds: nanoseconds) }
        self.pause = pause
        await pause.value
    }

    func finish(_ end: End) {
        if self.end != nil || !isRunning { return }
        self.end = end
        options.log?("ended: \(end)")
        pause?.cancel()
        close(Reason("stopped", "The device was stopped."))
    }

    func report(_ status: Status) {
        options.log?("\(status)")
        changes.yield(status)
    }

    /// Takes what FCM, APNs or Web Push brought, in the app's background too. `wasShown`: the
    /// system showed the notification, so the app must not.
    public func takePush(_ data: [AnyHashable: Any], wasShown: Bool) async {
        let given = data["id"]
        guard let id = given as? Int ?? Int(given as? String ?? ""), id > 0 else { return }
        let message = Message(data["message"])
        await later {
            if wasShown, data["kind"] as? String == "notification" {
                let shown = Ack(id: id, state: "received")
                try await self.change { $0.seen(id) == nil ? $0.knowing(shown) : $0 }
            } else if let message, message.id == id, !message.isStub {
                try await self.handle(message)
            } else if self.socket == nil, let token = try await self.now().token {
                _ = try await self.fetch(token)
            }
            try await self.sendAcks()
        }
    }

    /// Tells that the user opened a notification.
    public func opened(_ id: Int) async {
        await later {
            try await self.change { $0.owing(Ack(id: id, state: "opened")) }
            try await self.sendAcks()
        }
    }

    /// Tells that the network gave another address; nil: there is none. The device registers it
    /// soon, or when it runs.
    public func setPush(_ push: PushAddress?) async {
        (self.push, isKnown) = (push, false)
        if isRunning { close(Reason("closed", "There is another address for pushes.")) }
    }

    /// Returns the headers by which a subscription's fetch names this device.
    public func headers() async throws -> [String: String] {
        fetchHeaders(hwid: try await now().hwid, facts: options.facts)
    }

    /// Does what the next connection does if this one fails.
    private func later(_ work: () async throws -> Void) async {
        do { try await work() } catch { options.log?("it waits for the next connection: \(error)") }
    }

    /// Registers if it is due, and returns the token. It is due at each start of a device with
    /// pushes, as the gateway may have dropped a dead address, and of one that was discovered, as
    /// that server tells nothing of a dead token.
    private func register() async throws -> String {
        let (state, push) = (try await now(), push)
        if let token = state.token, isKnown { return token }
        // The inbox says first whether the slot was freed: a registration could take another one.
        if let token = state.token, server.shown["subscription_url"] == nil {
            _ = try await fetch(token)
        }
        var body: [String: Any] = options.facts.merging(server.shown) { $1 }
        body["hwid"] = state.hwid
        body["push"] = push?.json
        let answer: Answer
        do {
            answer = try await ask("/register", state.token, body: encoded(body))
        } catch {
            doubted = state.token
            throw error
        }
        if answer.isOk && !answer.token.isEmpty {
            isKnown = push == self.push
            try await change { $0.with(token: answer.token) }
            return answer.token
        }
        let passes = ["Too many requests", "Unknown error"].contains(answer.msg)
        if !passes, try await now().token == state.token { finish(.refused(answer.reason)) }
        throw answer.reason
    }

    /// Heeds what any answer may say: places that ended, and the death of the token. Then its slot
    /// ended, or the device registers again, once: two devices of one HWID would do it for ever.
    func heed(_ answer: Answer, _ token: String) async throws {
        answer.ended.forEach { report(.ended($0)) }
        guard answer.msg == "Device token error", try await now().token == token else { return }
        try await change { $0.with(token: nil) }
        isKnown = false
        if answer.isEnding { return finish(.refused(answer.reason)) }
        if token == doubted { return }
        let moment = uptime()
        if let renewed, moment - renewed < time(3_600) {
            let text = "another device registers this HWID"
            finish(.refused(Reason(text, text)))
        }
        renewed = moment
    }

    private func polls(_ token: String) async throws {
        // The first one tells at once that the line is open, and how long others may wait.
        var wait = 0
        while end == nil {
            let began = uptime()
            // The server repeats a message at once until it is acknowledged.
            try await sendAcks()
            let count = try await fetch(token, wait > 0 ? "?wait=\(wait)" : "", wait: wait)
            if !hasHeld && end == nil { report(.open) }
            // A server that does not wait is not asked without a pause.
            let isEarly = uptime() - began < time(1)
            if hasHeld && count == 0 && (options.ping > 0 || isEarly) {
                await rest(Double(max(options.ping, 1)))
            }
            hasHeld = true
            wait = options.ping > 0 ? 0 : pollSeconds
        }
    }

    /// Takes the messages of the inbox, and returns how many there were.
    func fetch(_ token: String, _ query: String = "", wait: Int = 0) async throws -> Int {
        let answer = try await ask("/inbox" + query, token, wait: wait)
        if !answer.isOk { throw answer.reason }
        return try await take(answer, token, isLast: query.hasPrefix("?id="))
    }

    /// Handles messages of an answer. `isLast`: a stub in it is not fetched, and so in vain.
    func take(_ answer: Answer, _ token: String, isLast: Bool = false) async throws -> Int {
        for message in answer.messages ?? [] {
            let isKnown = try await now().seen(message.id) != nil
            if !message.isStub || isKnown {
                try await handle(message)
            } else if !isLast {
                // It did not fit into the frame: it is acknowledged after the whole of it.
                _ = try await fetch(token, "?id=\(message.id)")
            }
        }
        return answer.messages?.count ?? 0
    }

    /// Sends what is not confirmed, on the stream or by calls. Throws if it cannot.
    func sendAcks() async throws {
        let state = try await now()
        let due = state.acks.filter { ack in !pending.contains { $0.acks.contains(ack) } }
        for from in stride(from: 0, to: due.count, by: 100) {
            guard let token = state.token, end == nil else { return }
            let some = Array(due[from..<min(from + 100, due.count)])
            let body = encoded(["items": some.map(\.json)])
            if sendFrame(some, body) { continue }
            let answer = try await ask("/ack", token, body: body)
            if !answer.isOk { throw answer.reason }
            try await change { $0.without(some) }
        }
    }

    /// Gives a new message to the app. A copy is acknowledged again: the first may be lost.
    private func handle(_ message: Message) async throws {
        try await step {
            if isRunning && end != nil { return }
            let state = try await read()
            if let before = state.seen(message.id) {
                return await write(state.owing(Ack(id: message.id, state: before)))
            }
            let usual = message.type == Message.command ? "executed" : "received"
            let known = state.knowing(Ack(id: message.id, state: usual))
            do {
                if let unknown = message.unknown { throw Reason("unknown", unknown) }
                let texts = message.texts(options.locale)
                let got = Delivery(message: message, texts: texts, state: known.text)
                switch try await onMessage(got) {
                case .kept: kept = known
                case .usual: await write(known)
                case let done: await write(state.knowing(Ack(id: message.id, state: done.rawValue)))
                }
            } catch {
                let detail = (error as? Reason)?.text ?? "\(error)"
                options.log?("message \(message.id) failed: \(detail)")
                await write(state.knowing(Ack(id: message.id, state: "failed", detail: detail)))
            }
        }
    }

    func now() async throws -> State { try await step { try await read() } }

    func change(_ changed: (State) -> State) async throws {
        try await step { await write(changed(try await read())) }
    }

    /// Reads the state, in a step.
    private func read() async throws -> State {
        if let kept { return kept }
        do {
            let state = try await State.open(store, options.hwid)
            kept = state
            return state
        } catch {
            throw Reason("store", "The store failed: \(error).")
        }
    }

    /// Keeps the state, in a step; in memory alone if the store fails: the next write has it all.
    private func write(_ state: State) async {
        kept = state
        do {
            try await store.write(state.text)
        } catch {
            options.log?("the store failed: \(error)")
        }
    }

    private func step<T>(_ work: () async throws -> T) async throws -> T {
        await steps.enter()
        let made: Result<T, any Error>
        do { made = .success(try await work()) } catch { made = .failure(error) }
        await steps.leave()
        return try made.get()
    }
}

/// Lets one step after the other through.
private actor Gate {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        if isTaken {
            await withCheckedContinuation { waiting.append($0) }
        }
        isTaken = true
    }

    func leave() {
        isTaken = !waiting.isEmpty
        if isTaken { waiting.removeFirst().resume() }
    }
}
