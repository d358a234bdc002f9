/// A message of the provider, and its texts in the language of a device.
library;

import 'dart:convert';

/// An object of JSON.
typedef Json = Map<String, Object?>;

/// The texts of a message in the language of the device. An empty one is not there.
class Texts {
  const Texts(this.title, this.html, this.plain, this.link);

  /// Plain text.
  final String title;

  /// HTML that the server filtered.
  final String html;

  /// The same as text with line breaks.
  final String plain;

  /// The address that a tap opens.
  final String link;
}

/// A message as the server sent it.
class Message {
  const Message(this.id, this.type, this.payload, this.raw);

  /// The same in every copy, and in acknowledgements.
  final int id;

  /// 10 for a notification, 20 for a command.
  final int type;

  final Json payload;

  /// All fields, `created_at` and `expires_at` among them.
  final Json raw;

  static const int notification = 10;
  static const int command = 20;
  static const Set<String> _actions = {
    'import-data',
    'update-subscription',
    'set-settings',
    'sub-change',
  };

  /// Reads a message of the inbox, or the one in a push, which FCM sends as text.
  static Message? read(Object? value) {
    final raw = value is String ? objectIn(value) : value;
    if (raw is! Json) return null;
    final id = raw['id'];
    final type = raw['notification_type'];
    final payload = raw['stub'] == true ? const <String, Object?>{} : raw['payload'];
    if (id is! int || payload is! Json) return null;
    return Message(id, type is int ? type : 0, payload, raw);
  }

  /// True: the server sent the id alone, because the frame would be too large.
  bool get isStub => raw['stub'] == true;

  /// The action of a command; empty for a notification.
  String get action => textIn(payload, 'action_type');

  /// Why the message cannot be handled.
  String? get unknown {
    if (type == notification) return null;
    if (type != command) return 'unknown notification_type $type';
    return _actions.contains(action) ? null : 'unknown action_type $action';
  }

  /// Returns the texts for a locale (`pt-BR`), else for its language, else the general ones.
  Texts texts(String locale) {
    final own = _localeIn(payload['locales'], locale);
    String of(String name, String ownName) {
      final text = textIn(own, ownName);
      return text.isEmpty ? textIn(payload, name) : text;
    }

    final html = of('body', 'body');
    final link = of('link_for_open', 'link-for-open');
    return Texts(of('title', 'title'), html, plainText(html), link);
  }
}

/// Reads a text as an object of JSON.
Json? objectIn(String text) {
  try {
    final Object? value = jsonDecode(text);
    return value is Json ? value : null;
  } on FormatException {
    return null;
  }
}

String textIn(Json record, String name) {
  final value = record[name];
  return value is String ? value : '';
}

Json _localeIn(Object? locales, String locale) {
  if (locales is! Json) return const {};
  final wanted = _tidyTag(locale);
  final language = _languageOf(wanted);
  final fits = <bool Function(String)>[
    (tag) => tag == wanted,
    (tag) => tag == language,
    (tag) => _languageOf(tag) == language,
  ];
  for (final fit in fits) {
    for (final entry in locales.entries) {
      final texts = entry.value;
      if (texts is Json && fit(_tidyTag(entry.key))) return texts;
    }
  }
  return const {};
}

/// Spells a tag in one way. Providers write CN for Chinese.
String _tidyTag(String tag) {
  final tidy = tag.trim().toLowerCase().replaceAll('_', '-');
  return tidy == 'cn' ? 'zh-cn' : tidy;
}

String _languageOf(String tag) => tag.split('-').first;

const Map<String, String> _entities = {
  'amp': '&',
  'lt': '<',
  'gt': '>',
  'quot': '"',
  'apos': "'",
  'nbsp': ' ',
};

final RegExp _breaks =
    RegExp(r'<br ?/?>|</(?:p|div|li|h[1-6]|tr|blockquote|pre)>', caseSensitive: false);
final RegExp _entity = RegExp(r'&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{1,6}));');

/// Returns filtered HTML as text: blocks become line breaks, entities are decoded.
String plainText(String html) => html
    .replaceAll(RegExp(r'\s+'), ' ')
    .replaceAll(_breaks, '\n')
    .replaceAll(RegExp(r'<[^<>]*>'), '')
    .replaceAllMapped(_entity, _decoded)
    .replaceAll(RegExp(r' *\n *'), '\n')
    .replaceAll(RegExp(r'\n{3,}'), '\n\n')
    .trim();

String _decoded(Match match) {
  final all = match[0] ?? '';
  final name = match[3];
  if (name != null) return _entities[name.toLowerCase()] ?? all;
  final hex = match[2];
  final code = hex == null ? int.parse(match[1] ?? '0') : int.parse(hex, radix: 16);
  return code > 0x10ffff ? all : String.fromCharCode(code);
}
