// The calls of a device over HTTP, and its stream.
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
enum Signal: Sendable {
    case opened, pong, probed
    case frame(String)
    case failed(any Error)
}

func uptime() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

extension Device {
    nonisolated func time(_ given: Double) -> UInt64 {
        UInt64(given * options.pace * 1_000_000_000)
    }

    /// Ends all calls and the stream at once.
    func close(_ why: Reason) {
        signals?.yield(.failed(why))
        session?.invalidateAndCancel()
        session = nil
    }

    private func opened() -> URLSession {
        if let session { return session }
        let made = URLSession(
            configuration: configuration, delegate: Watcher(), delegateQueue: nil)
        session = made
        return made
    }

    private func request(_ address: String, _ token: String?) -> URLRequest {
        var request = URLRequest(url: URL(string: address) ?? URL(fileURLWithPath: "/"))
        let frameMax = options.frameMax > 0 ? String(options.frameMax) : ""
        let bearer = token.map { "Bearer \($0)" } ?? ""
        for (name, value) in [
            ("Accept-Language", options.locale), ("x-frame-max", frameMax),
            ("Authorization", bearer),
        ] where !value.isEmpty {
            request.setValue(value, forHTTPHeaderField: name)
        }
        // The kit's own limits are shorter, but for a poll.
        request.timeoutInterval = 300
        return request
    }

