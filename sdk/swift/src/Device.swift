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

private let tokenError = "Device token error"
private let acksEach = 100

/// A device. It does nothing before `run`: make it when your user agreed.
public actor Device {
    public typealias Handler = @Sendable (Delivery) async throws -> Done

    /// The changes of the device, for one reader.
    public nonisolated let statuses: AsyncStream<Status>
    private let changes: AsyncStream<Status>.Continuation
    private let server: Server
    private let store: any Store
    private let options: Options
    private let onMessage: Handler
    private let line: Line
    /// Makes one step of reading, handling and writing the state after the other.
    private let steps = Gate()
    private let registering = Gate()
    private var kept: State?
    private var push: PushAddress?
    private var isKnown = false
    private var renewed: UInt64?
    /// The token of a registration whose answer was lost: the new token was in it.
    private var doubted: String?
    private var isRunning = false
    private var end: End?
    private var pause: Task<Void, Never>?

    /// Makes a device. A handler must not wait for its device, which waits for it.
    public init(
        server: Server, store: any Store, options: Options = Options(),
        configuration: URLSessionConfiguration = .ephemeral, onMessage: @escaping Handler
    ) {
        var headers: [String: String] = [:]
        if !options.locale.isEmpty { headers["Accept-Language"] = options.locale }
        if options.frameMax > 0 { headers["x-frame-max"] = String(options.frameMax) }
        let pace = options.pace
        line = Line(base: server.base, pace: pace, headers: headers, configuration: configuration)
        (self.server, self.store, self.options) = (server, store, options)
        (self.onMessage, push) = (onMessage, options.push)
        (statuses, changes) = AsyncStream.makeStream(of: Status.self)
    }

    /// Works until the device is refused or replaced, or the task is cancelled. The next call sends
    /// what the server has not confirmed.
    public func run() async -> End {
        if isRunning { return .running }
        (isRunning, end) = (true, nil)
        await withTaskCancellationHandler {
            await sessions()
        } onCancel: {
            Task { await self.finish(.stopped) }
        }
        isRunning = false
        return end ?? .stopped
    }

    private func sessions() async {
        var wait = 0.5
        while end == nil && !Task.isCancelled {
            do {
                if try await session() { wait = 0.5 }
            } catch {
                if end == nil { report(.closed(Reason(error, server.base))) }
            }
            await rest(wait * Double.random(in: 0.5..<1.5))
            wait = min(2 * wait, 60)
        }
    }

    /// Waits for a time, s, or until the device ends.
    private func rest(_ given: Double) async {
        if end != nil { return }
        let nanoseconds = line.seconds(given)
        let pause = Task { _ = try? await Task.sleep(nanoseconds: nanoseconds) }
        self.pause = pause
        await pause.value
    }

    /// Works with one connection, and returns whether it held for a while.
    private func session() async throws -> Bool {
        // The gateway may have dropped a dead address: with pushes it registers at each start. The
        // inbox says first whether the slot was freed: a registration could take another one.
        if let token = try await now().token {
            if push != nil && !isKnown {
                _ = try await fetch(token)
                if end == nil { try await register() }
            }
        } else {
            try await register()
        }
        guard let token = try await now().token, end == nil else { return false }
        return options.mode == .poll ? try await polls(token) : try await listen(token)
    }

    private func finish(_ end: End) async {
        if self.end != nil || !isRunning { return }
        self.end = end
        options.log?("ended: \(end)")
        pause?.cancel()
        await line.close()
    }

    private func report(_ status: Status) {
        options.log?("\(status)")
        changes.yield(status)
    }

    /// Takes what FCM, APNs or Web Push brought, in the app's background too. `wasShown`: the
    /// system showed the notification, so the app must not.
    public func takePush(_ data: [AnyHashable: Any], wasShown: Bool) async {
        let given = data["id"]
        guard let id = given as? Int ?? Int(given as? String ?? ""), id > 0 else { return }
        let message = Message(data["message"])
        do {
            if wasShown, data["kind"] as? String == "notification" {
                let shown = Ack(id: id, state: "received")
                try await change { $0.seen(id) == nil ? $0.knowing(shown) : $0 }
            } else if let message, message.id == id, !message.isStub {
                try await handle(message)
            } else if !(await line.isOpen), let token = try await now().token {
                _ = try await fetch(token)
            }
            try await sendAcks()
        } catch {
            options.log?("a push waits: \(error)")
        }
    }

    /// Tells that the user opened a notification.
    public func opened(_ id: Int) async {
        do {
            try await change { $0.owing(Ack(id: id, state: "opened")) }
            try await sendAcks()
        } catch {
            options.log?("an acknowledgement waits: \(error)")
        }
    }

    /// Tells that the network gave another address; nil: there is none.
    public func setPush(_ push: PushAddress?) async {
        (self.push, isKnown) = (push, false)
        // A device that does not run registers when it does.
        if !isRunning || end != nil { return }
        do { try await register() } catch { report(.closed(Reason(error, server.base))) }
    }

    /// Returns the headers by which a subscription's fetch names this device.
    public func headers() async throws -> [String: String] {
        fetchHeaders(hwid: try await now().hwid, facts: options.facts)
    }

    private func register() async throws {
        try await inTurn(registering) {
            let state = try await now()
            let push = self.push
            var body: [String: Any] = options.facts.merging(server.shown) { $1 }
            body["hwid"] = state.hwid
            body["push"] = push?.json
            let answer: Answer
            do {
                answer = try await line.ask("/register", token: state.token, body: encoded(body))
            } catch {
                doubted = state.token
                throw error
            }
            if answer.isOk && !answer.token.isEmpty {
                isKnown = push == self.push
                try await change { $0.with(token: answer.token) }
            } else if answer.msg == tokenError, !answer.isEnding, let token = state.token {
                try await forget(token)
            } else if ["Too many requests", "Unknown error"].contains(answer.msg) {
                throw answer.reason
            } else {
                if answer.msg == tokenError { try await change { $0.with(token: nil) } }
                await finish(.refused(answer.reason))
            }
        }
    }

    /// Ends the device whose slot was freed: it never registers again by itself.
    private func slotEnded(_ token: String, _ reason: Reason) async throws {
        if try await now().token != token { return }
        try await change { $0.with(token: nil) }
        await finish(.refused(reason))
    }

    /// Forgets a token that died, after a registration that may have renewed it.
    private func dropToken(_ token: String) async throws {
        try await inTurn(registering) { try await forget(token) }
    }

    /// Lets the device register again, once: two devices of one HWID would do it for ever.
    private func forget(_ token: String) async throws {
        if try await now().token != token { return }
        try await change { $0.with(token: nil) }
        isKnown = false
        if token == doubted { return }
        let moment = DispatchTime.now().uptimeNanoseconds
        if let renewed, moment - renewed < line.seconds(3_600) {
            let text = "another device registers this HWID"
            await finish(.refused(Reason(text, text)))
        }
        renewed = moment
    }

    private func listen(_ token: String) async throws -> Bool {
        let (events, queue) = AsyncStream.makeStream(of: Event.self)
        let handling = Task {
            for await event in events { await take(token, event) }
        }
        let closed = await line.hold(token, ping: options.ping) { queue.yield($0) }
        queue.finish()
        await handling.value
        if end != nil { return false }
        report(.closed(closed.reason))
        switch closed.code {
        case 4001: try await dropToken(token)
        case 4002:
            if await line.wasOwn() {
                options.log?("an older attempt of this device was late")
            } else {
                await finish(.replaced)
            }
        case 401, 4004: try await hearEnding(token, closed.reason)
        default: break
        }
        return closed.hasHeld
    }

    private func take(_ token: String, _ event: Event) async {
        do {
            switch event {
            case .opened: report(.open)
            case .heard(let answer): try await take(token, answer)
            case .answered(let acks): return try await change { $0.without(acks) }
            }
            try await sendAcks()
        } catch {
            await line.cut(Reason(error, server.base))
        }
    }

    /// Asks the inbox why the token ended: it answers in the language of the user.
    private func hearEnding(_ token: String, _ reason: Reason) async throws {
        do {
            _ = try await fetch(token)
        } catch {
            options.log?("the inbox does not say why: \(error)")
        }
        if !reason.word.isEmpty && end == nil { try await slotEnded(token, reason) }
    }

    private func polls(_ token: String) async throws -> Bool {
        // The first one tells at once that the line is open, and how long others may wait.
        var (wait, wasWell) = (0, false)
        while end == nil {
            let began = DispatchTime.now().uptimeNanoseconds
            do {
                // The server repeats a message at once until it is acknowledged.
                try await sendAcks()
                let count = try await fetch(token, wait: wait)
                if end != nil { return false }
                if !wasWell { report(.open) }
                // A server that does not wait is not asked without a pause.
                let isEarly = DispatchTime.now().uptimeNanoseconds - began < line.seconds(1)
                let pause = options.ping > 0 ? Double(options.ping) : isEarly ? 1 : 0
                if wasWell && count == 0 && pause > 0 { await rest(pause) }
                wasWell = true
                wait = options.ping > 0 ? 0 : await line.pollSeconds
            } catch {
                if end == nil { report(.closed(Reason(error, server.base))) }
                return wasWell
            }
        }
        return false
    }

    /// Takes the messages of the inbox, and returns how many there were.
    private func fetch(_ token: String, wait: Int = 0) async throws -> Int {
        let query = wait > 0 ? "?wait=\(wait)" : ""
        let answer = try await line.ask("/inbox" + query, token: token, wait: wait)
        try await take(token, answer)
        return answer.messages?.count ?? 0
    }

    /// Handles an answer of the inbox, or a frame of the stream like it.
    private func take(_ token: String, _ answer: Answer) async throws {
        if !answer.isOk {
            if answer.msg == tokenError && answer.isEnding {
                try await slotEnded(token, answer.reason)
            } else if answer.msg == tokenError {
                try await dropToken(token)
            }
            throw answer.reason
        }
        answer.ended.forEach { report(.ended($0)) }
        for message in answer.messages ?? [] {
            let isKnown = try await now().seen(message.id) != nil
            if !message.isStub || isKnown {
                try await handle(message)
                continue
            }
            // The message did not fit into the frame: it is acknowledged after the whole of it.
            let whole = try await line.ask("/inbox?id=\(message.id)", token: token)
            if !whole.isOk { throw whole.reason }
            for one in whole.messages ?? [] where !one.isStub { try await handle(one) }
        }
    }

    /// Sends what is not confirmed, on the stream or by calls. Throws if it cannot.
    private func sendAcks() async throws {
        let state = try await now()
        var due: [Ack] = []
        for ack in state.acks where !(await line.isUnderWay(ack)) { due.append(ack) }
        for from in stride(from: 0, to: due.count, by: acksEach) {
            guard let token = state.token, end == nil else { return }
            let some = Array(due[from..<min(from + acksEach, due.count)])
            let body = encoded(["items": some.map(\.json)])
            if await line.isOpen {
                await line.acknowledge(some, body)
                continue
            }
            let answer = try await line.ask("/ack", token: token, body: body)
            if !answer.isOk { try await take(token, answer) }
            try await change { $0.without(some) }
        }
    }

    /// Gives a new message to the app. A copy is acknowledged again: the first may be lost.
    private func handle(_ message: Message) async throws {
        try await inTurn(steps) {
            if isRunning && end != nil { return }
            let state = try await read()
            if let before = state.seen(message.id) {
                return await write(state.owing(Ack(id: message.id, state: before)))
            }
            let usual = message.type == Message.command ? "executed" : "received"
            var ack = Ack(id: message.id, state: usual)
            let known = state.knowing(ack)
            let texts = message.texts(options.locale)
            let got = Delivery(message: message, texts: texts, state: known.text)
            do {
                if let unknown = message.unknown { throw Reason("unknown", unknown) }
                let done = try await onMessage(got)
                if done == .kept {
                    kept = known
                    return
                }
                if done != .usual { ack = Ack(id: message.id, state: done.rawValue) }
            } catch {
                let detail = (error as? Reason)?.text ?? "\(error)"
                options.log?("message \(message.id) failed: \(detail)")
                ack = Ack(id: message.id, state: "failed", detail: detail)
            }
            await write(state.knowing(ack))
        }
    }

    private func now() async throws -> State { try await inTurn(steps) { try await read() } }

    private func change(_ changed: (State) -> State) async throws {
        try await inTurn(steps) { await write(changed(try await read())) }
    }

    /// Reads the state, in a step. A HWID that was drawn is kept before it is used.
    private func read() async throws -> State {
        if let kept { return kept }
        do {
            let state = State(try await store.read(), hwid: options.hwid)
            try await store.write(state.text)
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

    private func inTurn<T>(_ gate: Gate, _ work: () async throws -> T) async throws -> T {
        await gate.enter()
        do {
            let made = try await work()
            await gate.leave()
            return made
        } catch {
            await gate.leave()
            throw error
        }
    }
}

private func encoded(_ object: [String: Any]) -> Data {
    (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
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
