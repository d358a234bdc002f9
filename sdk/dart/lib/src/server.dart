// Where the server is, how a device shows that it belongs to a link, and why something did not work.
part of 'device.dart';

/// The address of a server, with the fields that a registration shows there.
class Server {
  const Server._(this.base, this.shown);

  /// The server at `https://HOST`, and the link that the user opened. The hash is the SHA-256 of
  /// its domain. Throws a [Reason] `bad_url`.
  factory Server.ofLink(String url, String installCode, String domainHash) {
    if (_http(url) case final at?) {
      final base = '${'$at'.replaceFirst(RegExp(r'/+$'), '')}/device';
      return Server._(base, {'install_code': installCode, 'domain_hash': domainHash});
    }
    throw Reason('bad_url', 'The address "$url" must begin with https:// and name a host.');
  }

  /// Stands before `/register`, `/inbox`, `/ack` and `/stream`.
  final String base;
  final Map<String, String> shown;

  bool get isDiscovered => shown.containsKey('subscription_url');

  /// Returns the server that the answer to a subscription's fetch names; null: it names none.
  /// `header` gives a header of the answer. Ask your user before you make a device with it.
  static Server? discovered(String fetched, String? Function(String name) header) {
    final (from, path) = (_http(fetched), header('x-device-server') ?? '');
    // A path of the same host, and no way up: the answer names no other server.
    final isWay = _path.hasMatch(path) && !path.split('/').any(const {'.', '..'}.contains);
    if (from == null || !isWay) return null;
    return Server._('${from.origin}$path', {'subscription_url': fetched});
  }

  static final _path = RegExp(r'^(/[A-Za-z0-9._~-]+)+$');
}

Uri? _http(String url) {
  final at = Uri.tryParse(url);
  final isHttp = at != null && (at.isScheme('https') || at.isScheme('http')) && at.host != '';
  return isHttp ? at : null;
}

/// Returns the headers of a subscription's fetch: they name the device, and ask for the server.
Map<String, String> fetchHeaders(String hwid, Map<String, String> facts) => {
      'x-hwid': hwid,
      'x-device-protocol': '1',
      'x-device-os': facts['os'] ?? '',
      'x-ver-os': facts['os_version'] ?? '',
      'x-device-model': facts['device_name'] ?? '',
      'x-app-version': facts['app_version'] ?? '',
    }..removeWhere((_, value) => value.isEmpty);

/// Why a device is closed, was refused, or lost a place.
class Reason implements Exception {
  const Reason(this.word, this.text, {this.msg = '', this.at = '', this.limit, this.freeUrl = ''});

  /// Reads that of an answer, or of one notice in `ended`.
  factory Reason.read(Json from) {
    final [msg, word, text] = ['msg', 'reason', 'text'].map((name) => textIn(from, name)).toList();
    final (limit, at, freeUrl) = (from['limit'], textIn(from, 'at'), textIn(from, 'free_url'));
    return Reason(word.isEmpty ? msg : word, text.isEmpty ? msg : text,
        msg: msg, at: at, limit: limit is int ? limit : null, freeUrl: freeUrl);
  }

  /// Says what kept a call to `url` from an answer.
  factory Reason.ofCall(Object fault, String url) {
    if (fault is Reason) return fault;
    final word = switch (fault) {
      TimeoutException() => 'timeout',
      TlsException() => 'tls',
      SocketException(:final osError?) when _refused.contains(osError.errorCode) => 'refused_port',
      SocketException(:final message) when message.startsWith('Failed host lookup') => 'name',
      SocketException(:final message) when message.contains('timed out') => 'timeout',
      _ => 'no_answer',
    };
    return Reason(word, '$url ${_faults[word] ?? 'did not answer'}: $fault.');
  }

  static const _faults = {
    'timeout': 'did not answer in time',
    'tls': 'has no TLS that can be trusted',
    'refused_port': 'refused its port, as no server listens there',
    'name': 'has a host whose name was not found',
  };

  /// Says what a page in place of an answer means.
  factory Reason.ofPage(int status, String url) => switch (status) {
        404 => Reason('wrong_path', '$url is the path of no Gatepost: it says 404.'),
        401 => const Reason('Device token error', 'The token of the device ended.'),
        503 => Reason('no_answer', '$url takes nothing now.'),
        _ => Reason('not_json', '$url answered $status with a page, not JSON.'),
      };

  /// ECONNREFUSED of Linux and Android, of Apple's systems, and of Windows.
  static const _refused = {111, 61, 1225, 10061};

  /// `word` is a refusal of the server (`Install not found`, `link_limit_reached`, `slot_freed`), or
  /// of the line: `refused_port`, `name`, `tls`, `timeout`, `not_json`, `wrong_path`, `bad_url`,
  /// `no_answer`, `silence`, `store`. `text` is a sentence: the server's in the language of the
  /// device, the kit's in English. `msg` is the server's, the same in all languages. `at`: when a
  /// place ended; as the server's other times. `freeUrl`: where the user frees a slot; empty: the
  /// provider has no such page.
  final String word, text, msg, at, freeUrl;

  /// The limit of the link that is full.
  final int? limit;

  @override
  String toString() => text.isEmpty || text == word ? word : '$word: $text';
}
