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

    static let notification = 10
    static let command = 20
    static let actions = ["import-data", "update-subscription", "set-settings", "sub-change"]

    /// Reads a message of the inbox, or the one in a push, which FCM sends as text.
    init?(_ value: Any?) {
        let read = (value as? String).flatMap { objectIn(Data($0.utf8)) } ?? value as? [String: Any]
        guard let raw = read, let id = raw["id"] as? Int else { return nil }
        let isStub = raw["stub"] as? Bool == true
        guard let payload = raw["payload"] as? [String: Any] ?? (isStub ? [:] : nil) else {
            return nil
        }
        (self.id, self.payload, self.raw) = (id, payload, raw)
        type = raw["notification_type"] as? Int ?? 0
    }

    /// True: the server sent the id alone, because the frame would be too large.
    var isStub: Bool { raw["stub"] as? Bool == true }

    /// The action of a command; empty for a notification.
    public var action: String { textIn(payload, "action_type") }

    /// Why the message cannot be handled.
    var unknown: String? {
        if type == Message.notification { return nil }
        if type != Message.command { return "unknown notification_type \(type)" }
        return Message.actions.contains(action) ? nil : "unknown action_type \(action)"
    }

    /// Returns the texts for a locale (`pt-BR`), else for its language, else the general ones.
    public func texts(_ locale: String) -> Texts {
        let own = localeIn(payload["locales"], locale)
        func of(_ name: String, _ ownName: String) -> String {
            let text = textIn(own, ownName)
            return text.isEmpty ? textIn(payload, name) : text
        }
        let html = of("body", "body")
        let link = of("link_for_open", "link-for-open")
        return Texts(title: of("title", "title"), html: html, plain: plainText(html), link: link)
    }
}

func objectIn(_ data: Data) -> [String: Any]? {
    try? JSONSerialization.jsonObject(with: data) as? [String: Any]
}

func textIn(_ record: [String: Any], _ name: String) -> String { record[name] as? String ?? "" }

private func localeIn(_ locales: Any?, _ locale: String) -> [String: Any] {
    let all = (locales as? [String: Any] ?? [:]).sorted { $0.key < $1.key }
    let wanted = tidyTag(locale)
    let language = languageOf(wanted)
    let fits: [(String) -> Bool] = [
        { $0 == wanted }, { $0 == language }, { languageOf($0) == language },
    ]
    for fit in fits {
        for (key, texts) in all {
            if let texts = texts as? [String: Any], fit(tidyTag(key)) { return texts }
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

/// Returns filtered HTML as text: blocks become line breaks, entities are decoded.
public func plainText(_ html: String) -> String {
    let steps = [
        ("\\s+", " "),
        ("(?i)<br ?/?>|</(?:p|div|li|h[1-6]|tr|blockquote|pre)>", "\n"),
        ("<[^<>]*>", ""),
    ]
    var text = steps.reduce(html) { replaced($0, $1.0, $1.1) }
    text = decoded(text)
    text = replaced(replaced(text, " *\\n *", "\n"), "\\n{3,}", "\n\n")
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
}

private func replaced(_ text: String, _ pattern: String, _ by: String) -> String {
    text.replacingOccurrences(of: pattern, with: by, options: .regularExpression)
}

private func decoded(_ text: String) -> String {
    let parts = text.components(separatedBy: "&")
    return parts[0] + parts.dropFirst().map { part -> String in
        guard let end = part.firstIndex(of: ";"), let sign = entity(String(part[..<end])) else {
            return "&" + part
        }
        return sign + part[part.index(after: end)...]
    }.joined()
}

private func entity(_ name: String) -> String? {
    guard name.hasPrefix("#") else { return entities[name.lowercased()] }
    let digits = name.dropFirst()
    let isHex = digits.hasPrefix("x") || digits.hasPrefix("X")
    let code = isHex ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return code.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
}
