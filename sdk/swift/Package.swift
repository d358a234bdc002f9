// swift-tools-version:5.9
import PackageDescription

let package = Package(
    name: "GatepostDevice",
    platforms: [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .watchOS(.v8)],
    products: [.library(name: "GatepostDevice", targets: ["GatepostDevice"])],
    targets: [
        .target(name: "GatepostDevice", path: "src"),
        .executableTarget(name: "driver", dependencies: ["GatepostDevice"], path: "driver"),
        .executableTarget(name: "sample", dependencies: ["GatepostDevice"], path: "sample"),
    ]
)
