/// The state of a device that outlives a restart: one text in the store of the app.
library;

import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:math';

import 'message.dart';

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
  Future<String?> read() async {
    final file = File(path);
    return await file.exists() ? file.readAsString() : null;
  }

  @override
  Future<void> write(String text) async {
    final next = await File('$path.new').writeAsString(text, flush: true);
    await next.rename(path);
  }
}

/// Returns the HWID in a store; draws and keeps one if there is none.
Future<String> hwidIn(Store store) async {
  final state = State.read(await store.read(), null);
  await store.write(state.text);
  return state.hwid;
}

/// An acknowledgement; two of one message and state are the same.
class Ack {
  const Ack(this.id, this.state, [this.detail = '']);

  final int id;
  final String state;
  final String detail;

  bool isSame(Ack other) => id == other.id && state == other.state;

  Json toJson() => {'id': id, 'state': state, if (detail.isNotEmpty) 'detail': detail};
}

/// HWID, token, the last messages with their states, and what the server has not confirmed.
class State {
  const State(this.hwid, this.token, this._seen, this.acks);

  final String hwid;
  final String? token;

  /// The oldest first.
  final Map<int, String> _seen;
  final List<Ack> acks;

  static const int _seenMax = 1000;
  static const int _acksMax = 1000;
  static const int _detailMax = 255;

  /// Reads a text. A missing or broken one, or one of another HWID, makes a new device.
  static State read(String? text, String? hwid) {
    try {
      final kept = objectIn(text ?? '') ?? const {};
      final token = kept['token'];
      final known = kept['hwid'] as String;
      final seen = {
        for (final one in kept['seen'] as List) (one as List)[0] as int: one[1] as String,
      };
      final acks = [
        for (final one in (kept['acks'] as List).cast<Json>())
          Ack(one['id'] as int, textIn(one, 'state'), textIn(one, 'detail')),
      ];
      // The token belongs to the HWID that was registered.
      if (kept['version'] == 1 && (hwid ?? known) == known) {
        return State(known, token is String ? token : null, seen, acks);
      }
    } catch (_) {
      // A text of another form is none.
    }
    return State(hwid ?? _drawn(), null, const <int, String>{}, const []);
  }

  /// Returns 32 random hexadecimal digits, which do not identify the phone.
  static String _drawn() {
    final random = Random.secure();
    return [for (var n = 0; n < 32; n++) random.nextInt(16).toRadixString(16)].join();
  }

  String get text => jsonEncode({
        'version': 1,
        'hwid': hwid,
        'token': token,
        'seen': [
          for (final one in _seen.entries) [one.key, one.value],
        ],
        'acks': [for (final ack in acks) ack.toJson()],
      });

  /// Returns the acknowledged state of a message; null: it is new.
  String? seen(int id) => _seen[id];

  State withToken(String? other) => State(hwid, other, _seen, acks);

  /// Returns the state with a message and its acknowledgement, which waits.
  State knowing(Ack ack) {
    final seen = Map.of(_seen);
    seen.remove(ack.id);
    seen[ack.id] = ack.state;
    if (seen.length > _seenMax) seen.remove(seen.keys.first);
    return State(hwid, token, seen, acks).owing(ack);
  }

  /// Returns the state with one more acknowledgement that waits.
  State owing(Ack ack) {
    final line = ack.detail.replaceAll(RegExp(r'[\x00-\x1f\x7f-\x9f]+'), ' ');
    final detail = String.fromCharCodes(line.runes.take(_detailMax));
    final all = [
      ...without([ack]).acks,
      Ack(ack.id, ack.state, detail)
    ];
    return State(hwid, token, _seen, all.sublist(max(0, all.length - _acksMax)));
  }

  /// Returns the state without acknowledgements that the server confirmed.
  State without(List<Ack> sent) {
    final left = acks.where((ack) => !sent.any(ack.isSame)).toList();
    return State(hwid, token, _seen, left);
  }
}
