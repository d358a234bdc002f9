/** The state that all pages share: the texts, the session, and the address of the page. */

import { computed, signal } from '@preact/signals';
import type { CallName, Got } from '../call/table.ts';
import { call, Refusal } from './call.ts';
import { forgetDrafts } from './drafts.ts';
import type { BaseTexts, OperatorTexts, ReminderTexts, Texts } from './texts/texts.ts';

type Me = NonNullable<Got<'session.me'>>;

/** The texts of the language that the server chose; set before the first page is drawn. */
export let texts: Texts;

const allTexts: Partial<Texts> = {};

export function setTexts(loaded: BaseTexts): void {
  texts = Object.assign(allTexts, loaded) as Texts;
}

/** Loads the texts of the operator's pages. */
async function loadOperatorTexts(): Promise<void> {
  const { operatorTexts: file } = document.documentElement.dataset;
  if (file === undefined || allTexts.providers !== undefined) return;
  Object.assign(allTexts, ((await import(file)) as { texts: OperatorTexts }).texts);
}

const REMINDER_TEXTS: Record<string, () => Promise<{ texts: ReminderTexts }>> = {
  en: () => import('./texts/en/reminders.ts'),
  ru: () => import('./texts/ru/reminders.ts'),
  zh: () => import('./texts/zh/reminders.ts'),
  fa: () => import('./texts/fa/reminders.ts'),
};

/** Loads the texts of the page of reminders. */
export async function loadReminderTexts(): Promise<void> {
  Object.assign(allTexts, (await REMINDER_TEXTS[document.documentElement.lang]?.())?.texts);
}

/** The session: null without one, undefined until the server has answered. */
export const me = signal<Me | null | undefined>(undefined);

const address = signal(new URL(location.href));

export const path = computed(() => address.value.pathname.replace(/\/+$/, '') || '/console');
export const query = computed(() => address.value.searchParams);

/** The providers at which a person has a role. Empty for an operator, who searches for them. */
export const providers = signal<readonly { code: string; name: string }[]>([]);

/** True for an operator and an observer. */
export const isOfAppliance = computed(
  () => me.value?.grants.some(({ code }) => code === null) ?? false,
);

/**
 * The code of the provider in the address; null: the page is about the appliance, or about none.
 */
export const at = computed(() => {
  const wanted = query.value.get('at');
  if (isOfAppliance.value) return wanted;
  const known = providers.value.some(({ code }) => code === wanted);
  return known ? wanted : (providers.value[0]?.code ?? null);
});

/** Returns whether the person has the right to a call here. The server checks it again. */
export function may(name: CallName): boolean {
  const grants = me.value?.grants ?? [];
  const here = at.value;
  return grants.some(({ calls, code }) => (code === null || code === here) && calls.includes(name));
}

/** Goes to a page with these parameters; `null` removes one from the address. */
export function go(
  to: string,
  more: Record<string, string | null> = {},
  how: 'push' | 'replace' = 'push',
): void {
  const next = new URL(to, location.origin);
  const kept = query.value.get('at');
  if (kept !== null) next.searchParams.set('at', kept);
  for (const [name, value] of Object.entries(more)) {
    if (value === null) next.searchParams.delete(name);
    else next.searchParams.set(name, value);
  }
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', next);
  address.value = next;
}

/** Changes parameters of the address and stays on the page; `null` removes one. */
export function goHere(
  more: Record<string, string | null>,
  how: 'push' | 'replace' = 'replace',
): void {
  go(path.value, { ...Object.fromEntries(query.value), ...more }, how);
}

addEventListener('popstate', () => {
  address.value = new URL(location.href);
});

const steadyMs = () => Number(document.timeline.currentTime ?? 0);
let askedMs = 0;

/** The time of the server, UTC ms: the clock of a phone may be wrong by hours. */
export const nowMs = () => (me.value?.nowMs ?? 0) + steadyMs() - askedMs;

/** Asks the server for the session. */
export async function askMe(): Promise<void> {
  const found = await call('session.me', {});
  if (found !== null) {
    if (found.grants.some(({ code }) => code === null)) await loadOperatorTexts();
    providers.value = found.grants.flatMap(({ code, name }) =>
      code === null ? [] : [{ code, name: name ?? '' }],
    );
  }
  if (found !== null) forgetDrafts(found.name);
  askedMs = steadyMs();
  me.value = found;
}

export async function signOut(): Promise<void> {
  await call('session.leave', {});
  forgetDrafts(null);
  me.value = null;
}

/** Returns the text for a fault. If the session has ended, goes to the sign-in. */
export function wordsFor(fault: unknown): string {
  if (!(fault instanceof Refusal)) throw fault;
  if (fault.says === 'signed_out') me.value = null;
  const own = (texts.refusals as Readonly<Record<string, string>>)[fault.says];
  return own ?? fault.detail ?? texts.refusals.fault;
}

/** Saves theme and language in a cookie for the server, and redraws the page. */
export function setLook(theme: string, language: string): void {
  const rules = 'Path=/; Secure; SameSite=Strict; Max-Age=31536000';
  // biome-ignore lint/suspicious/noDocumentCookie: Safari has had the Cookie Store API for a year
  document.cookie = `__Host-gatepost-look=${theme}.${language}; ${rules}`;
  location.reload();
}
