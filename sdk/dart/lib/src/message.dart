// A message of the provider, and its texts in the language of a device.
part of 'device.dart';

/// An object of JSON.
typedef Json = Map<String, Object?>;

/// The texts of a message in the language of the device; an empty one is not there. `html` was
/// filtered by the server, `plain` is the same as text with line breaks, and `link` is the address
/// that a tap opens.
typedef Texts = ({String title, String html, String plain, String link});

/// A message as the server sent it.
class Message {
  const Message(this.id, this.type, this.payload, this.raw);

  /// `id` is the same in every copy, and in acknowledgements. `type` is 10 for a notification, 20
  /// for a command.
  final int id, type;

  /// `raw` has all fields, `created_at` and `expires_at` among them.
  final Json payload, raw;

  static const int notification = 10, command = 20;
  static const _actions = {'import-data', 'update-subscription', 'set-settings', 'sub-change'};

  /// Reads a message of the inbox, or the one in a push, which FCM sends as text.
  static Message? read(Object? value) {
    final raw = value is String ? objectIn(value) : value;
    if (raw is! Json) return null;
    final (id, type) = (raw['id'], raw['notification_type']);
    final payload = raw['stub'] == true ? const <String, Object?>{} : raw['payload'];
    if (id is! int || payload is! Json) return null;
    return Message(id, type is int ? type : 0, payload, raw);
  }

  /// Those of an answer of the inbox, or of a frame like it.
  static List<Message> allIn(Json answer) =>
      listIn(answer, 'data').map(read).whereType<Message>().toList();

  /// True: the server sent the id alone, because the frame would be too large.
  bool get isStub => raw['stub'] == true;

  /// The action of a command; empty for a notification.
  String get action => textIn(payload, 'action_type');

  /// Why the message cannot be handled.
  String? get unknown => switch (type) {
        notification => null,
        command => _actions.contains(action) ? null : 'unknown action_type $action',
        _ => 'unknown notification_type $type',
      };

  /// Returns the texts for a locale (`pt-BR`), else for its language, else the general ones.
  Texts texts(String locale) {
    final own = _localeIn(payload['locales'], locale);
    String of(String name, [String? ownName]) {
      final text = textIn(own, ownName ?? name);
      return text.isEmpty ? textIn(payload, name) : text;
    }

    final (html, link) = (of('body'), of('link_for_open', 'link-for-open'));
    return (title: of('title'), html: html, plain: plainText(html), link: link);
  }
}

/// Reads a text as an object of JSON.
Json? objectIn(String text) {
  try {
    return jsonDecode(text) as Json;
  } catch (_) {
    return null;
  }
}

String textIn(Json record, String name) => switch (record[name]) { final String it => it, _ => '' };

List<Object?> listIn(Json record, String name) =>
    switch (record[name]) { final List<Object?> it => it, _ => const [] };

Json _localeIn(Object? locales, String locale) {
  final all = locales is Json ? locales : const <String, Object?>{};
  final wanted = _tidyTag(locale), language = wanted.split('-').first;
  for (final exact in [wanted, language, null]) {
    for (final MapEntry(:key, :value) in all.entries) {
      final tag = _tidyTag(key);
      final fits = exact == null ? tag.split('-').first == language : tag == exact;
      if (value is Json && fits) return value;
    }
  }
  return const {};
}

/// Spells a tag in one way. Providers write CN for Chinese.
String _tidyTag(String tag) {
  final tidy = tag.trim().toLowerCase().replaceAll('_', '-');
  return tidy == 'cn' ? 'zh-cn' : tidy;
}

const _entities = {'amp': '&', 'lt': '<', 'gt': '>', 'quot': '"', 'apos': "'", 'nbsp': ' '};
final _breaks = RegExp(r'<br ?/?>|</(?:p|div|li|h[1-6]|tr|blockquote|pre)>', caseSensitive: false);
final _entity = RegExp(r'&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{1,6}));');

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
  final [all, decimal, hex, name] = match.groups([0, 1, 2, 3]);
  if (name != null) return _entities[name.toLowerCase()] ?? all ?? '';
  final code = int.parse(decimal ?? hex ?? '', radix: hex == null ? 10 : 16);
  return code > 0x10ffff ? all ?? '' : String.fromCharCode(code);
}
