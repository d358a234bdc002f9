/// The driver of the kit, for `gatepost device check --against` and tests: orders come as lines of
/// JSON on standard input, and results go out in the same form.
library;

import 'dart:async';
import 'dart:convert';
import 'dart:io';

import 'package:gatepost_device/gatepost_device.dart';

void say(Json line) => stdout.writeln(jsonEncode(line));

void sayState(String state, Reason why) => say({
      'said': 'state',
      'state': state,
      'detail': [why.msg, why.text, why.word].firstWhere((text) => text != '', orElse: () => ''),
      'reason': why.word,
      'text': why.text,
      'limit': why.limit,
      'free_url': why.freeUrl,
    });

/// The file of the store: the state of the kit, and the app's effects.
class EffectsStore implements Store {
  EffectsStore(String folder) : _file = File('$folder/device.json') {
    if (!_file.existsSync()) return;
    final Object? kept = jsonDecode(_file.readAsStringSync());
    if (kept is! Json) return;
    _state = kept['state'] as String?;
    effects.addAll((kept['effects'] as List<Object?>).whereType<int>());
  }

  final File _file;
  final List<int> effects = [];
  String? _state;

  @override
  String? read() => _state;

  @override
  void write(String text) {
    _state = text;
    save();
  }

  void save() {
    final next = File('${_file.path}.new');
    next.writeAsStringSync(jsonEncode({'state': _state, 'effects': effects}), flush: true);
    next.renameSync(_file.path);
  }

  Done handle(Delivery got, {required bool inTransaction}) {
    effects.add(got.message.id);
    if (inTransaction) _state = got.state;
    save();
    return inTransaction ? Done.kept : Done.usual;
  }
}

String text(Json from, String name) {
  final value = from[name];
  return value is String ? value : '';
}

PushAddress? address(Object? from) {
  if (from is! Json) return null;
  final token = from['token'];
  return token == null ? null : (gateway: text(from, 'gateway'), token: token);
}

Server? serverOf(Json order) {
  final fetched = order['subscription'];
  if (fetched is Json) {
    final headers = fetched['headers'] as Json;
    return Server.discovered(text(fetched, 'url'), (name) => headers[name] as String?);
  }
  return Server.ofLink(text(order, 'url'), text(order, 'link'), text(order, 'domain_hash'));
}

Device start(Json order, Server server, EffectsStore store) {
  final hwid = order['hwid'];
  final ping = order['ping'];
  final frameMax = order['frame_max'];
  final pace = order['pace'];
  final device = Device(
    server: server,
    store: store,
    facts: {
      'os': text(order, 'os'),
      'os_version': '15',
      'device_name': 'Driver',
      'app_version': '1.0',
    },
    hwid: hwid is String ? hwid : null,
    locale: text(order, 'locale'),
    push: address(order['push']),
    mode: order['mode'] == 'poll' ? Mode.poll : Mode.stream,
    ping: ping is int ? ping : 0,
    frameMax: frameMax is int ? frameMax : 0,
    pace: pace is num ? pace.toDouble() : 1,
    onMessage: (got) {
      say({
        'said': 'message',
        'id': got.message.id,
        'type': got.message.type,
        'title': got.texts.title,
        'text': got.texts.plain,
        'action': got.message.action,
      });
      return store.handle(got, inTransaction: order['transaction'] == true);
    },
  );
  device.statuses.listen((status) {
    if (status.phase != Phase.stopped) sayState(status.phase.name, status.reason);
  });
  return device;
}

/// Returns the device of an order; null: there is none, and the driver has said why.
Device? begin(Json order, EffectsStore store) {
  try {
    final server = serverOf(order);
    if (server != null) return start(order, server, store);
    say({'said': 'nothing'});
  } on Reason catch (reason) {
    sayState('refused', reason);
  }
  return null;
}

Future<void> obey(Json order, Device device, EffectsStore store) async {
  final id = order['id'];
  final data = order['data'];
  switch (text(order, 'do')) {
    case 'push':
      if (data is Json) await device.takePush(data, wasShown: order['shown'] == true);
      break;
    case 'push_token':
      await device.setPush(address(order));
      break;
    case 'opened':
      if (id is int) await device.opened(id);
      break;
    case 'headers':
      say({'said': 'headers', 'headers': await device.headers()});
      break;
    case 'effects':
      say({'said': 'effects', 'ids': store.effects});
      break;
    case 'stop':
      device.stop();
      say({'said': 'stopped'});
      break;
  }
}

Future<void> main() async {
  Device? device;
  EffectsStore? store;
  final lines = stdin.transform(utf8.decoder).transform(const LineSplitter());
  await for (final line in lines) {
    final Object? order = jsonDecode(line);
    if (order is! Json) continue;
    if (text(order, 'do') == 'start') {
      store = EffectsStore(text(order, 'folder'));
      device = begin(order, store);
      if (device == null) continue;
      unawaited(device.run());
      say({'said': 'started'});
    } else if (device != null && store != null) {
      unawaited(obey(order, device, store));
    }
  }
  await stdout.flush();
  exit(0);
}