    /// Makes a call; without a body a GET. The time grows by the wait of a poll, s. Throws a
    /// `Reason`.
    func ask(_ path: String, _ token: String?, body: Data? = nil, wait: Int = 0) async throws
        -> Answer
    {
        var request = request(server.base + path, token)
        if let body {
            (request.httpMethod, request.httpBody) = ("POST", body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let limit = time(30) + UInt64(wait) * 1_000_000_000
        let (used, data, response): (URLSession, Data, HTTPURLResponse)
        used = opened()
        do {
            (data, response) = try await call(used, request, limit)
        } catch {
            let cut = Reason("closed", "The connection was ended.")
            throw session === used ? Reason(error, server.base) : cut
        }
        if path != "/ack" {
            let named = number(response, "x-wait-max")
            pollSeconds = named > 0 ? min(named, 240) : 60
        }
        guard let answer = Answer(data), response.statusCode != 404 else {
            throw Reason(page: response.statusCode, server.base)
        }
        if let token { try await heed(answer, token) }
        return answer
    }

    /// Sends acknowledgements on the stream, if one is open. A missing answer ends it: they go again.
    func sendFrame(_ acks: [Ack], _ body: Data) -> Bool {
        guard let socket, let signals else { return false }
        let late = fail(after: 30, Reason("no_answer", "An acknowledgement was not answered."))
        pending.append((acks, late))
        // Frames go in their order; one that fails is found by its missing answer.
        socket.send(.string(String(decoding: body, as: UTF8.self))) { fault in
            if let fault { signals.yield(.failed(fault)) }
        }
        return true
    }

    private func fail(after given: Double, _ why: Reason) -> Task<Void, Never> {
        Task { [signals, nanoseconds = time(given)] in
            try? await Task.sleep(nanoseconds: nanoseconds)
            if !Task.isCancelled { signals?.yield(.failed(why)) }
        }
    }

    /// Opens a stream, and works with it until it ends. Throws a `Reason`.
    func listen(_ token: String) async throws {
        let path = options.ping > 0 ? "/stream?ping=\(options.ping)" : "/stream"
        let address = "ws" + server.base.dropFirst(4) + path
        let task = opened().webSocketTask(with: request(address, token))
        task.maximumMessageSize = 4 << 20
        let (events, signals) = AsyncStream.makeStream(of: Signal.self)
        (session?.delegate as? Watcher)?.watch(signals)
        self.signals = signals
        task.resume()
        receive(task, signals)
        var watching = fail(after: 30, Reason("timeout", "\(server.base) did not answer in time."))
        let (answers, queue) = AsyncStream.makeStream(of: (Answer?, [Ack]).self)
        let handling = Task {
            do {
                for await (answer, sent) in answers {
                    if !sent.isEmpty { try await change { $0.without(sent) } }
                    if let answer {
                        try await heed(answer, token)
                        _ = try await take(answer, token)
                    }
                    try await sendAcks()
                }
            } catch {
                signals.yield(.failed(error))
            }
        }
        var (began, heard, bears) = (UInt64(0), uptime(), 30.0)
        var text = ""
        var why: any Error = Reason("no_answer", "The stream ended.")
        reading: for await signal in events {
            switch signal {
            case .failed(let fault):
                why = fault
                break reading
            case .probed:
                if uptime() - heard < time(bears) { continue }
                guard await isAlive(token) else {
                    why = Reason("silence", "silence")
                    break reading
                }
                heard = uptime()
                continue
            default: heard = uptime()
            }
            let response = task.response as? HTTPURLResponse
            if began == 0 && response?.statusCode ?? 101 == 101 {
                began = heard
                bears = max(30, Double(2 * (response.map { number($0, "x-ping-interval") } ?? 0) + 10))
                socket = task
                watching.cancel()
                watching = probe(task, signals, time(bears / 2))
                report(.open)
                queue.yield((nil, []))
            }
            guard case .frame(let piece) = signal else { continue }
            text = Device.whole(text, piece)
            guard let answer = Answer(Data(text.utf8)) else {
                if Device.breaksFrames && text.utf8.count < 4 << 20 { continue }
                why = Reason("not_json", "A frame was no answer.")
                break reading
            }
            text = ""
            // Those that the server refused for their form it will never take.
            let isBatch = answer.messages != nil || answer.isEnding
            let sent = isBatch || pending.isEmpty ? nil : pending.removeFirst()
            sent?.limit.cancel()
            queue.yield((answer, sent?.acks ?? []))
        }
        watching.cancel()
        let said = task.closeReason.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let code = closeCode(max(0, task.closeCode.rawValue), said)
        task.cancel()
        pending.forEach { $0.limit.cancel() }
        // The frame that did not fit is not sent again.
        if code == 1007, let sent = pending.first { queue.yield((nil, sent.acks)) }
        (pending, socket, self.signals) = ([], nil, nil)
        hasHeld = began > 0 && uptime() - began >= time(10)
        queue.finish()
        await handling.value
        if end != nil { return }
        let reason = Reason(why, server.base)
        throw try await judge(task, token, code, said, reason, wasOpen: began > 0)
    }

    /// Does what follows the end of a stream, and says why it ended.
    private func judge(
        _ task: URLSessionWebSocketTask, _ token: String, _ code: Int, _ said: String,
        _ why: Reason, wasOpen: Bool
    ) async throws -> Reason {
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 101
        let isRefused = !wasOpen && status != 101
        if !wasOpen && !isRefused && code == 0 && ["timeout", "no_answer"].contains(why.word) {
            // The handshake may reach the server yet.
            isAstray = true
        }
        if hasHeld { isAstray = false }
        // The inbox says why the token ended, in the language of the user.
        if code == 4001 || code == 4004 || (isRefused && status == 401) { _ = try await fetch(token) }
        if code == 4002 {
            // Else an older attempt of this device was late.
            if !isAstray { finish(.replaced) }
            isAstray = false
        }
        if code == 0 { return isRefused ? Reason(page: status, server.base) : why }
        let text = "The server closed the stream: \(code) \(said)."
        return Reason(code == 4004 ? said : "closed", text)
    }

    /// Returns whether a stream without a pong is alive.
    private func isAlive(_ token: String) async -> Bool {
        #if canImport(FoundationNetworking)
        // This library shows no pongs: an answer of the inbox proves the line.
        return (try? await ask("/inbox", token)) != nil
        #else
        return false
        #endif
    }

    #if canImport(FoundationNetworking)
    /// This library breaks a frame at 4 KiB, and hands over the pieces.
    private static let breaksFrames = true
    #else
    private static let breaksFrames = false
    #endif

    private static func whole(_ before: String, _ piece: String) -> String {
        Answer(Data(piece.utf8)) == nil ? before + piece : piece
    }
}

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

/// Sends pings: this library does not show those of the server.
private func probe(
    _ task: URLSessionWebSocketTask, _ signals: AsyncStream<Signal>.Continuation, _ each: UInt64
) -> Task<Void, Never> {
    Task {
        while !Task.isCancelled {
            task.sendPing { fault in if fault == nil { signals.yield(.pong) } }
            try? await Task.sleep(nanoseconds: each)
            signals.yield(.probed)
        }
    }
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

/// Makes a call that is cancelled after a time, ns.
private func call(
    _ session: URLSession, _ request: URLRequest, _ limit: UInt64
) async throws -> (Data, HTTPURLResponse) {
    try await withCheckedThrowingContinuation { waiting in
        let task = session.dataTask(with: request) { data, response, fault in
            if let response = response as? HTTPURLResponse, fault == nil {
                waiting.resume(returning: (data ?? Data(), response))
            } else {
                waiting.resume(throwing: fault ?? URLError(.badServerResponse))
            }
        }
        task.resume()
        let deadline = DispatchTime.now() + .nanoseconds(Int(limit))
        DispatchQueue.global().asyncAfter(deadline: deadline) { task.cancel() }
    }
}

/// Follows no redirect, and reports when a stream is open.
private final class Watcher: NSObject, URLSessionWebSocketDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var signals: AsyncStream<Signal>.Continuation?

    func watch(_ signals: AsyncStream<Signal>.Continuation) {
        lock.withLock { self.signals = signals }
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) {
        lock.withLock { _ = signals?.yield(.opened) }
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
