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
  'README.md',
  'SECURITY.md',
  'bench/',
  'docs/audit.md',
  'docs/backups.md',
  'docs/configuration.md',
  'docs/decisions.md',
  'docs/gateways.md',
  'docs/installing.md',
  'docs/limits.md',
  'docs/moving-in.md',
  'docs/operating.md',
  'docs/outgoing.md',
  'docs/packaging.md',
  'docs/performance.md',
  'docs/settings.md',
  'docs/state-machine.md',
  'docs/upgrading.md',
  'docs/webhooks.md',
  'packaging/',
  'src/app.ts',
  'src/backup/',
  'src/cli/',
  'src/client/',
  'src/clock.ts',
  'src/config/',
  'src/core/',
  'src/core/audit/',
  'src/core/core.ts',
  'src/core/door.ts',
  'src/core/event/',
  'src/core/message/',
  'src/core/outbox/',
  'src/core/port/',
  'src/counts.ts',
  'src/deadline.ts',
  'src/disk/',
  'src/doctor/',
  'src/finding.ts',
  'src/gateway/',
  'src/http/',
  'src/jobs/',
  'src/live-gateways.ts',
  'src/log.ts',
  'src/main.ts',
  'src/monitor/',
  'src/open-core.ts',
  'src/operator-error.ts',
  'src/outgoing/',
  'src/output.ts',
  'src/permissions.ts',
  'src/queue.ts',
  'src/slices.ts',
  'src/stopping.ts',
  'src/systemd.ts',
  'src/tls/',
  'src/version.ts',
  'src/webhook/',
  'src/whereabouts.ts',
  'test/core/audit/',
  'test/core/event/',
  'test/core/outbox/',
];

/** Compared without regard to case, in comments, texts and names alike. */
export const BANNED_WORDS: readonly BannedWord[] = [
  {
    pattern: /\b(?:no|some)body\b/i,
    instead: 'name the subject: no caller, a node, another writer',
  },
  { pattern: /\bwho(?:ever|mever|m)\b/i, instead: 'name the subject: the caller, the owner' },
  { pattern: /(?:\*|\/\/|[.:;]) +(?:Who|Whose)\b/, instead: 'subject, verb, object' },
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
