/** All checks of `gatepost doctor`, in their order. */

import { existsSync } from 'node:fs';
import { backupFolder, newestScheduled } from '../backup/shelf.ts';
import { systemClock } from '../base/clock.ts';
import { about, type Finding } from '../base/finding.ts';
import { OperatorError } from '../base/operator-error.ts';
import { checkSecretFile } from '../base/permissions.ts';
import type { LoadedConfig } from '../config/load.ts';
import { SecretFiles } from '../config/secret-files.ts';
import { mergeUpstreams } from '../config/upstreams.ts';
import { counted } from '../core/counted.ts';
import { followingIn } from '../core/follow-standing.ts';
import { addressOf, isCallable } from '../core/outbox/address.ts';
import { notesIn } from '../http/upstream/sign-in-notes.ts';
import type { DatabaseReport, StoreKind } from '../store/kind.ts';
import { checkAddress } from './address.ts';
import { checkCopies } from './backup-copy.ts';
import { checkBackups } from './backups.ts';
import { checkBotFetches, checkUnusedLinks } from './bots.ts';
import { causesOf, withBackup } from './causes.ts';
import { certifiedNames, checkCertificate } from './certificate.ts';
import { checkHwidCopies } from './copies.ts';
import { checkCuts } from './cut-off.ts';
import { checkDirectory } from './directory.ts';
import { checkFollows } from './follow.ts';
import { checkFronts, isBehindProxies, streamDescriptors } from './fronts.ts';
import {
  checkJunk,
  checkLongHeads,
  checkNames,
  checkOpenings,
  checkPagePath,
  checkPassing,
  checkProxies,
  checkSecrets,
  checkUnlimited,
  checkUpstreams,
} from './gate.ts';
import { checkGateways } from './gateway.ts';
import { atMostHourly } from './hourly.ts';
import { checkClock, checkSpace, checkTimeOfOthers, type ShownDate } from './machine.ts';
import { checkDescriptors, hasUnit } from './open-files.ts';
import { checkOutside } from './outside.ts';
import { checkApis, checkDisabled } from './panel-api.ts';
import { checkPublic } from './public.ts';
import { checkRelease } from './release.ts';
import { checkServer, findServer } from './server.ts';
import { checkSharedAddresses } from './shared-addresses.ts';
import { checkSightings } from './sightings.ts';
import { checkStrangers } from './strangers.ts';
import { checkSurroundings, type Machine } from './surroundings.ts';

interface Patient {
  /** For tests; absent: this machine. */
  machine?: Machine;
  loaded: LoadedConfig;
  /** The kind of the store that holds the data. */
  kind: StoreKind;
  nowMs: number;
  /** The user that runs the command. */
  uid: number;
  /** Asks from outside too; absent: nothing. */
  outside?: OutsideQuestions | undefined;
  /** True: a person asks, and accounts of panels sign in; a refusal is noted. */
  signsIn?: boolean;
  /** Receives the names and counts of the database. */
  onDatabase?: (report: Pick<DatabaseReport, 'counts' | 'names'>) => void;
}

export interface OutsideQuestions {
  /** The places to ask whether the panel is reached beside the gate. */
  places: readonly URL[];
  /** Whether the public address is asked once an hour at most. */
  isHourly: boolean;
}

/** Gatepost makes no backups of a PostgreSQL server. */
const NO_BACKUPS = {
  findings: [about('backups').ok('those of PostgreSQL are made by its own tools, not by Gatepost')],
  newestMs: null,
};

/**
 * Runs all checks. Creates and removes one file, changes nothing else, and calls only the server's
 * own monitor, the panels behind the gate, the places that the operator typed with the public
 * addresses, and the gateways that are set up.
 */
