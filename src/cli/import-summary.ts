/** The end of an import in print: the arrivals, the rest, and the next steps. */

import type { Tally } from '../core/moving/tally.ts';
import type { Plan } from '../core/port/provider.ts';
import { table } from './table.ts';
import { planNote } from './terms.ts';

interface Summary {
  providerCode: string;
  /** The plan here. */
  plan: Plan;
  tally: Tally;
  /** False: it was interrupted or failed, and goes on when run again. */
  isComplete: boolean;
  /** The source is another server; otherwise a file. */
  isFromServer: boolean;
}

export function summaryJson({ providerCode, tally, isComplete }: Summary) {
  return {
    provider_code: providerCode,
    complete: isComplete,
    links: {
      listed: tally.linksListed,
      ...tally.links,
      code_taken: tally.codesTaken,
      over_cap: tally.overCap,
      vanished: tally.vanished,
      refused: tally.refused,
    },
    hwids: {
      added: tally.slots.added,
      present: tally.slots.present,
      without_room: tally.slots.withoutRoom,
    },
    domains: tally.domains,
    domains_over_cap: tally.domainsOverCap,
    unusable: tally.unusable,
    mended: tally.mended,
    new_ids: tally.newIds,
    links_end_at_id: tally.linksEndAtId,
    domains_end_at_id: tally.domainsEndAtId,
    distributions_waiting: tally.distributionsWaiting,
    problems: tally.problems,
  };
}

export function summaryText(summary: Summary): string {
  const { tally } = summary;
  const rows = [
    { noun: 'links', ...tally.links },
    { noun: 'HWIDs', ...tally.slots, updated: '', different: '' },
    { noun: 'domains', ...tally.domains },
  ];
  const parts = [
    table(rows, {
      '': 'noun',
      CAME: 'added',
      'HERE ALREADY': 'present',
      UPDATED: 'updated',
      'DIFFERENT HERE': 'different',
    }),
    ...missing(summary),
    ...(tally.problems.length > 0 ? ['', 'The first of what went otherwise:'] : []),
    ...tally.problems.map((problem) => `  ${problem}`),
    ...nextSteps(summary),
  ];
  return parts.join('\n');
}

/** Lines for the records that did not come, or not as they were. */
function missing({ tally, isFromServer, isComplete }: Summary): string[] {
  const counts: [number, string][] = [
    [tally.codesTaken, 'links left out: their codes are another provider’s here'],
    [tally.overCap, 'links left out: beyond the provider’s cap (provider set --max-links)'],
    [
      tally.domainsOverCap,
      'domains left out: beyond the cap (the setting limits.domains_per_provider_max)',
    ],
    [tally.slots.withoutRoom, 'HWIDs left out: their links are full here'],
    [tally.vanished, 'links vanished from the source meanwhile'],
    [tally.refused, 'links left out: the source did not tell their HWIDs'],
    [tally.unusable, 'records left out: not as the API specifies them'],
    [tally.mended, 'records made fit: texts of one line, not too long; no time to come'],
    [tally.newIds, 'links or domains with another id than at the source'],
  ];
  const lines = counts.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
  const { linksEndAtId, domainsEndAtId, distributionsWaiting: waiting } = tally;
  if (linksEndAtId !== null) {
    lines.push(
      `The source lists only its newest links, down to id ${linksEndAtId}. Older ones can be asked`,
      `for one by one: --ids FROM-TO, such as --ids 1-${linksEndAtId - 1}`,
    );
  }
  if (domainsEndAtId !== null) {
    lines.push(`The source lists only its newest domains, down to id ${domainsEndAtId}.`);
  }
  if (isFromServer && isComplete && waiting === null) {
    lines.push('The source did not tell whether notifications or commands wait there.');
  }
  if (waiting !== null && waiting > 0) {
    lines.push(
      `${waiting} notifications or commands still wait at the source. The API does not tell what they`,
      'say: let them run out there, or cancel them there and send them again here.',
    );
  }
  return lines.length > 0 ? ['', ...lines] : [];
}

function nextSteps({ providerCode, plan, isComplete, isFromServer }: Summary): string[] {
  if (!isComplete) return ['', 'Not all is here yet: run the same command again to go on.'];
  const step = `Next: point the base address of the bots and apps of ${providerCode} to this server.`;
  if (!isFromServer) return ['', step];
  const untold = 'The API tells neither plan nor last day: see';
  return [
    '',
    step,
    `${untold} provider show ${providerCode}, and provider set.`,
    `Its plan here is ${planNote(plan)}.`,
  ];
}
