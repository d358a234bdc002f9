import type { MutatedFile } from '../mutation.ts';
import { commandLineFiles } from './command-line.ts';
import { composeFiles } from './compose.ts';
import { config } from './config.ts';
import { consoleFiles } from './console.ts';
import { consoleSentFiles } from './console-sent.ts';
import { coreDevices } from './core-devices.ts';
import { coreLinks } from './core-links.ts';
import { coreRules } from './core-rules.ts';
import { coreWords } from './core-words.ts';
import { doctorFiles } from './doctor.ts';
import { events } from './events.ts';
import { figures } from './figures.ts';
import { gate } from './gate.ts';
import { gateways } from './gateways.ts';
import { http } from './http.ts';
import { jobFiles } from './jobs.ts';
import { kits } from './kits.ts';
import { known } from './known.ts';
import { liveFiles } from './live.ts';
import { machine } from './machine.ts';
import { myFiles } from './my.ts';
import { nounMessages } from './noun-messages.ts';
import { operatorFiles } from './operator.ts';
import { outbox } from './outbox.ts';
import { outgoing } from './outgoing.ts';
import { panelApi } from './panel-api.ts';
import { panelFiles } from './panels.ts';
import { passing } from './passing.ts';
import { rides } from './rides.ts';
import { rim } from './rim.ts';
import { roomFiles } from './rooms.ts';
import { shown } from './shown.ts';
import { standing } from './standing.ts';
import { storeDevices } from './store-devices.ts';
import { storeMessages } from './store-messages.ts';
import { storeMove } from './store-move.ts';
import { storePostgres } from './store-postgres.ts';
import { storeReads } from './store-reads.ts';
import { storeWrites } from './store-writes.ts';
import { strangers } from './strangers.ts';
import { timeFiles } from './time.ts';
import { upstream } from './upstream.ts';
import { webhooks } from './webhooks.ts';

export const mutatedFiles: readonly MutatedFile[] = [
  ...known,
  ...timeFiles,
  ...jobFiles,
  ...composeFiles,
  ...roomFiles,
  ...operatorFiles,
  ...gate,
  ...myFiles,
  ...config,
  ...standing,
  ...commandLineFiles,
  ...consoleFiles,
  ...liveFiles,
  ...consoleSentFiles,
  ...machine,
  ...coreRules,
  ...coreWords,
  ...storeReads,
  ...storePostgres,
  ...storeMove,
  ...storeWrites,
  ...coreDevices,
  ...coreLinks,
  ...storeMessages,
  ...nounMessages,
  ...storeDevices,
  ...figures,
  ...doctorFiles,
  ...events,
  ...strangers,
  ...shown,
  ...upstream,
  ...http,
  ...outbox,
  ...outgoing,
  ...panelApi,
  ...panelFiles,
  ...passing,
  ...rim,
  ...kits,
  ...rides,
  ...gateways,
  ...webhooks,
];