export async function examine({
  loaded,
  kind,
  nowMs,
  uid,
  outside,
  machine = {},
  onDatabase = () => {},
  signsIn = false,
}: Patient): Promise<Finding[]> {
  const { config: own } = loaded;
  const { dataDir } = own;
  const directory = checkDirectory(dataDir, uid);
  const server = await findServer(dataDir);
  let { gateUpstreams } = own;
  const database = await kind.survey(dataDir, (kept) => {
    gateUpstreams = mergeUpstreams(gateUpstreams, kept);
    return gateUpstreams;
  });
  onDatabase(database);
  const config = { ...own, gateUpstreams };
  const backups = kind.file === null ? NO_BACKUPS : checkBackups(config, database.upkeep, nowMs);
  const times = [database.newestMs, backups.newestMs].filter((ms) => ms !== null);
  const newestMs = times.length > 0 ? Math.max(...times) : null;
  const names = certifiedNames(config, nowMs);
  const hasTls = config.tlsCertificate !== '' || config.acmeDomains.length > 0;
  const askPublic = () => {
    const { signingKey } = database;
    const ask = () => checkPublic({ config, names, signingKey, nowMs });
    if (outside === undefined) return [];
    return outside.isHourly ? atMostHourly(dataDir, nowMs, ask) : ask();
  };
  const { otherNodes } = database;
  const pid = typeof server === 'string' ? null : server.pid;
  const dates: ShownDate[] = [];
  const onDate = (who: string, date: string) =>
    void dates.push({ who, date, nowMs: systemClock.nowMs() });
  return causesOf([
    ...checkConfiguration(loaded),
    ...checkServer(server, { dataDir, otherNodes, hasUnit: hasUnit() }),
    ...directory,
    ...withBackup(database.findings, newestScheduled(config)?.file ?? null),
    ...checkSpace('disk space', dataDir, kind.file === null ? 0 : database.bytes),
    ...(kind.file === null
      ? []
      : checkSpace('disk space of backups', backupFolder(config), database.bytes)),
    ...(await checkSurroundings(
      { loaded, config, server, kind, databaseBytes: database.bytes },
      machine,
    )),
    ...checkClock(nowMs, newestMs),
    ...checkDescriptors(pid, streamDescriptors(config)),
    ...backups.findings,
    ...checkCopies(config, database.upkeep, nowMs),
    ...checkRelease(config, database.upkeep),
    ...checkCertificate(config, nowMs, uid),
    ...checkAddress(server, config, hasTls || isReachedByProxies(loaded)),
    ...checkStrangers(loaded, config, names),
    ...checkProxies(loaded),
    ...checkFronts(config, pid !== null),
    ...checkLongHeads(loaded),
    ...checkJunk(database.junk),
    ...(await checkSharedAddresses(server, dataDir)),
    ...checkOpenings(config),
    ...checkSecrets(config),
    ...checkPassing(database.passing),
    ...checkSightings(
      database.sightings,
      gateUpstreams.map(({ host }) => host),
    ),
    ...checkDisabled(database.disabledByImport, config),
    ...checkFollows(followingIn(gateUpstreams), database.follows, nowMs),
    ...checkCuts(gateUpstreams, database.cuts, nowMs),
    ...checkUnlimited(database.unlimited),
    ...checkUnusedLinks(database.unused),
    ...checkBotFetches(database.botFetches),
    ...checkHwidCopies(config, database.copies),
    ...checkPagePath(config, database.paged),
    ...checkNames(config, names),
    ...(await checkUpstreams(config, database.hosts, onDate)),
    ...(await checkApis(config, {
      nowMs,
      secretOf: secretsOf(loaded),
      notes: notesIn(dataDir),
      signsIn,
    })),
    ...(await checkOutside({
      upstreams: gateUpstreams,
      places: outside?.places ?? [],
      allow: config.outgoingAllow,
    })),
    ...(await askPublic()),
    ...(await checkGateways(config, database, onDate)),
    ...checkTimeOfOthers(dates, machine.root),
  ]);
}

/** Returns whether the address is one of a private network with proxies of the settings. */
function isReachedByProxies(loaded: LoadedConfig): boolean {
  const { host } = loaded.config;
  const address = addressOf(host);
  const isAny = host === '0.0.0.0' || host === '::';
  return address !== null && !isAny && !isCallable(address, []) && isBehindProxies(loaded);
}

/**
 * Returns the function that reads secrets of the settings; it returns null for all if one file is
 * invalid.
 */
function secretsOf({ config }: LoadedConfig): (file: string) => string | null {
  const secrets = new SecretFiles();
  try {
    secrets.prepare(config)();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
  }
  return secrets.of;
}

/** Checks what loading accepts: mistakes and readable secrets already fail there. */
function checkConfiguration({ file, files, config }: LoadedConfig): Finding[] {
  const say = about('configuration');
  const path = config.backupPassphraseFile;
  if (path !== '' && !existsSync(path)) {
    return [
      say.problem(
        'backup_passphrase_missing',
        `${path} does not exist`,
        'create it, or correct backup.passphrase_file',
      ),
    ];
  }
  const open = path === '' ? [] : checkSecretFile(path);
  if (open.length > 0) {
    return open.map(({ problem }) =>
      say.problem('backup_passphrase_open', problem, 'fix it: backups fail until then'),
    );
  }
  try {
    new SecretFiles().prepare(config);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [
      say.problem(
        'secret_file_invalid',
        error.message,
        'fix it: Gatepost neither starts nor reloads until then',
      ),
    ];
  }
  const what =
    file === null
      ? 'there is no file; the environment variables are valid'
      : files.length === 1
        ? `${file} is valid`
        : `${file} is valid, with ${counted(files.length - 1, 'file')} of the folder beside it`;
  return [say.ok(what)];
}
