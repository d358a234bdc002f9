/** The appliance of the tests itself: what it hides, no test can see. */

import { expect, test } from 'bun:test';
import { call, seedProvider, startTestApp } from './support/app.ts';
import { Faults } from './support/faults.ts';

async function withFault(): Promise<Awaited<ReturnType<typeof startTestApp>>> {
  const faults = new Faults();
  const app = await startTestApp({}, faults.wrap);
  const own = await seedProvider(app);
  faults.arm('listLinksOf', new Error('broken here'));
  await call(app, '/api/list-install', own);
  return app;
}

test('an unexpected fault fails the test that closes the appliance', async () => {
  const app = await withFault();
  expect(app.close()).rejects.toThrow(/^faults that no test expects:\n.*broken here/);
});

test('a fault that is expected does not', async () => {
  const app = await withFault();
  app.expectFault('broken here');
  await app.close();
});

test('a fault that is expected and does not come fails it too', async () => {
  const app = await startTestApp();
  app.expectFault('broken here');
  expect(app.close()).rejects.toThrow('expected faults that did not come: broken here');
});
