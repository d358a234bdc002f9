/// A device of a Gatepost provider: it registers, receives messages by polls, by a stream and by
/// pushes, gives each message to the app once, and acknowledges it.
library;

export 'src/device.dart';
export 'src/fault.dart' show Reason;
export 'src/message.dart' show Json, Message, Texts, plainText;
export 'src/server.dart' show Server, fetchHeaders;
export 'src/state.dart' show FileStore, Store, hwidIn;
