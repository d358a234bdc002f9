import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The answer of a call, and a frame of a stream. Its fields are values of JSON.
struct Answer: @unchecked Sendable {
    private let all: [String: Any]

    init?(_ data: Data) {
        guard let all = objectIn(data), all["rc"] is Int, all["msg"] is String else { return nil }
        self.all = all
    }

    var isOk: Bool { all["rc"] as? Int == 1 }
    var msg: String { textIn(all, "msg") }
    var token: String { textIn(all, "device_token") }
    /// The reason of a refusal.
    var reason: Reason { Reason(reading: all) }
    /// True if the server says why the token ended.
    var isEnding: Bool { all["reason"] != nil }
    var messages: [Message]? { (all["data"] as? [Any])?.compactMap { Message($0) } }
    /// The places of the device that ended.
    var ended: [Reason] { (all["ended"] as? [[String: Any]] ?? []).map(Reason.init(reading:)) }
}

/// An event of a stream.
enum Event: Sendable {
    case opened
    case heard(Answer)
    /// The server saved these, or will never take them.
    case answered([Ack])
}

/// How a stream ended.
struct Closed: Sendable {
    /// 0: without a code; 401: the handshake was refused for the token.
    var code = 0
    var reason: Reason
    /// True if it lasted long enough to reset the pauses.
    var hasHeld = false
}

