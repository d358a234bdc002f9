// A phone in the terminal: swift run sample https://HOST LINK DOMAIN_HASH
import Foundation
import GatepostDevice

let words = CommandLine.arguments
guard words.count == 4 else {
    print("give the address of the server, the link and the hash of its domain")
    exit(2)
}
let server = try Server(url: words[1], installCode: words[2], domainHash: words[3])
var options = Options()
options.facts = ["os": "linux"]
options.locale = "en"
options.mode = .stream
let store = FileStore(path: "device.json")
let device = Device(server: server, store: store, options: options) { got in
    let action = got.message.action
    let texts = got.texts
    print(action.isEmpty ? "\(texts.title)\n\(texts.plain)" : "\(action): \(got.message.payload)")
    return .usual
}
Task {
    for await status in device.statuses { print("(\(status))") }
}
print("ended: \(await device.run())")
