/** What proxies ask about requests of devices: nearly right, or told by several that disagree. */

import type { Random } from '../support/random.ts';
import { anyText, queryText, spoiltText } from './grammar.ts';
import { GATE_HOST, keyOf, type Scene } from './scene.ts';

const TOLD = ['x-original-uri', 'x-forwarded-uri', 'x-original-url'] as const;
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'get', ''];
const HOSTS = [GATE_HOST, GATE_HOST, `${GATE_HOST.toUpperCase()}.:443`, '[::1]', 'a, b', '', 'Я'];
const ODD = ['//', '/./', '/../', '%2f', '%2e%2e/', '\\', ';a=b/', '%00', '%ff', '%', '#', '?'];

/** The head of a question at the gate. */
export function gateQuestion(random: Random, scene: Scene): string[] {
  const uri = uriOf(random, scene);
  if (random.chance(0.4)) {
    const told = [`x-original-uri: ${uri}`, `x-forwarded-host: ${GATE_HOST}`];
    const hwid = `x-hwid: ${random.pick(scene.hwids)}`;
    return ['GET /gate HTTP/1.1', 'host: a', ...told, hwid].map(inOneLine);
  }
  const own = random.chance(0.3) ? `?provider_code=${random.pick(scene.credentials).code}` : '';
  const envoy = random.chance(0.2) ? `${own === '' ? '?' : `${own}&`}uri=${uri}` : own;
  const lines = [`${random.pick(['GET', 'GET', 'POST', 'HEAD'])} /gate${envoy} HTTP/1.1`];
  lines.push(`host: ${random.pick(HOSTS)}`);
  for (const name of TOLD) {
    if (!random.chance(0.4)) continue;
    const told = random.chance(0.9) ? uri : uriOf(random, scene);
    lines.push(
      `${name}: ${name === 'x-original-url' ? `https://${random.pick(HOSTS)}` : ''}${told}`,
    );
  }
  for (const name of ['x-forwarded-method', 'x-original-method']) {
    if (random.chance(0.5)) lines.push(`${name}: ${random.pick(METHODS)}`);
  }
  if (random.chance(0.7)) lines.push(`x-forwarded-host: ${random.pick(HOSTS)}`);
  if (random.chance(0.9)) lines.push(`x-hwid: ${random.pick([...scene.hwids, 'fuzz-gate', ''])}`);
  if (random.chance(0.3)) lines.push(`x-device-info: ${anyText(random)}`);
  return lines.map(inOneLine);
}

const inOneLine = (text: string) => text.replace(/[^\x20-\x7e\xa0-\xff]/g, '?');

function uriOf(random: Random, { codes, hwids }: Scene): string {
  const code = random.pick(codes);
  const key = random.chance(0.8) ? keyOf(random.pick(codes)) : queryText(random, anyText(random));
  const queries = [`installid=${code}`, `InstallID=${code}&installid=${code}`, 'uri=/sub/a'];
  queries.push(`hwid=${random.pick(hwids)}`, 'provider_code=A', queryText(random, anyText(random)));
  const query = random.chance(0.6) ? `?${random.pick(queries)}&${random.pick(queries)}` : '';
  const uri = `${random.pick(['/sub/', '/sub/', '/SUB/', '/'])}${key}${query}`.slice(0, 9_000);
  if (random.chance(0.1)) return spoiltText(random, uri);
  return random.chance(0.2) ? uri.replace('/', () => random.pick(ODD)) : uri;
}
