// The state of a device that outlives a restart: one text in the store of the app.
part of 'device.dart';

/// Keeps one text of the app over restarts.
abstract class Store {
  /// Returns the text that was written last; null: there is none.
  FutureOr<String?> read();

  /// Replaces the text whole: one that is written in part must never be read.
  FutureOr<void> write(String text);
}

/// A [Store] in a file, which it replaces by renaming.
class FileStore implements Store {
  FileStore(this.path);

  final String path;

  @override
  Future<String?> read() async => await File(path).exists() ? File(path).readAsString() : null;

  @override
  Future<void> write(String text) async =>
      (await File('$path.new').writeAsString(text, flush: true)).rename(path);
}

/// Returns the HWID in a store; draws and keeps one if there is none.
Future<String> hwidIn(Store store) async => (await openState(store, null)).hwid;

/// Reads a store. What was drawn is kept before it is used.
Future<State> openState(Store store, String? hwid) async {
  final state = State.read(await store.read(), hwid);
  await store.write(state.text);
  return state;
}

/// Returns 32 random hexadecimal digits, which do not identify the phone.
String _drawn() {
  final random = Random.secure();
  return [for (var n = 0; n < 32; n++) random.nextInt(16).toRadixString(16)].join();
}

/// Returns an acknowledgement, as the server takes it.
Json ackOf(int id, String state, [String detail = '']) {
  final line = detail.replaceAll(RegExp(r'[\x00-\x1f\x7f-\x9f]+'), ' ').runes.take(_detailMax);
  return {'id': id, 'state': state, if (line.isNotEmpty) 'detail': String.fromCharCodes(line)};
}

/// Two acknowledgements of one message and state are the same.
bool isSame(Json one, Json other) => one['id'] == other['id'] && one['state'] == other['state'];

const _keptMax = 1000, _detailMax = 255;

/// HWID, token, the last messages with their states, and what the server has not confirmed; the
/// oldest first.
class State {
  const State(this.hwid, this.token, this._seen, this.acks);

  final String hwid;
  final String? token;
  final Map<int, String> _seen;
  final List<Json> acks;

  /// Reads a text. A missing or broken one, or one of another HWID, makes a new device: the token
  /// belongs to the HWID that was registered.
  static State read(String? text, String? hwid) {
    try {
      final kept = objectIn(text ?? '') ?? const {};
      final (known, token) = (kept['hwid'] as String, kept['token'] as String?);
      final seen = {for (final one in kept['seen'] as List) one[0] as int: one[1] as String};
      final acks = (kept['acks'] as List).cast<Json>().toList();
      final isOwn = kept['version'] == 1 && (hwid ?? known) == known;
      if (isOwn && acks.every((ack) => ack['id'] is int)) return State(known, token, seen, acks);
    } catch (_) {
      // A text of another form is none.
    }
    return State(hwid ?? _drawn(), null, const {}, const []);
  }

  String get text {
    final seen = _seen.entries.map((one) => [one.key, one.value]).toList();
    return jsonEncode({'version': 1, 'hwid': hwid, 'token': token, 'seen': seen, 'acks': acks});
  }

  /// Returns the acknowledged state of a message; null: it is new.
  String? seen(int id) => _seen[id];

  State withToken(String? other) => State(hwid, other, _seen, acks);

  /// Returns the state with a message and its acknowledgement, which waits.
  State knowing(Json ack) {
    final id = ack['id'] as int;
    final seen = {..._seen}..remove(id);
    seen[id] = textIn(ack, 'state');
    if (seen.length > _keptMax) seen.remove(seen.keys.first);
    return State(hwid, token, seen, acks).owing(ack);
  }

  /// Returns the state with one more acknowledgement that waits.
  State owing(Json ack) {
    final all = without([ack]).acks..add(ack);
    return State(hwid, token, _seen, all.sublist(max(0, all.length - _keptMax)));
  }

  /// Returns the state without acknowledgements that the server confirmed.
  State without(List<Json> sent) {
    final left = acks.where((ack) => !sent.any((one) => isSame(one, ack))).toList();
    return State(hwid, token, _seen, left);
  }
}
