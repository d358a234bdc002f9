/// Where the server is, and how a device shows that it belongs to a link.
library;

import 'fault.dart';

/// The address of a server, with the fields that a registration shows there.
class Server {
  const Server._(this.base, this.shown);

  /// The server at `https://HOST`, and the link that the user opened. The hash is the SHA-256 of
  /// its domain. Throws a [Reason] `bad_url`.
  factory Server.ofLink(String url, String installCode, String domainHash) {
    final at = _http(url);
    if (at == null) {
      throw Reason('bad_url', 'The address "$url" must begin with https:// and name a host.');
    }
    final shown = {'install_code': installCode, 'domain_hash': domainHash};
    final base = '$at'.replaceFirst(RegExp(r'/+$'), '');
    return Server._('$base/device', shown);
  }

  /// Stands before `/register`, `/inbox`, `/ack` and `/stream`.
  final String base;
  final Map<String, String> shown;

  bool get isDiscovered => shown.containsKey('subscription_url');

  /// Returns the server that the answer to a subscription's fetch names; null: it names none.
  /// `header` gives a header of the answer. Ask your user before you make a device with it.
  static Server? discovered(String fetched, String? Function(String name) header) {
    final path = header('x-device-server') ?? '';
    final from = _http(fetched);
    // A path of the same host, and no way up: the answer names no other server.
    final isWay = _path.hasMatch(path) && !path.split('/').any(const {'.', '..'}.contains);
    if (from == null || !isWay) return null;
    return Server._('${from.origin}$path', {'subscription_url': fetched});
  }

  static final RegExp _path = RegExp(r'^(/[A-Za-z0-9._~-]+)+$');
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
      for (final named in _named.entries)
        if ((facts[named.value] ?? '') != '') named.key: facts[named.value] ?? '',
    };

const Map<String, String> _named = {
  'x-device-os': 'os',
  'x-ver-os': 'os_version',
  'x-device-model': 'device_name',
  'x-app-version': 'app_version',
};
