/** A phone in the terminal: bun sample.ts https://HOST LINK DOMAIN_HASH */

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Device } from './src/index.ts';

const [url = '', link = '', domainHash = ''] = process.argv.slice(2);
const path = 'device.json';

const device = new Device({
  url,
  registration: { os: 'linux', install_code: link, domain_hash: domainHash },
  store: {
    read: () => (existsSync(path) ? readFileSync(path, 'utf8') : null),
    write(text) {
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    },
  },
  locale: Intl.DateTimeFormat().resolvedOptions().locale,
  onMessage({ action, message, texts }) {
    if (action === '') console.log(`${texts.title}\n${texts.plain}`);
    else console.log(`${action}: ${JSON.stringify(message.payload)}`);
  },
  onState: (state, detail) => console.log(`(${state}) ${detail}`),
});

process.on('SIGINT', () => device.close());
console.log(`ended: ${await device.run()}`);
