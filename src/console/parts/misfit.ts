/** The refusal of a value, in words of the page and at its field. */

import { Refusal } from '../call.ts';
import { texts, wordsFor } from '../state.ts';
import { number } from './format.ts';

/** Fields of the API whose control has another name. */
const CONTROLS: Readonly<Record<string, string>> = {
  background_image: 'picture',
  expire_days: 'days',
  install_limit: 'limit',
  link_for_open: 'link',
  send_date: 'when',
  send_time: 'when',
  type_push: 'type',
  domain_name: 'host',
  chat_id: 'chat',
  the: 'token',
};

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Returns the control of the field that begins a text: `note must be …`, `form.title: …`. */
function controlIn(form: HTMLFormElement, detail: string): Control | null {
  const named = /^([\w./-]+)/.exec(detail)?.[1] ?? '';
  const last = named.split(/[./]/).at(-1) ?? '';
  const camel = last.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  for (const name of [last, camel, CONTROLS[last] ?? '']) {
    const found = name === '' ? null : form.elements.namedItem(name);
    if (found instanceof HTMLElement && !found.matches('[type=hidden]')) return found as Control;
  }
  return null;
}

/** Returns the rule of a text in words of the page; null: it is another rule. */
function ruleIn(detail: string): string | null {
  const words = texts.misfit;
  const [, least, most] = /(\d+) to (\d+)\b/.exec(detail) ?? [];
  const [, longest] = /(?:up to|less or equal to) (\d+)\b/.exec(detail) ?? [];
  const isText = /character|length/.test(detail);
  if (least !== undefined && most !== undefined) {
    return (isText ? words.length : words.range)(number(Number(least)), number(Number(most)));
  }
  if (longest !== undefined && isText) return words.length(number(0), number(Number(longest)));
  const [, placeholder] = /placeholder (\{[^}]*\})/.exec(detail) ?? [];
  if (placeholder !== undefined) return words.placeholder(placeholder);
  if (/https|URL/i.test(detail)) return words.address;
  if (/Required|blank|empty/.test(detail)) return words.empty;
  return null;
}

/** Removes the marks of the last refusal. */
export function unmark(form: HTMLFormElement): void {
  for (const one of form.querySelectorAll('[aria-invalid]')) one.removeAttribute('aria-invalid');
}

const isMisfit = (fault: unknown): fault is Refusal =>
  fault instanceof Refusal && fault.says === 'malformed';

/**
 * Returns the words for a fault at no field. Of another rule the server's own text is all that says
 * what to do, as of lines of a configuration.
 */
export function wordsAlone(fault: unknown): string {
  if (!isMisfit(fault)) return wordsFor(fault);
  const detail = fault.detail ?? '';
  return `${texts.misfit.somewhere} ${ruleIn(detail) ?? detail}`;
}

/**
 * Returns the words for a fault of a form. Marks the field that has no fitting value, and gives it
 * the focus; the words begin with its label.
 */
export function wordsIn(form: HTMLFormElement, fault: unknown): string {
  const detail = isMisfit(fault) ? (fault.detail ?? '') : null;
  const control = detail === null ? null : controlIn(form, detail);
  if (detail === null || control === null) return wordsAlone(fault);
  control.setAttribute('aria-invalid', 'true');
  control.focus();
  const label = control.labels?.[0]?.firstChild?.textContent ?? '';
  return `${label}: ${ruleIn(detail) ?? texts.misfit.other}`;
}
