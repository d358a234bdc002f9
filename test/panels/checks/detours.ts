/** Requests that a real panel may answer with servers of a customer: a table to extend. */

import { HOST } from '../../support/upstream.ts';
import type { Customer, RealKind, RealPanel } from '../panel.ts';
import { spellings } from './spellings.ts';

interface Detour {
  name: string;
  path: string;
  headers: Record<string, string>;
}

/** Other ways in which Hiddify takes a customer: zeros, and credentials. */
async function hiddifyWays({ lines }: RealPanel, { key, path }: Customer) {
  const users = path.split('/')[1];
  const zeros = ['0', '00', '000', '0000'].map((zero) => ({
    name: `behind ${zero}`,
    path: `/${users}/${zero}/${key}/auto`,
    headers: {},
  }));
  const url = /^url = "(.*)"/m.exec(lines)?.[1];
  const answer = await fetch(`${url}${path}`, { headers: { host: HOST, 'user-agent': 'Happ/3' } });
  const session = /session=[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0] ?? '';
  const credentials: Record<string, Record<string, string>> = {
    'the key of its API': { 'Hiddify-API-Key': key },
    'a name of Basic': { authorization: `Basic ${btoa(`${key}:`)}` },
    'the cookie of a session': { cookie: session },
  };
  const routes = ['client/auto', '0/auto', '000/sub', 'api/v2/user/all-configs/'];
  return [
    ...zeros,
    ...Object.entries(credentials).flatMap(([name, headers]) =>
      routes.map((route) => ({
        name: `${route} with ${name}`,
        path: `/${users}/${route}`,
        headers,
      })),
    ),
  ];
}

/** Returns requests of a third device, and of a browser, of which none may get servers. */
export async function detours(panel: RealPanel, customer: Customer): Promise<Detour[]> {
  const { path } = customer;
  const third = { 'x-hwid': 'a-third' };
  const page = { accept: 'text/html', 'user-agent': 'Mozilla/5.0' };
  const ways = panel.kind === 'hiddify' ? await hiddifyWays(panel, customer) : [];
  return [
    ...Object.entries(spellings(customer)).map(([name, spelled]) => ({
      name,
      path: spelled,
      headers: third,
    })),
    ...panel.routes(customer).map(({ name, path: at }) => ({ name, path: at, headers: third })),
    ...['/json/', '/clash/'].map((route) => ({
      name: route,
      path: path.replace(/^\/sub\//, route),
      headers: third,
    })),
    ...['', '?html=1', '?view=html'].map((query) => ({
      name: `a browser ${query}`,
      path: `${path}${query}`,
      headers: page,
    })),
    { name: 'the page of the customer', path: path.replace(/auto$/, ''), headers: page },
    ...ways.map((way) => ({ ...way, headers: { ...way.headers, ...third } })),
  ];
}

/** Returns addresses whose answer is a 2xx and no subscription. */
export function noSubscriptions(kind: RealKind, { path, key }: Customer): string[] {
  const users = path.split('/')[1];
  return {
    '3x-ui': [`${path}?format=info`],
    marzban: [`${path}/info`, `${path}/usage`],
    pasarguard: [`${path}/info`, `${path}/usage`, `${path}/apps`],
    hiddify: [
      ...[`/${users}/any/generate_204`, `/${users}/${key}/generate_204`],
      ...[`/${users}/0/`, `/${users}/static/css/custom.css`],
    ],
  }[kind];
}

/** Returns a request whose answer has the address of the subscription, and the header with it. */
export function asHost(kind: RealKind, { path }: Customer): { name: string; path: string } {
  if (kind === 'hiddify') return { name: 'location', path: path.replace(/\/auto$/, '') };
  return { name: 'profile-web-page-url', path };
}
