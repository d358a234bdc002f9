/** The operator's calls about accounts: invited, changed, helped; one operator stays. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';
import { operatorBrowser } from '../../support/operator.ts';

let app: TestApp;
let operator: ConsoleBrowser;
beforeEach(async () => {
  app = await startTestApp();
  operator = await operatorBrowser(app);
});
afterEach(() => app.close());

async function invited(name: string, role: 'operator' | 'observer') {
  const { secret } = await operator.get('accounts.invite', { role });
  const browser = new ConsoleBrowser(app.url);
  await browser.get('session.invited', { secret, name });
  return browser;
}

const roles = async () => {
  const all = await operator.get('accounts.list', {});
  return Object.fromEntries(all.map(({ id, name, role }) => [name, { id, role }]));
};

test('an observer is invited, becomes an operator, and is removed', async () => {
  const anna = await invited('anna', 'observer');
  expect(await anna.refusal('accounts.invite', { role: 'observer' })).toBe('no_right');
  const { id = 0 } = (await roles())['anna'] ?? {};
  await operator.get('accounts.change-role', { id, role: 'operator' });
  expect(await anna.refusal('accounts.invite', { role: 'observer' })).toBeUndefined();
  await operator.get('accounts.remove', { id });
  expect(Object.keys(await roles())).toEqual(['olga']);
  expect(await anna.refusal('accounts.list', {})).toBe('signed_out');
});

test('the last operator stays', async () => {
  const { id = 0 } = (await roles())['olga'] ?? {};
  expect(await operator.refusal('accounts.remove', { id })).toBe('last_of_role');
  expect(await operator.refusal('accounts.change-role', { id, role: 'observer' })).toBe(
    'last_of_role',
  );
  expect(await operator.refusal('accounts.remove', { id: id + 9 })).toBe('account_not_found');
});

test('what gives rights away needs a sign-in of the last ten minutes', async () => {
  await invited('anna', 'observer');
  const { id = 0 } = (await roles())['anna'] ?? {};
  app.clock.advance(11 * 60_000);
  const refusals = [
    await operator.refusal('accounts.invite', { role: 'observer' }),
    await operator.refusal('accounts.change-role', { id, role: 'operator' }),
    await operator.refusal('accounts.reset', { name: 'anna' }),
  ];
  expect(refusals).toEqual(['sign_in_afresh', 'sign_in_afresh', 'sign_in_afresh']);
  // What takes rights away does not.
  expect(await operator.get('accounts.end-sessions', { name: 'anna' })).toEqual({ count: 1 });
  expect(await operator.get('accounts.remove', { id })).toBe('ok');
});

test('sessions of an account end; a reset gives a link for one use', async () => {
  const anna = await invited('anna', 'observer');
  await anna.get('account.password', { password: 'a long enough password' });
  expect(await operator.get('accounts.end-sessions', { name: 'Anna' })).toEqual({ count: 1 });
  expect(await anna.refusal('accounts.list', {})).toBe('signed_out');
  const { secret } = await operator.get('accounts.reset', { name: 'anna' });
  const given = { name: 'anna', password: 'a long enough password', code: '' };
  expect(await anna.refusal('session.password', given)).toBe('sign_in_wrong');
  await anna.get('session.entry', { secret });
  expect(await anna.refusal('session.entry', { secret })).toBe('sign_in_wrong');
  expect(await operator.refusal('accounts.reset', { name: 'nobody' })).toBe('account_not_found');
});
