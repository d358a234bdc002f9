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
    try await State.open(store, nil).hwid
}

/// An acknowledgement; two of one message and state are the same.
struct Ack: Codable, Equatable, Sendable {
    let id: Int
    let state: String
    var detail: String?

    var json: [String: Any] {
        let all: [String: Any?] = ["id": id, "state": state, "detail": detail]
        return all.compactMapValues { $0 }
    }

    static func == (one: Ack, other: Ack) -> Bool {
        one.id == other.id && one.state == other.state
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
            (id, state) = (try pair.decode(Int.self), try pair.decode(String.self))
        }

        func encode(to encoder: Encoder) throws {
            var pair = encoder.unkeyedContainer()
            try pair.encode(id)
            try pair.encode(state)
        }
    }

    private static let keptMax = 1_000
    private static let detailMax = 255

    /// Reads a store. What was drawn is kept before it is used.
    static func open(_ store: any Store, _ hwid: String?) async throws -> State {
        let state = State(try await store.read(), hwid: hwid)
        try await store.write(state.text)
        return state
    }

    /// Reads a text. A missing or broken one, or one of another HWID, makes a new device.
    private init(_ text: String?, hwid given: String?) {
        let kept = text.flatMap { try? JSONDecoder().decode(State.self, from: Data($0.utf8)) }
        // The token belongs to the HWID that was registered.
        if let kept, kept.version == 1, given == nil || given == kept.hwid {
            self = kept
        } else {
            // Random: it does not identify the phone.
            let drawn = (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
            hwid = given ?? drawn
        }
    }

    var text: String {
        String(decoding: (try? JSONEncoder().encode(self)) ?? Data(), as: UTF8.self)
    }

    /// Returns the acknowledged state of a message; nil: it is new.
    func seen(_ id: Int) -> String? { seen.first { $0.id == id }?.state }

    /// Returns the state with a message and its acknowledgement, which waits.
    func knowing(_ ack: Ack) -> State {
        var state = owing(ack)
        state.seen = (seen.filter { $0.id != ack.id } + [Seen(ack)]).suffix(State.keptMax)
        return state
    }

    /// Returns the state with one more acknowledgement that waits.
    func owing(_ ack: Ack) -> State {
        let line = (ack.detail ?? "").components(separatedBy: .controlCharacters)
        let detail = String(line.joined(separator: " ").prefix(State.detailMax))
        let tidy = Ack(id: ack.id, state: ack.state, detail: detail.isEmpty ? nil : detail)
        var state = without([ack])
        state.acks = (state.acks + [tidy]).suffix(State.keptMax)
        return state
    }

    /// Returns the state without acknowledgements that the server confirmed.
    func without(_ sent: [Ack]) -> State {
        var state = self
        state.acks = acks.filter { !sent.contains($0) }
        return state
    }

    func with(token: String?) -> State {
        var state = self
        state.token = token
        return state
    }
}
