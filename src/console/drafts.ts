/**
 * Unsent input of forms, in this browser: it comes back after a change of language,
 * another page, a reload or the end of a session, until it is sent or thrown away, or the person
 * signs out. A form without a name keeps none: see {@link useDraft} for which those are.
 */

const PREFIX = 'draft of ';
/** The most drafts, and characters of one; what is beyond is not kept. */
const COUNT_MAX = 20;
const LENGTH_MAX = 64_000;

/** The values of controls by name; empty for a box that is not ticked. */
export type Draft = Readonly<Record<string, string>>;

const nameOf = (who: string, form: string) => `${PREFIX}${who}\n${form}`;

function names(): string[] {
  return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
}

/** Returns the draft of a person's form; null: there is none. */
export function keptDraft(who: string, form: string): Draft | null {
  try {
    return JSON.parse(localStorage.getItem(nameOf(who, form)) ?? 'null') as Draft | null;
  } catch {
    return null;
  }
}

/** Keeps a draft; null drops it. */
export function keepDraft(who: string, form: string, draft: Draft | null): void {
  const name = nameOf(who, form);
  const text = JSON.stringify(draft);
  try {
    const isFull = !names().includes(name) && names().length >= COUNT_MAX;
    if (draft === null || text.length > LENGTH_MAX || isFull) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // The browser stores nothing.
  }
}

/** Drops the drafts of all persons but one; null: of all. */
export function forgetDrafts(but: string | null): void {
  try {
    const gone = names().filter((name) => but === null || !name.startsWith(nameOf(but, '')));
    for (const name of gone) localStorage.removeItem(name);
  } catch {
    // The browser stores nothing.
  }
}
