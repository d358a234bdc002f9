import Foundation

/// The texts of a message in the language of the device. An empty one is not there.
public struct Texts: Sendable {
    /// Plain text.
    public let title: String
    /// HTML that the server filtered.
    public let html: String
    /// The same as text with line breaks.
    public let plain: String
    /// The address that a tap opens.
    public let link: String
}

/// A message as the server sent it. Its fields are values of JSON, which nothing changes.
public struct Message: @unchecked Sendable {
    /// The same in every copy, and in acknowledgements.
    public let id: Int
    /// 10 for a notification, 20 for a command.
    public let type: Int
    public let payload: [String: Any]
    /// All fields, `created_at` and `expires_at` among them.
    public let raw: [String: Any]

    static let command = 20
    private static let actions = ["import-data", "update-subscription", "set-settings", "sub-change"]

    /// Reads a message of the inbox, or the one in a push, which FCM sends as text.
    init?(_ value: Any?) {
        let read = (value as? String).flatMap { objectIn(Data($0.utf8)) } ?? value as? [String: Any]
        guard let raw = read, let id = raw["id"] as? Int else { return nil }
        let none: [String: Any]? = raw["stub"] as? Bool == true ? [:] : nil
        guard let payload = none ?? raw["payload"] as? [String: Any] else { return nil }
        (self.id, self.payload, self.raw) = (id, payload, raw)
        type = raw["notification_type"] as? Int ?? 0
    }

    /// True: the server sent the id alone, because the frame would be too large.
    var isStub: Bool { raw["stub"] as? Bool == true }

    /// The action of a command; empty for a notification.
    public var action: String { textIn(payload, "action_type") }

    /// Why the message cannot be handled.
    var unknown: String? {
        switch type {
        case 10: return nil
        case Message.command where Message.actions.contains(action): return nil
        case Message.command: return "unknown action_type \(action)"
        default: return "unknown notification_type \(type)"
        }
    }

    /// Returns the texts for a locale (`pt-BR`), else for its language, else the general ones.
    public func texts(_ locale: String) -> Texts {
        let own = localeIn(payload["locales"], locale)
        func of(_ name: String, _ ownName: String? = nil) -> String {
            let text = textIn(own, ownName ?? name)
            return text.isEmpty ? textIn(payload, name) : text
        }
        let (html, link) = (of("body"), of("link_for_open", "link-for-open"))
        return Texts(title: of("title"), html: html, plain: plainText(html), link: link)
    }
}

func objectIn(_ data: Data) -> [String: Any]? {
    try? JSONSerialization.jsonObject(with: data) as? [String: Any]
}

func encoded(_ object: [String: Any]) -> Data {
    (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
}

func textIn(_ record: [String: Any], _ name: String) -> String { record[name] as? String ?? "" }

private func localeIn(_ locales: Any?, _ locale: String) -> [String: Any] {
    let all = (locales as? [String: Any] ?? [:]).sorted { $0.key < $1.key }
    let wanted = tidyTag(locale)
    let language = languageOf(wanted)
    for exact in [wanted, language, nil] {
        for case let (key, texts as [String: Any]) in all {
            let tag = tidyTag(key)
            if exact.map({ $0 == tag }) ?? (languageOf(tag) == language) { return texts }
        }
    }
    return [:]
}

/// Spells a tag in one way. Providers write CN for Chinese.
private func tidyTag(_ tag: String) -> String {
    let trimmed = tag.trimmingCharacters(in: .whitespaces).lowercased()
    let tidy = trimmed.replacingOccurrences(of: "_", with: "-")
    return tidy == "cn" ? "zh-cn" : tidy
}

private func languageOf(_ tag: String) -> String { String(tag.prefix { $0 != "-" }) }

private let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " "]
private let blocks = "(?i)<br ?/?>|</(?:p|div|li|h[1-6]|tr|blockquote|pre)>"

/// Returns filtered HTML as text: blocks become line breaks, entities are decoded.
public func plainText(_ html: String) -> String {
    func replaced(_ text: String, _ steps: [(String, String)]) -> String {
        steps.reduce(text) {
            $0.replacingOccurrences(of: $1.0, with: $1.1, options: .regularExpression)
        }
    }
    let text = replaced(html, [("\\s+", " "), (blocks, "\n"), ("<[^<>]*>", "")])
    let parts = text.components(separatedBy: "&")
    let decoded = parts[0] + parts.dropFirst().map { part -> String in
        let name = part.prefix { $0 != ";" }
        guard name.count < part.count, let sign = entity(name) else { return "&" + part }
        return sign + part.dropFirst(name.count + 1)
    }.joined()
    return replaced(decoded, [(" *\\n *", "\n"), ("\\n{3,}", "\n\n")])
        .trimmingCharacters(in: .whitespacesAndNewlines)
}

private func entity(_ name: Substring) -> String? {
    guard name.hasPrefix("#") else { return entities[name.lowercased()] }
    let isHex = name.dropFirst().first?.lowercased() == "x"
    let code = UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10)
    return code.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
}
