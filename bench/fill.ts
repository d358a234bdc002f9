/** Fills an appliance through its own API with what `load.lua` asks for, whatever its schema. */

import { hostHash } from '../src/core/host-name.ts';
import { ask, type Bench, forAll, who } from './driver.ts';
import { DEVICE, domainHash, hwidOf, linkCode, type Shape } from './shape.ts';

const CALLERS = 64;

/** Makes `dataDir`. Of `shape` there may be one provider, and as many devices as links. */
export async function fillThroughApi(
  bench: Bench,
  dataDir: string,
  { linkCount }: Shape,
  executable = bench.executable,
): Promise<void> {
  bench.progress(`${linkCount} links and as many devices`);
  bench.addProvider(dataDir, 1, {}, executable);
  const server = await bench.serve(dataDir, {}, executable);
  try {
    const api = (path: string, query: string) => ask(`${server.url}/api/${path}?${who()}&${query}`);
    for (const hash of [domainHash(1), hostHash('sub.example.com')]) {
      await api('add-domain', `domain_hash=${hash}`);
    }
    await forAll(1, linkCount + 1, CALLERS, (n) => {
      const code = linkCode(n);
      const own = `install_code=${code}&subscription_key=key-${code}`;
      return api('add-install', `install_limit=100&note=customer&${own}`);
    });
    await forAll(1, linkCount + 1, CALLERS, (n) => {
      const knock = `${server.url}/install?id=${domainHash(1)}&installid=${linkCode(n)}`;
      return ask(knock, undefined, { ...DEVICE, 'x-hwid': hwidOf(n) });
    });
  } finally {
    await server.stop();
  }
}
