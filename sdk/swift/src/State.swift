import Foundation

/// Keeps one text of the app over restarts.
public protocol Store: Sendable {
    /// Returns the text that was written last; nil: there is none.
    func read() async throws -> String?
    /// Replaces the text whole: one that is written in part must never be read.
    func write(_ text: String) async throws
}

/// A `Store` in a file, which it replaces by renaming.
public struct FileStore: Store {
    private let url: URL

    public init(path: String) { url = URL(fileURLWithPath: path) }

    public func read() throws -> String? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try String(contentsOf: url, encoding: .utf8)
    }

    public func write(_ text: String) throws {
        try Data(text.utf8).write(to: url, options: .atomic)
    }
}

/// Returns the HWID in a store; draws and keeps one if there is none.
public func hwid(in store: any Store) async throws -> String {
    let state = State(try await store.read(), hwid: nil)
    try await store.write(state.text)
    return state.hwid
}

/// An acknowledgement; two of one message and state are the same.
struct Ack: Codable, Sendable {
    let id: Int
    let state: String
    var detail: String?

    func isSame(_ other: Ack) -> Bool { id == other.id && state == other.state }

    var json: [String: Any] {
        let ack: [String: Any] = ["id": id, "state": state]
        guard let detail, !detail.isEmpty else { return ack }
        return ack.merging(["detail": detail]) { $1 }
    }
}

/// HWID, token, the last messages with their states, and what the server has not confirmed.
struct State: Codable, Sendable {
    private(set) var version = 1
    let hwid: String
    var token: String?
    private var seen: [Seen] = []
    private(set) var acks: [Ack] = []

    /// A pair in JSON: an id and the state that was acknowledged.
    private struct Seen: Codable {
        let id: Int
        let state: String

        init(_ ack: Ack) { (id, state) = (ack.id, ack.state) }

        init(from decoder: Decoder) throws {
            var pair = try decoder.unkeyedContainer()
            id = try pair.decode(Int.self)
            state = try pair.decode(String.self)
        }

        func encode(to encoder: Encoder) throws {
            var pair = encoder.unkeyedContainer()
            try pair.encode(id)
            try pair.encode(state)
        }
    }

    private static let seenMax = 1_000
    private static let acksMax = 1_000
    private static let detailMax = 255

    /// Reads a text. A missing or broken one, or one of another HWID, makes a new device.
    init(_ text: String?, hwid given: String?) {
        let kept = text.flatMap { try? JSONDecoder().decode(State.self, from: Data($0.utf8)) }
        // The token belongs to the HWID that was registered.
        if let kept, kept.version == 1, given == nil || given == kept.hwid {
            self = kept
            return
        }
        // Random: it does not identify the phone.
        hwid = given ?? (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }

    var text: String {
        let encoded = try? JSONEncoder().encode(self)
        return String(decoding: encoded ?? Data(), as: UTF8.self)
    }

    /// Returns the acknowledged state of a message; nil: it is new.
    func seen(_ id: Int) -> String? { seen.first { $0.id == id }?.state }

    /// Returns the state with a message and its acknowledgement, which waits.
    func knowing(_ ack: Ack) -> State {
        var state = self
        state.seen = (seen.filter { $0.id != ack.id } + [Seen(ack)]).suffix(State.seenMax)
        return state.owing(ack)
    }

    /// Returns the state with one more acknowledgement that waits.
    func owing(_ ack: Ack) -> State {
        var state = without([ack])
        let line = (ack.detail ?? "").components(separatedBy: .controlCharacters)
        let detail = String(line.joined(separator: " ").prefix(State.detailMax))
        let tidy = Ack(id: ack.id, state: ack.state, detail: detail.isEmpty ? nil : detail)
        state.acks = (state.acks + [tidy]).suffix(State.acksMax)
        return state
    }

    /// Returns the state without acknowledgements that the server confirmed.
    func without(_ sent: [Ack]) -> State {
        var state = self
        state.acks = acks.filter { ack in !sent.contains { $0.isSame(ack) } }
        return state
    }

    func with(token: String?) -> State {
        var state = self
        state.token = token
        return state
    }
}
