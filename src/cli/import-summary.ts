/** The summary of an import: imported records, omitted ones, and next steps. */

import { counted } from '../core/counted.ts';
import type { Tally } from '../core/moving/tally.ts';
import type { Plan } from '../core/port/provider.ts';
import { table } from './table.ts';
import { planNote } from './terms.ts';

interface Summary {
  providerCode: string;
  /** The plan of the provider here. */
  plan: Plan;
  tally: Tally;
  /** False: it was interrupted or failed; running it again continues. */
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
      removed_here: tally.codesEnded,
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
    ...(tally.problems.length > 0 ? ['', 'The first problems:'] : []),
    ...tally.problems.map((problem) => `  ${problem}`),
    ...nextSteps(summary),
  ];
  return parts.join('\n');
}

/** Plurals that do not only add an s. */
const PLURALS: Readonly<Record<string, string>> = { 'link or domain': 'links or domains' };

/** Returns lines about omitted and changed records. */
function missing({ tally, isFromServer, isComplete }: Summary): string[] {
  const counts: [count: number, noun: string, what: string][] = [
    [tally.codesTaken, 'link', 'omitted: another provider has the code here'],
    [tally.codesEnded, 'link', 'omitted: removed or revoked here'],
    [tally.overCap, 'link', 'omitted: over the cap of the provider (provider set --max-links)'],
    [tally.domainsOverCap, 'domain', 'omitted: over the cap (limits.domains_per_provider_max)'],
    [tally.slots.withoutRoom, 'HWID', 'omitted: the link is full here'],
    [tally.vanished, 'link', 'omitted: removed from the source during the import'],
    [tally.refused, 'link', 'omitted: the source refused to list the HWIDs'],
    [tally.unusable, 'record', 'omitted: contrary to the specification of the API'],
    [tally.mended, 'record', 'corrected: long or multi-line texts, times in the future'],
    [tally.newIds, 'link or domain', 'with another id than at the source'],
  ];
  const lines = counts.flatMap(([count, noun, what]) =>
    count > 0 ? [`${counted(count, noun, PLURALS[noun])} ${what}`] : [],
  );
  const { linksEndAtId, domainsEndAtId, distributionsWaiting: waiting } = tally;
  if (linksEndAtId !== null) {
    lines.push(
      `The source lists only its newest links, down to id ${linksEndAtId}. Fetch older ones one by`,
      `one: --ids FROM-TO, such as --ids 1-${linksEndAtId - 1}`,
    );
  }
  if (domainsEndAtId !== null) {
    lines.push(`The source lists only its newest domains, down to id ${domainsEndAtId}.`);
  }
  if (isFromServer && isComplete && waiting === null) {
    lines.push('The source did not say whether notifications or commands are pending there.');
  }
  if (waiting !== null && waiting > 0) {
    lines.push(
      `Notifications or commands pending at the source: ${waiting}. The API does not return their`,
      'contents: let them expire there, or cancel them there and send them again here.',
    );
  }
  return lines.length > 0 ? ['', ...lines] : [];
}

function nextSteps({ providerCode, plan, isComplete, isFromServer }: Summary): string[] {
  if (!isComplete) return ['', 'The import is incomplete: run the same command to continue.'];
  const step = `Next: point the base URL of the bots and apps of ${providerCode} to this server.`;
  if (!isFromServer) return ['', step];
  const unknown = 'The API returns neither plan nor last day: see';
  const show = `${unknown} provider show ${providerCode}, and provider set.`;
  return ['', step, show, `Its plan here is ${planNote(plan)}.`];
}
