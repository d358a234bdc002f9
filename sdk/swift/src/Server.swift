import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Why a device is closed, was refused, or lost a place.
public struct Reason: Error, Sendable, CustomStringConvertible {
    /// A refusal of the server (`Install not found`, `link_limit_reached`, `slot_freed`), or of the
    /// line: `refused_port`, `name`, `tls`, `timeout`, `not_json`, `wrong_path`, `bad_url`,
    /// `no_answer`, `silence`, `store`.
    public let word: String
    /// A sentence: the server's in the language of the device, the kit's in English.
    public let text: String
    /// The server's `msg`, which is the same in all languages.
    public var msg = ""
    /// When a place ended; as the server's other times.
    public var at = ""
    /// The limit of the link that is full.
    public var limit: Int?
    /// Where the user frees a slot; empty: the provider has no such page.
    public var freeURL = ""

    init(_ word: String, _ text: String) { (self.word, self.text) = (word, text) }

    /// Reads that of an answer, or of one notice in `ended`.
    init(reading from: [String: Any]) {
        (msg, at, freeURL) = (textIn(from, "msg"), textIn(from, "at"), textIn(from, "free_url"))
        word = from["reason"] as? String ?? msg
        text = from["text"] as? String ?? msg
        limit = from["limit"] as? Int
    }

    /// Says what kept a call to `url` from an answer.
    init(_ fault: any Error, _ url: String) {
        if let known = fault as? Reason {
            self = known
            return
        }
        switch (fault as? URLError)?.code {
        case .cannotConnectToHost?: self.init("refused_port", "\(url) refused its port.")
        case .cannotFindHost?, .dnsLookupFailed?:
            self.init("name", "The name of the host in \(url) was not found.")
        // A call that is late is cancelled.
        case .timedOut?, .cancelled?: self.init("timeout", "\(url) did not answer in time.")
        case .secureConnectionFailed?, .serverCertificateUntrusted?, .serverCertificateHasBadDate?,
            .serverCertificateNotYetValid?, .serverCertificateHasUnknownRoot?,
            .clientCertificateRejected?, .clientCertificateRequired?,
            .appTransportSecurityRequiresSecureConnection?:
            self.init("tls", "TLS with \(url) failed: \(fault.localizedDescription).")
        default:
            let why = fault.localizedDescription
            // The library of Linux has no codes for faults of TLS.
            let isTLS = ["TLS", "SSL"].contains { why.contains($0) }
            self.init(isTLS ? "tls" : "no_answer", "\(url) did not answer: \(why).")
        }
    }

    /// Says what a page in place of an answer means.
    init(page status: Int, _ url: String) {
        switch status {
        case 404: self.init("wrong_path", "\(url) is the path of no Gatepost: it says 404.")
        case 503: self.init("no_answer", "\(url) takes nothing now.")
        default: self.init("not_json", "\(url) answered \(status) with a page, not JSON.")
        }
    }

    public var description: String { text.isEmpty || text == word ? word : "\(word): \(text)" }
}

/// The address of a server, with the fields that a registration shows there.
public struct Server: Sendable {
    /// Stands before `/register`, `/inbox`, `/ack` and `/stream`.
    let base: String
    let shown: [String: String]

    /// The server at `https://HOST`, and the link that the user opened. The hash is the SHA-256 of
    /// its domain. Throws a `Reason` `bad_url`.
    public init(url: String, installCode: String, domainHash: String) throws {
        guard let at = http(url) else {
            let text = "The address \"\(url)\" must begin with https:// and name a host."
            throw Reason("bad_url", text)
        }
        base = trimmed(at) + "/device"
        shown = ["install_code": installCode, "domain_hash": domainHash]
    }

    /// The server that the answer to a subscription's fetch names; nil: it names none. `header`
    /// gives a header of the answer. Ask your user before you make a device with it.
    public init?(discoveredAt fetched: String, header: (String) -> String?) {
        // A path of the same host, and no way up: the answer names no other server.
        let isPath = "^(/(?!\\.\\.?(/|$))[A-Za-z0-9._~-]+)+$"
        guard let path = header("x-device-server"), let from = http(fetched),
            path.range(of: isPath, options: .regularExpression) != nil,
            let at = URL(string: path, relativeTo: from)
        else { return nil }
        base = trimmed(at.absoluteURL)
        shown = ["subscription_url": fetched]
    }
}

private func http(_ url: String) -> URL? {
    guard let at = URL(string: url), let host = at.host, !host.isEmpty else { return nil }
    return ["https", "http"].contains(at.scheme?.lowercased() ?? "") ? at : nil
}

private func trimmed(_ url: URL) -> String {
    url.absoluteString.replacingOccurrences(of: "/+$", with: "", options: .regularExpression)
}

/// Returns the headers of a subscription's fetch: they name the device, and ask for the server.
public func fetchHeaders(hwid: String, facts: [String: String]) -> [String: String] {
    let named = [
        "x-hwid": hwid, "x-device-protocol": "1", "x-device-os": facts["os"],
        "x-ver-os": facts["os_version"], "x-device-model": facts["device_name"],
        "x-app-version": facts["app_version"],
    ]
    return named.compactMapValues { $0 }.filter { !$0.value.isEmpty }
}
