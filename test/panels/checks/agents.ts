/** Apps and compressions: what comes through the gate is what the panel sent, byte for byte. */

import { expect } from 'bun:test';
import type { Got } from '../../support/upstream.ts';
import { askBoth, front, hasServers, withCustomers } from '../appliance.ts';
import type { Checks } from '../real-panel-tests.ts';

/** Apps in use and tools, as they call themselves. */
const APPS: Readonly<Record<string, string>> = {
  Happ: 'Happ/3.18.1/ios/2512161820',
  INCY: 'INCY/2.4.0 (Android 15)',
  v2RayTun: 'v2raytun/android',
  Streisand: 'Streisand/1.6.47 CFNetwork/3826 Darwin/24.4.0',
  Shadowrocket: 'Shadowrocket/2750 CFNetwork/3826 Darwin/24.4.0 iPhone15,2',
  V2Box: 'V2Box/9.7 CFNetwork/3826 Darwin/24.4.0',
  v2rayNG: 'v2rayNG/1.10.5',
  v2rayN: 'v2rayN/7.12.5',
  NekoBox: 'NekoBox/Android/1.3.8 (Prefer ClashMeta Format)',
  'Clash Verge Rev': 'clash-verge/v2.3.1',
  FlClashX: 'FlClash X/v0.8.90 Platform/android',
  'Koala Clash': 'koala-clash/v0.2.3',
  mihomo: 'clash.meta/v1.19.12',
  Hiddify: 'HiddifyNext/2.5.7 (android) like ClashMeta v2ray sing-box',
  'sing-box': 'SFA/1.11.9 (Build 523; sing-box 1.11.9; language ru_RU)',
  curl: 'curl/8.14.1',
};
const ENCODINGS = ['', 'identity', 'gzip', 'deflate', 'br', 'zstd', 'gzip, deflate, br, zstd', '*'];

/** Headers of the connection and of the time, those that Gatepost adds, and new sessions. */
const OWN =
  /^(?:date|connection|keep-alive|transfer-encoding|content-length|vary|set-cookie|x-hwid-.*)$/;

const headersOf = ({ headers }: Got, isLeftOut: (name: string) => boolean) =>
  [...headers].filter(([name]) => !OWN.test(name) && !isLeftOut(name)).sort();

export const agentChecks: Checks = (check) => {
  check('sixteen apps and eight compressions get the bytes of the panel', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      const wrong: string[] = [];
      const encodings = new Set<string>();
      let compared = 0;
      for (const [name, agent] of Object.entries(APPS)) {
        for (const encoding of ENCODINGS) {
          const headers = {
            'user-agent': agent,
            accept: '*/*',
            'x-hwid': 'phone-0001',
            ...(encoding !== '' && { 'accept-encoding': encoding }),
          };
          const { own, got, isSame } = await askBoth(panel, gate, customer.path, headers);
          encodings.add(own.headers.get('content-encoding') ?? 'none');
          compared += 1;
          const isLeftOut = (header: string) => !own.headers.has(header) || header === 'announce';
          const [theirs, ours] = [headersOf(own, isLeftOut), headersOf(got, isLeftOut)];
          if (!isSame || !Bun.deepEquals(theirs, ours)) {
            wrong.push(`${name} ${encoding}: ${isSame} ${JSON.stringify([theirs, ours])}`);
          }
          if (!hasServers(got) && (own.headers.get('content-encoding') ?? '') === '') {
            expect({ name, body: own.body.slice(0, 80) }).toEqual({ name, body: 'servers' });
          }
        }
      }
      expect(wrong.slice(0, 3)).toEqual([]);
      expect(await gate.counts()).toEqual([1]);
      await gate.stop();
      return `${compared} answers; the panel compressed: ${[...encodings].join(', ')}`;
    }),
  );
};
