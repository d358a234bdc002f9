/**
 * Words that a stranger stumbles over, and what to write instead. The rules are in ARCHITECTURE
 * ("Glossary"); tidy.test.ts looks for these in the rooms that are CLEAN.
 */

export interface BannedWord {
  pattern: RegExp;
  instead: string;
}

/** Rooms, files and documents in which no banned word stands. */
export const CLEAN: readonly string[] = [
  'ARCHITECTURE.md',
  'Makefile',
  'README.md',
  'SECURITY.md',
  'bench/',
  'conformance/',
  'docs/',
  'packaging/',
  'sdk/',
  'src/',
  'test/app.test.ts',
  'test/appliance.test.ts',
  'test/backup/',
  'test/cli/',
  'test/client/',
  'test/config/',
  'test/conformance/',
  'test/core/account/',
  'test/core/audit/',
  'test/core/event/',
  'test/core/moving/',
  'test/core/outbox/',
  'test/core/port/',
  'test/deadline.test.ts',
  'test/disk/',
  'test/docs.test.ts',
  'test/guides/',
  'test/http/coverage/',
  'test/jobs/',
  'test/monitor/',
  'test/mutation/',
  'test/outgoing/',
  'test/outward.test.ts',
  'test/packaging/',
  'test/panel/',
  'test/permissions.test.ts',
  'test/port-holder.test.ts',
  'test/queue.test.ts',
  'test/run.ts',
  'test/slices.test.ts',
  'test/state-machine.test.ts',
  'test/systemd.test.ts',
  'test/webhook/',
];

/** Compared without regard to case, in comments, texts and names alike. */
export const BANNED_WORDS: readonly BannedWord[] = [
  {
    pattern: /\b(?:no|some|any)body\b/i,
    instead: 'name the subject: no caller, a node, another writer',
  },
  { pattern: /\bwho(?:ever|mever|m)\b/i, instead: 'name the subject: the caller, the owner' },
  { pattern: /(?:\*|\/\/|[.:;]) +(?:Who|Whose)\b/, instead: 'subject, verb, object' },
  { pattern: /(?:\*|\/\/) +What\b/, instead: 'a verb in the third person, or the noun' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\b(?:told|tells?) of\b/i, instead: 'reports, mentions' },
  { pattern: /\b(?:in|into) force\b/i, instead: 'current, active, applies' },
  { pattern: /\ball the same\b/i, instead: 'nevertheless, still' },
  {
    pattern: /\bgood once\b|\bis theirs\b|\bas (?:it|they) ha(?:s|ve) (?:it|them)\b/i,
    instead: 'for one use; of the …',
  },
  { pattern: /\b(?:get|got|gets|getting)s? hold of\b/i, instead: 'claim, acquire' },
  { pattern: /\b(?:is|are|be|was|were) told\b/i, instead: 'is notified, receives, logs' },
  { pattern: /\bon (?:its|their) way\b/i, instead: 'in flight, starting, pending' },
  { pattern: /\bcannot be (?:had|meant)\b/i, instead: 'is invalid, is in use, cannot be combined' },
  { pattern: /\b(?:is|are) (?:had|meant)\b/i, instead: 'name what happens' },
  { pattern: /\b(?:goes|gone|went) on with\b/i, instead: 'continues, is reused' },
  { pattern: /\bbe it that\b|\bof each the\b|\bhas its say\b/i, instead: 'plain order of words' },
  { pattern: /\blooks? again\b/i, instead: 'retries, checks again' },
  {
    pattern: /\b(?:Told|Saying|News|Knock|Knocks|hasKnocked|knockAt)\b/,
    instead: "the field's word",
  },
  { pattern: /\blets? go of\b/i, instead: 'releases, closes, drops' },
  { pattern: /\bthe way (?:there|to PostgreSQL)\b/i, instead: 'the connection' },
];
