/** The operator's calls about accounts: invited, changed, helped; one operator stays. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
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

test('an invitation dies with the member who made it, at each kind of place', async () => {
  const { code, authKey } = await seedProvider(app);
  const provider = new ConsoleBrowser(app.url);
  await provider.get('session.key', { code, key: authKey });
  const join = async (secret: string, name: string) => {
    const browser = new ConsoleBrowser(app.url);
    await browser.get('session.invited', { secret, name });
    return browser;
  };
  const refusalOf = (secret: string) =>
    new ConsoleBrowser(app.url).refusal('session.invited', { secret, name: 'eve' });
  const inviteTo = { at: code, role: 'owner' } as const;

  const anna = await join((await provider.get('staff.invite', inviteTo)).secret, 'anna');
  const boris = await join((await provider.get('staff.invite', inviteTo)).secret, 'boris');
  const members = await provider.get('staff.list', { at: code });
  const idOf = (name: string) => members.find((one) => one.name === name)?.id ?? 0;

  const first = await anna.get('staff.invite', inviteTo);
  await provider.get('staff.change-role', { at: code, id: idOf('anna'), role: 'reader' });
  expect(await refusalOf(first.secret)).toBe('sign_in_wrong');

  const second = await boris.get('staff.invite', inviteTo);
  await operator.get('accounts.reset', { name: 'boris' });
  expect(await refusalOf(second.secret)).toBe('sign_in_wrong');

  const third = await provider.get('staff.invite', inviteTo);
  const rotated = await operator.get('providers.rotate', { code, keepOldHours: 24 });
  expect(rotated).toMatchObject({ sessionCount: 1, invitationCount: 1 });
  expect(await refusalOf(third.secret)).toBe('sign_in_wrong');

  const carl = await invited('carl', 'operator');
  const fourth = await carl.get('accounts.invite', { role: 'operator' });
  await operator.get('accounts.remove', { id: (await roles())['carl']?.id ?? 0 });
  expect(await refusalOf(fourth.secret)).toBe('sign_in_wrong');
  expect(Object.keys(await roles())).toEqual(['olga']);
});
