/// A phone in the terminal: dart run example/sample.dart https://HOST LINK DOMAIN_HASH
library;

import 'package:gatepost_device/gatepost_device.dart';

Future<void> main(List<String> words) async {
  final device = Device(
    server: Server.ofLink(words[0], words[1], words[2]),
    store: FileStore('device.json'),
    facts: const {'os': 'linux'},
    locale: 'en',
    mode: Mode.stream,
    onMessage: (got) {
      final action = got.message.action;
      print(action.isEmpty
          ? '${got.texts.title}\n${got.texts.plain}'
          : '$action: ${got.message.payload}');
      return Done.usual;
    },
  );
  device.statuses.listen((status) => print('(${status.phase.name}) ${status.reason}'));
  await device.run();
}
