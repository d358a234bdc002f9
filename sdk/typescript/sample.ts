/** A phone in the terminal: bun sample.ts https://HOST LINK DOMAIN_HASH */

import { Device, fileStore } from './src/index.ts';

const [url = '', link = '', domainHash = ''] = process.argv.slice(2);

const device = new Device({
  url,
  registration: { os: 'linux', install_code: link, domain_hash: domainHash },
  store: fileStore('device.json'),
  locale: Intl.DateTimeFormat().resolvedOptions().locale,
  onMessage({ action, message, texts }) {
    if (action === '') console.log(`${texts.title}\n${texts.plain}`);
    else console.log(`${action}: ${JSON.stringify(message.payload)}`);
  },
  onState: (state, detail, why) => console.log(`(${state}) ${why?.text ?? detail}`),
});

process.on('SIGINT', () => device.close());
console.log(`ended: ${await device.run()}`);
