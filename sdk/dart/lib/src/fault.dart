/// Why something did not work, in a word for programs and a sentence for people.
library;

import 'dart:async';
import 'dart:io';

import 'message.dart';

/// Why a device is closed, was refused, or lost a place.
class Reason implements Exception {
  const Reason(this.word, this.text, {this.msg = '', this.at = '', this.limit, this.freeUrl = ''});

  /// Reads that of an answer, or of one notice in `ended`.
  factory Reason.read(Json from) {
    final limit = from['limit'];
    final msg = textIn(from, 'msg');
    final word = textIn(from, 'reason');
    final text = textIn(from, 'text');
    return Reason(
      word.isEmpty ? msg : word,
      text.isEmpty ? msg : text,
      msg: msg,
      at: textIn(from, 'at'),
      limit: limit is int ? limit : null,
      freeUrl: textIn(from, 'free_url'),
    );
  }

  /// Says what kept a call to `url` from an answer.
  factory Reason.ofCall(Object fault, String url) {
    if (fault is Reason) return fault;
    if (fault is TimeoutException) return Reason('timeout', '$url did not answer in time.');
    if (fault is TlsException) return Reason('tls', 'TLS with $url failed: ${fault.message}.');
    if (fault is SocketException) {
      final code = fault.osError?.errorCode;
      if (_refused.contains(code)) {
        return Reason('refused_port', 'No server listens at $url: it refused the port.');
      }
      if (fault.message.startsWith('Failed host lookup')) {
        return Reason('name', 'The name of the host in $url was not found.');
      }
      if (fault.message.contains('timed out')) {
        return Reason('timeout', '$url did not answer in time.');
      }
    }
    return Reason('no_answer', '$url did not answer: $fault.');
  }

  /// ECONNREFUSED of Linux and Android, of Apple's systems, and of Windows.
  static const Set<int> _refused = {111, 61, 1225, 10061};

  /// A refusal of the server (`Install not found`, `link_limit_reached`, `slot_freed`), or of the
  /// line: `refused_port`, `name`, `tls`, `timeout`, `not_json`, `wrong_path`, `bad_url`,
  /// `no_answer`, `silence`, `store`.
  final String word;

  /// A sentence: the server's in the language of the device, the kit's in English.
  final String text;

  /// The server's `msg`, which is the same in all languages.
  final String msg;

  /// When a place ended; as the server's other times.
  final String at;

  /// The limit of the link that is full.
  final int? limit;

  /// Where the user frees a slot; empty: the provider has no such page.
  final String freeUrl;

  @override
  String toString() => text.isEmpty || text == word ? word : '$word: $text';
}
