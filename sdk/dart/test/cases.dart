/// Plays cases.json on the parts of the kit that need no server: dart run test/cases.dart
library;

import 'dart:convert';
import 'dart:io';

import 'package:gatepost_device/src/device.dart';

String? textOrNull(Object? value) => value is String ? value : null;

Object? plainOf(Json given) => {'plain': plainText(given['html'] as String)};

Object? textsOf(Json given) {
  final message = Message.read(given['message']);
  if (message == null) return {'none': true};
  final texts = message.texts(given['locale'] as String);
  return {
    'title': texts.title,
    'html': texts.html,
    'plain': texts.plain,
    'link': texts.link,
    'action': message.action,
    'unknown': message.unknown,
  };
}

Object? stateOf(Json given) {
  var state = State.read(textOrNull(given['text']), textOrNull(given['hwid']));
  for (final step in given['steps'] as List<Object?>) {
    final words = step as List<Object?>;
    final does = words[0];
    final from = words[1] as Json;
    final ack = ackOf(from['id'] as int, textIn(from, 'state'), textIn(from, 'detail'));
    if (does == 'knowing') state = state.knowing(ack);
    if (does == 'owing') state = state.owing(ack);
    if (does == 'without') state = state.without([ack]);
  }
  return {'state': objectIn(state.text)};
}

Object? addressOf(Json given) {
  try {
    return {'base': Server.ofLink(given['url'] as String, 'link', 'hash').base};
  } on Reason catch (reason) {
    return {'base': reason.word == 'bad_url' ? null : reason.word};
  }
}

Object? discoveryOf(Json given) {
  final path = textOrNull(given['path']);
  final server = Server.discovered(
    given['fetched'] as String,
    (name) => name == 'x-device-server' ? path : null,
  );
  return {'base': server?.base};
}

Object? headersOf(Json given) {
  final facts = (given['facts'] as Json).cast<String, String>();
  return {'headers': fetchHeaders(given['hwid'] as String, facts)};
}

Object? refusalOf(Json given) {
  final reason = Reason.read(given['answer'] as Json);
  return {
    'word': reason.word,
    'text': reason.text,
    'limit': reason.limit,
    'free_url': reason.freeUrl,
  };
}

const Map<String, Object? Function(Json given)> plays = {
  'plain': plainOf,
  'texts': textsOf,
  'states': stateOf,
  'addresses': addressOf,
  'discovery': discoveryOf,
  'headers': headersOf,
  'refusals': refusalOf,
};

/// Two values are the same if they have the same fields in any order.
bool isSame(Object? one, Object? other) {
  if (one is Map && other is Map) {
    return one.length == other.length && one.keys.every((key) => isSame(one[key], other[key]));
  }
  if (one is List && other is List) {
    if (one.length != other.length) return false;
    for (var at = 0; at < one.length; at++) {
      if (!isSame(one[at], other[at])) return false;
    }
    return true;
  }
  return one == other;
}

void main() {
  final all = objectIn(File('test/cases.json').readAsStringSync()) ?? {};
  var passed = 0;
  var failed = 0;
  for (final kind in plays.keys) {
    final play = plays[kind];
    for (final one in all[kind] as List<Object?>) {
      final given = one as Json;
      final got = play?.call(given) as Map;
      if (got.keys.every((key) => isSame(got[key], given[key]))) {
        passed++;
      } else {
        failed++;
        print('$kind: ${jsonEncode(given)}\n  gave ${jsonEncode(got)}');
      }
    }
  }
  print('$passed passed, $failed failed');
  if (failed > 0) exit(1);
}
