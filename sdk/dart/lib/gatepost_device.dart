/// A device of a Gatepost provider: it registers, receives messages by polls, by a stream and by
/// pushes, gives each message to the app once, and acknowledges it.
library;

export 'src/device.dart' hide State, ackOf, isSame, listIn, objectIn, openState, textIn;
