/** What Marzban and PasarGuard, which grew from it, have in common. */

import type { Customer, State } from '../panel.ts';

const DAY_SECONDS = 86_400;

/** Returns a token of the administrator in an address. */
export async function logIn({ origin, username, password }: URL): Promise<string> {
  const body = new URLSearchParams({ username, password });
  const answer = await fetch(`${origin}/api/admin/token`, { method: 'POST', body });
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** Returns the customer whom the API made. */
export function customerOf(name: string, made: unknown): Customer {
  const { subscription_url: url } = made as { subscription_url: string };
  const { pathname: path } = new URL(url, 'http://panel.example.com');
  return { name, id: name, key: path.slice('/sub/'.length), path };
}

/** Returns what a state is in the fields of a user. `used-up` needs traffic, which no API adds. */
export function statesOf(times: 'seconds' | 'words'): Record<State, object> {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const at = (seconds: number) =>
    times === 'seconds' ? seconds : new Date(seconds * 1_000).toISOString();
  return {
    active: { status: 'active', expire: at(nowSeconds + 30 * DAY_SECONDS), data_limit: 0 },
    disabled: { status: 'disabled' },
    expired: { expire: at(nowSeconds - DAY_SECONDS) },
    'used-up': { data_limit: 1 },
    'on-hold': { status: 'on_hold', expire: 0, on_hold_expire_duration: 30 * DAY_SECONDS },
  };
}
