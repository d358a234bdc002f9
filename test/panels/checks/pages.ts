/** Browsers: no page of the panel comes through the gate, and no browser takes a slot. */

import { expect } from 'bun:test';
import { askPanel, front, hasServers, withCustomers } from '../appliance.ts';
import type { Checks } from '../real-panel-tests.ts';

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const BROWSERS: Readonly<Record<string, Record<string, string>>> = {
  Chrome: {
    'user-agent':
      'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
    accept: HTML,
  },
  Safari: {
    'user-agent':
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1',
    accept: HTML,
  },
  'the preview of a messenger': { 'user-agent': 'TelegramBot (like TwitterBot)', accept: HTML },
  'a browser that says little': { 'user-agent': 'Mozilla/5.0', accept: '*/*' },
  'an app that asks for a page': { 'user-agent': 'Happ/3.18.1', accept: HTML },
};
const QUERIES = ['', '?html=1', '?view=html', '?format=html', '?HTML=1'];

export const pageChecks: Checks = (check) => {
  check('no browser gets a page or servers, and none takes a slot', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      const led: string[] = [];
      let pages = 0;
      let withServers = 0;
      for (const { name: route, path } of panel.routes(customer)) {
        for (const [browser, headers] of Object.entries(BROWSERS)) {
          for (const query of QUERIES) {
            const own = await askPanel(panel, path + query, headers);
            const got = await gate.ask(path + query, headers);
            const isPage = (own.headers.get('content-type') ?? '').startsWith('text/html');
            if (isPage && own.status === 200) {
              pages += 1;
              if (hasServers(own)) withServers += 1;
            }
            const isTheirs = got.body !== '' && got.status === 200;
            if (hasServers(got) || isTheirs) led.push(`${route}${query}, ${browser}`);
          }
        }
      }
      expect(led).toEqual([]);
      expect(await gate.counts()).toEqual([]);
      await gate.stop();
      return `the panel answered with ${pages} pages, ${withServers} of them with servers`;
    }),
  );

  check('browsers = "pass" passes pages alone, without a slot', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel, { more: 'browsers = "pass"' });
      // A device makes the link.
      await gate.ask(customer.path, { 'x-hwid': 'phone-0001' });
      const said: string[] = [];
      for (const { name, path } of panel.routes(customer)) {
        const headers = BROWSERS['Chrome'] ?? {};
        const own = await askPanel(panel, path, headers);
        const got = await gate.ask(path, headers);
        const isPage = (own.headers.get('content-type') ?? '').startsWith('text/html');
        const type = isPage ? own.headers.get('content-type') : undefined;
        if (isPage) {
          said.push(name);
          const what = { name, status: got.status, type: got.headers.get('content-type') };
          expect(what).toEqual({ name, status: own.status, type: type ?? '' });
        } else {
          expect({ name, hasServers: hasServers(got) }).toEqual({ name, hasServers: false });
        }
      }
      expect(await gate.counts()).toEqual([1]);
      await gate.stop();
      return `pages: ${said.join(', ') || 'none'}`;
    }),
  );
};