/// The calls of a device over HTTP, and its stream. It does not interpret messages.
actor Line {
    let base: String
    nonisolated let pace: Double
    /// In each request: the language, and the largest frame.
    private let headers: [String: String]
    private let configuration: URLSessionConfiguration
    /// The wait of the next poll, s.
    private(set) var pollSeconds = Line.poll
    private var session: URLSession?
    /// The texts for the open stream.
    private var outbox: AsyncStream<String>.Continuation?
    private var signals: AsyncStream<Signal>.Continuation?
    private var pending: [(acks: [Ack], limit: Task<Void, Never>)] = []
    private var isAstray = false

    private static let poll = 60
    private static let pollMax = 240
    private static let ping = 9
    private static let bytesMax = 4 << 20

    init(
        base: String, pace: Double, headers: [String: String],
        configuration: URLSessionConfiguration
    ) {
        (self.base, self.pace, self.headers) = (base, pace, headers)
        self.configuration = configuration
    }

    nonisolated func seconds(_ given: Double) -> UInt64 { UInt64(given * pace * 1_000_000_000) }

    var isOpen: Bool { outbox != nil }

    /// Ends all calls and the stream at once.
    func close() {
        cut(Reason("stopped", "The device was stopped."))
        session?.invalidateAndCancel()
        session = nil
    }

    /// Ends the stream at once.
    func cut(_ why: Reason) { signals?.yield(.cut(why)) }

    /// Returns once whether a late handshake of this device may have taken over the stream.
    func wasOwn() -> Bool {
        defer { isAstray = false }
        return isAstray
    }

    private func opened() -> URLSession {
        if let session { return session }
        let watcher = Watcher()
        let made = URLSession(configuration: configuration, delegate: watcher, delegateQueue: nil)
        session = made
        return made
    }

    private func request(_ url: String, _ token: String?) -> URLRequest {
        var request = URLRequest(url: URL(string: url) ?? URL(fileURLWithPath: "/"))
        headers.forEach { request.setValue($1, forHTTPHeaderField: $0) }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        // The kit's own limits are shorter, but for a poll.
        request.timeoutInterval = 300
        return request
    }

    /// Makes a call; without a body a GET. The time grows by the wait of a poll, s. Throws a
    /// `Reason`.
    func ask(
        _ path: String, token: String?, body: Data? = nil, wait: Int = 0
    ) async throws -> Answer {
        var request = request(base + path, token)
        if let body {
            request.httpMethod = "POST"
            request.httpBody = body
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let limit = seconds(30) + UInt64(wait) * 1_000_000_000
        let (data, response): (Data, HTTPURLResponse)
        do {
            (data, response) = try await call(opened(), request, limit)
        } catch {
            throw Reason(error, base)
        }
        if path != "/ack" {
            let named = number(response, "x-wait-max")
            pollSeconds = named > 0 ? min(named, Line.pollMax) : Line.poll
        }
        guard let answer = Answer(data) else { throw noServer(response.statusCode) }
        return answer
    }

    /// Says what a page in place of an answer means.
    private func noServer(_ status: Int) -> Reason {
        status == 404
            ? Reason("wrong_path", "\(base) is the path of no Gatepost: it says 404.")
            : Reason("not_json", "\(base) answered \(status) with a page, not JSON.")
    }

    /// Returns whether the answer to an acknowledgement is to come.
    func isUnderWay(_ ack: Ack) -> Bool {
        pending.contains { sent in sent.acks.contains { $0.isSame(ack) } }
    }

    /// Sends acknowledgements on the stream. A missing answer ends it, and they go again.
    func acknowledge(_ acks: [Ack], _ body: Data) {
        let late = Reason("no_answer", "An acknowledgement was not answered.")
        pending.append((acks, cut(after: 30, late)))
        outbox?.yield(String(decoding: body, as: UTF8.self))
    }

    /// Opens a stream and reads it until it ends. `ping`: seconds between two pings; 0: the usual.
    func hold(_ token: String, ping: Int, on: @Sendable (Event) -> Void) async -> Closed {
        let wasAstray = isAstray
        // Until it is answered: a late handshake may reach the server.
        isAstray = true
        let query = ping > 0 ? "?ping=\(ping)" : ""
        let address = "ws" + base.dropFirst(4) + "/stream" + query
        let task = opened().webSocketTask(with: request(address, token))
        task.maximumMessageSize = Line.bytesMax
        let (events, signals) = AsyncStream.makeStream(of: Signal.self)
        (session?.delegate as? Watcher)?.watch(signals)
        self.signals = signals
        task.resume()
        receive(task, signals)
        let late = Reason("timeout", "\(base) did not answer in time.")
        var watching = cut(after: 30, late)
        var began: UInt64?
        var bears = 30.0
        var heard = now()
        #if canImport(FoundationNetworking)
        var pieces = ""
        #endif
        var closed = Closed(reason: Reason("no_answer", "\(base) opened no stream."))
        reading: for await signal in events {
            let response = task.response as? HTTPURLResponse
            if signal.isOpen && began == nil && response?.statusCode ?? 101 == 101 {
                isAstray = wasAstray
                heard = now()
                began = heard
                let named = response.map { number($0, "x-ping-interval") } ?? 0
                bears = named > Line.ping ? Double(2 * named + 10) : 30
                outbox = send(task, signals)
                watching.cancel()
                watching = probe(task, bears)
                on(.opened)
            }
            switch signal {
            case .opened: break
            case .pong: heard = now()
            case .probed:
                guard now() - heard >= seconds(bears) else { continue }
                #if canImport(FoundationNetworking)
                // This library shows no pongs: an answer of the inbox proves the line.
                if (try? await ask("/inbox", token: token)) != nil {
                    heard = now()
                    continue
                }
                #endif
                closed.reason = Reason("silence", "silence")
                break reading
            case .cut(let why):
                closed.reason = why
                break reading
            case .frame(let text):
                heard = now()
                #if canImport(FoundationNetworking)
                // This library breaks a frame at 4 KiB, and hands over the pieces.
                pieces = Answer(Data(text.utf8)) == nil ? pieces + text : ""
                let whole = pieces.isEmpty ? text : pieces
                if Answer(Data(whole.utf8)) == nil && whole.utf8.count < Line.bytesMax { continue }
                pieces = ""
                #else
                let whole = text
                #endif
                guard let answer = Answer(Data(whole.utf8)) else {
                    closed.reason = Reason("not_json", "A frame was no answer.")
                    break reading
                }
                if answer.messages != nil || answer.isEnding {
                    on(.heard(answer))
                } else if !pending.isEmpty {
                    let sent = pending.removeFirst()
                    sent.limit.cancel()
                    on(.answered(sent.acks))
                }
            case .failed(let fault):
                closed = ended(task, began != nil, fault)
                // The frame that did not fit is not sent again.
                if closed.code == 1007, let sent = pending.first { on(.answered(sent.acks)) }
                let isNone = ["refused_port", "name", "tls"].contains(closed.reason.word)
                if began == nil && (closed.code > 0 || isNone) { isAstray = wasAstray }
                break reading
            }
        }
        watching.cancel()
        task.cancel()
        pending.forEach { $0.limit.cancel() }
        pending = []
        outbox?.finish()
        (outbox, self.signals) = (nil, nil)
        if let began, now() - began >= seconds(10) {
            closed.hasHeld = true
            isAstray = false
        }
        return closed
    }

    private func ended(
        _ task: URLSessionWebSocketTask, _ wasOpen: Bool, _ fault: any Error
    ) -> Closed {
        let response = task.response as? HTTPURLResponse
        if !wasOpen, let response, response.statusCode != 101 {
            let status = response.statusCode
            let word = response.value(forHTTPHeaderField: "x-ended") ?? ""
            var reason = noServer(status)
            if status == 401 { reason = Reason(word, "The token of the device ended.") }
            if status == 503 { reason = Reason("no_answer", "\(base) takes no stream now.") }
            return Closed(code: status, reason: reason)
        }
        let said = task.closeReason.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let code = closeCode(max(0, task.closeCode.rawValue), said)
        if code == 0 { return Closed(reason: Reason(fault, base)) }
        let text = "The server closed the stream: \(code) \(said)."
        return Closed(code: code, reason: Reason(code == 4004 ? said : "closed", text))
    }

    private func cut(after given: Double, _ why: Reason) -> Task<Void, Never> {
        Task { [signals, nanoseconds = seconds(given)] in
            try? await Task.sleep(nanoseconds: nanoseconds)
            if !Task.isCancelled { signals?.yield(.cut(why)) }
        }
    }

    /// Sends pings: this library does not show those of the server.
    private func probe(_ task: URLSessionWebSocketTask, _ bears: Double) -> Task<Void, Never> {
        Task { [signals, nanoseconds = seconds(bears / 2)] in
            while !Task.isCancelled {
                task.sendPing { fault in if fault == nil { signals?.yield(.pong) } }
                try? await Task.sleep(nanoseconds: nanoseconds)
                signals?.yield(.probed)
            }
        }
    }
}

/// An event of a stream's task.
enum Signal: Sendable {
    case opened, pong, probed
    case frame(String)
    case cut(Reason)
    case failed(any Error)

    var isOpen: Bool {
        switch self {
        case .opened, .frame: return true
        default: return false
        }
    }
}

private func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

private func number(_ response: HTTPURLResponse, _ name: String) -> Int {
    Int(response.value(forHTTPHeaderField: name) ?? "") ?? 0
}

private func closeCode(_ shown: Int, _ reason: String) -> Int {
    #if canImport(FoundationNetworking)
    // This library shows 1003, which the server never says, for the codes of applications.
    if shown != 1003 { return shown }
    if reason.contains("another stream") { return 4002 }
    if reason.hasPrefix("slot_") || reason.hasPrefix("link_") { return 4004 }
    return reason.hasPrefix("the token") ? 4001 : shown
    #else
    return shown
    #endif
}

/// Sends texts one after the other. The caller does not wait for a task that takes nothing.
private func send(
    _ task: URLSessionWebSocketTask, _ signals: AsyncStream<Signal>.Continuation
) -> AsyncStream<String>.Continuation {
    let (texts, outbox) = AsyncStream.makeStream(of: String.self)
    Task {
        do {
            for await text in texts { try await task.send(.string(text)) }
        } catch {
            signals.yield(.cut(Reason("no_answer", "The stream takes nothing.")))
        }
    }
    return outbox
}

private func receive(_ task: URLSessionWebSocketTask, _ signals: AsyncStream<Signal>.Continuation) {
    Task {
        do {
            while true {
                if case .string(let text) = try await task.receive() { signals.yield(.frame(text)) }
            }
        } catch {
            // The code of the close frame follows the failure.
            try? await Task.sleep(nanoseconds: 50_000_000)
            signals.yield(.failed(error))
        }
    }
}

/// Makes a call that is given up after a time, ns.
private func call(
    _ session: URLSession, _ request: URLRequest, _ limit: UInt64
) async throws -> (Data, HTTPURLResponse) {
    try await withCheckedThrowingContinuation { continuation in
        let once = Once(continuation)
        let task = session.dataTask(with: request) { data, response, fault in
            if let response = response as? HTTPURLResponse, fault == nil {
                once.end(.success((data ?? Data(), response)))
            } else {
                once.end(.failure(fault ?? URLError(.badServerResponse)))
            }
        }
        task.resume()
        let deadline = DispatchTime.now() + .nanoseconds(Int(limit))
        DispatchQueue.global().asyncAfter(deadline: deadline) {
            once.end(.failure(URLError(.timedOut)))
            task.cancel()
        }
    }
}

/// Resumes a call once: by its answer or by its limit.
private final class Once: @unchecked Sendable {
    private let lock = NSLock()
    private var continuation: CheckedContinuation<(Data, HTTPURLResponse), any Error>?

    init(_ continuation: CheckedContinuation<(Data, HTTPURLResponse), any Error>) {
        self.continuation = continuation
    }

    func end(_ result: Result<(Data, HTTPURLResponse), any Error>) {
        lock.lock()
        let waiting = continuation
        continuation = nil
        lock.unlock()
        waiting?.resume(with: result)
    }
}

/// Follows no redirect, and reports when a stream is open.
private final class Watcher: NSObject, URLSessionWebSocketDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var signals: AsyncStream<Signal>.Continuation?

    func watch(_ signals: AsyncStream<Signal>.Continuation) {
        lock.lock()
        self.signals = signals
        lock.unlock()
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) {
        lock.lock()
        signals?.yield(.opened)
        lock.unlock()
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        // The task keeps both, and its reader fails.
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
