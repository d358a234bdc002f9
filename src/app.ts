/** The composition root: puts the parts of the program together. */

import { backUpBeforeMigration } from './backup/before-migration.ts';
import { BackupDesk } from './backup/desk.ts';
import { backupByChild, clearUp } from './backup/shelf.ts';
import { type Clock, systemClock } from './base/clock.ts';
import { type Log, type LogLevel, makeLog } from './base/log.ts';
import { checkDataDirectory } from './base/permissions.ts';
import { COMMIT, VERSION } from './base/version.ts';
import type { Appliance } from './call/appliance.ts';
import { type Change, changeBetween, type LoadedConfig, reloaded } from './config/load.ts';
import { SecretFiles } from './config/secret-files.ts';
import { keepNote } from './config/server-note.ts';
import type { Config } from './config/settings/index.ts';
import type { Core } from './core/core.ts';
import { followingIn } from './core/follow-standing.ts';
import { certifiedNames } from './doctor/certificate.ts';
import { type RunningServer, startServer } from './http/server.ts';
import { makeFiguresReader } from './http/upstream/panel-reader.ts';
import { type PanelTokens, tokensIn } from './http/upstream/panel-tokens.ts';
import type { BackupJob } from './jobs/backup.ts';
import type { Cutter } from './jobs/cut-off.ts';
import { makeWorker } from './jobs/deliver.ts';
import type { Follower } from './jobs/follow.ts';
import { type JobWorker, makeJobWorker } from './jobs/link-jobs.ts';
import { makeReminder, type Reminder } from './jobs/remind.ts';
import { startJobs } from './jobs/table.ts';
import { makeMetrics } from './monitor/metrics.ts';
import { Outages } from './monitor/outages.ts';
import { watchEventLoop } from './monitor/process.ts';
import { Readiness } from './monitor/readiness.ts';
import { Tallies } from './monitor/tallies.ts';
import { readOutgoingFiles } from './outgoing/authorities.ts';
import type { Outgoing } from './outgoing/outgoing.ts';
import { type ApplianceParts, makeAppliance, serverFlags } from './parts/appliance.ts';
import { consoleFiles } from './parts/console-files.ts';
import { cutPanels, followPanels } from './parts/live-follow.ts';
import { LiveGateways } from './parts/live-gateways.ts';
import { LiveStrangerPage } from './parts/live-stranger-page.ts';
import { LiveUpstreams } from './parts/live-upstreams.ts';
import { nodeNameOf, openCore } from './parts/open-core.ts';
import { openMonitor } from './parts/open-monitor.ts';
import { openOutgoing } from './parts/open-outgoing.ts';
import { openTimekeeper } from './parts/open-timekeeper.ts';
import { releaseCheck, startBackups } from './parts/open-upkeep.ts';
import { ownCommand, type RunOwn, runOwn } from './parts/own-program.ts';
import { drain, type Part, stopInOrder } from './parts/stopping.ts';
import { publicUrlOf } from './parts/url-for-people.ts';
import type { DisabledWebhook } from './store/kind.ts';
import { startTls } from './tls/tls.ts';
import { makeEventSenders } from './webhook/senders.ts';

/** Time for open connections to finish after the order to stop, ms. */
const LAST_CALL_MS = 100;

export interface App {
  core: Core;
  log: Log;
  url: string;
  /** URL of probes and metrics; null: they are off. */
  monitorUrl: string | null;
  /**
   * Applies the settings that need no restart; returns the changed ones. Throws `OperatorError` and
   * changes nothing if a file that they name is invalid.
   */
  reload(next: LoadedConfig): Change;
  /** Returns the end of the certificate, UTC ms; null: plain HTTP. */
  certificateExpiresAtMs(): number | null;
  /**
   * Keeps serving for `server.drain_seconds`, but not ready, so that load balancers use other
   * nodes. `signal` ends it early.
   */
  drain(signal: AbortSignal): Promise<void>;
  /** Finishes running work, then closes. */
  close(): Promise<void>;
}

/**
 * Starts the parts of `gatepost serve`. Throws `OperatorError` if one fails or `signal` comes
 * first, after stopping the running parts. `writeLog` receives the lines of the log in place of
 * stderr.
 */
export async function startApp(
  loaded: LoadedConfig,
  signal: AbortSignal,
  writeLog?: (line: string, level: LogLevel) => void,
): Promise<App> {
  // One object for all parts, read at each use: a reload changes it in place.
  const settings: Config = { ...loaded.config };
  const tallies = new Tallies();
  const outgoing = openOutgoing(settings);
  const gateways = new LiveGateways({ settings, outgoing, clock: systemClock });
  const log = makeLog(settings, systemClock.nowMs, writeLog, tallies.onEvent);
  const outages = new Outages(log);
  const { onAway, onBack, onTrouble } = outages;
  const onWaiting = (problem: string) => log.warn('database_awaited', { problem });
  const onMigration = async (from: number, to: number) => {
    const isCopied = settings.databaseUrl === null && settings.backupBeforeMigration;
    const run = backupByChild(ownCommand());
    const backup = isCopied
      ? await backUpBeforeMigration(settings, systemClock.nowMs(), run, signal)
      : 'none';
    log.info('database_migrates', { from, to, backup });
  };
  const timekeeper = openTimekeeper(settings, log);
  const { leastMs } = timekeeper;
  const onWebhookDisabled = ({ id: webhook, providerId, why }: DisabledWebhook) =>
    providerId === null
      ? log.error('operator_webhook_disabled', { webhook, why })
      : log.info('webhook_disabled', { webhook, why });
  const observers = {
    leastMs,
    onMigration,
    onAway,
    onBack,
    onTrouble,
    onWebhookDisabled,
    waiting: { signal, onWaiting },
  };
  const core = await openCore(settings, true, true, tallies, gateways, observers);
  const parts: Part[] = [];
  const last: Part[] = [
    { name: 'store', stop: () => core.store.close() },
    { name: 'outgoing', stop: async () => outgoing.close() },
  ];
  const stop = () => stopInOrder(parts, last, log);
  try {
    await timekeeper.begin(core.store);
    const outer = { outgoing, gateways, core, log, signal, outages, timekeeper };
    return await startParts({ loaded, settings, tallies, parts, last, stop, ...outer });
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Beginning {
  loaded: LoadedConfig;
  settings: Config;
  tallies: Tallies;
  outgoing: Outgoing;
  gateways: LiveGateways;
  outages: Outages;
  core: Core;
  timekeeper: ReturnType<typeof openTimekeeper>;
  log: Log;
  /** Running parts; they stop at the same time. */
  parts: Part[];
  /** Parts that stop after those, in order. */
  last: Part[];
  stop(): Promise<void>;
  signal: AbortSignal;
}

/** Makes the workers that follow panels, change credentials there, and remind their users. */
function startPanelWorkers(
  { core, log, parts, settings }: Beginning,
  clock: Clock,
  tokens: PanelTokens,
): { follower: Follower; cutter: Cutter; remind: Reminder } {
  const given = { core, clock, log, settings, tokens };
  const follower = followPanels(given);
  const cutter = cutPanels(given);
  parts.push({ name: 'follow', stop: follower.stop }, { name: 'cut-offs', stop: cutter.stop });
  const remind = makeReminder({ core, clock, log, reader: makeFiguresReader(given) });
  return { follower, cutter, remind };
}

/** Starts the worker for jobs of the console. */
function startJobWorker({ core, log, parts }: Beginning, clock: Clock): JobWorker {
  const worker = makeJobWorker(core, clock, log);
  parts.push({ name: 'link jobs', stop: worker.stop });
  core.signals.onJob(worker.wake);
  return worker;
}

type Known = 'loaded' | 'startedAtMs' | 'readiness' | 'certificateExpiresAtMs' | 'upstreams';

/** Collects what the operator's pages show of this process. */
function startAppliance(
  { settings, core, tallies, log, parts, gateways }: Beginning,
  known: Pick<ApplianceParts, Known>,
  job: BackupJob,
): Appliance {
  const stopping = new AbortController();
  parts.push({ name: 'checks', stop: async () => stopping.abort() });
  const { loopLagSeconds } = tallies;
  const more = { node: nodeNameOf(settings), loopLagSeconds, run: runOwn, log };
  const pushSender = gateways.sender;
  const { signal } = stopping;
  const command: RunOwn = (words, until) =>
    runOwn([...words, ...serverFlags(known.loaded())], until);
  const copy = backupByChild(ownCommand());
  const isFile = settings.databaseUrl === null;
  const desk = { settings, job, store: core.store, copy, command, stopping: signal };
  const backups = isFile ? new BackupDesk(desk) : null;
  return makeAppliance({ ...known, ...more, pushSender, backups, stopping: signal });
}

/** Applies the upstreams of configuration and database, and binds their hosts. */
async function startUpstreams(
  { core, log, settings }: Beginning,
  clock: Clock,
  { loaded, certificateExpiresAtMs }: Pick<ApplianceParts, 'loaded' | 'certificateExpiresAtMs'>,
) {
  const upstreams = new LiveUpstreams({
    core,
    log,
    settings,
    clock,
    certificateExpiresAtMs,
    own: () => ({
      upstreams: loaded().config.gateUpstreams,
      text: loaded().sources.gateUpstreams.text,
    }),
    certifiedNames: (nowMs) => certifiedNames(settings, nowMs),
  });
  await upstreams.refresh();
  return upstreams;
}

/** Returns where the server listens, and how it knows its callers there. */
function doorOf({ host, port, proxyNetworks, proxySocket, ...settings }: Config) {
  const { socket: path, socketGroup: group, socketMode } = settings;
  return {
    host,
    port,
    proxyProtocol: proxyNetworks.texts.length === 0 ? null : proxyNetworks,
    socket: path === '' ? null : { path, group, mode: Number.parseInt(socketMode, 8) },
    isSocketProxied: proxySocket,
  };
}

/** Measures the delays of the event loop until the end. */
function watchDelays({ last, tallies }: Beginning, clock: Clock): void {
  const stop = watchEventLoop(clock, tallies.loopLagSeconds);
  last.push({ name: 'event loop', stop: async () => stop() });
}

/** Deletes leftovers, logs problems of folders and environment, and notes the settings. */
function prepareFolders({ loaded, settings, log, last }: Beginning, startedAtMs: number) {
  clearUp(settings);
  for (const { path, problem } of checkDataDirectory(settings.dataDir)) {
    log.warn('open_to_group', { path, problem });
  }
  if (loaded.ignoredVariables.length > 0) {
    log.info('environment_ignored', { variables: loaded.ignoredVariables.join(',') });
  }
  const note = keepNote(loaded, startedAtMs, log);
  last.push({ name: 'note', stop: note.stop });
  return note;
}

async function startParts(beginning: Beginning): Promise<App> {
  const { loaded, settings, tallies, outgoing, gateways, core, log, parts, last, stop, signal } =
    beginning;
  const { timekeeper } = beginning;
  const clock = { ...systemClock, nowMs: timekeeper.nowMs };
  const startedAtMs = clock.nowMs();
  let current = loaded;
  const note = prepareFolders(beginning, startedAtMs);
  const readiness = new Readiness(core.store, clock, log);
  beginning.outages.onChange = () => readiness.askAgain();
  let listening: RunningServer | null = null;
  const certificateExpiresAtMs = () => tls?.expiresAtMs() ?? null;
  const metrics = makeMetrics({
    nowMs: clock.nowMs,
    startedAtMs,
    store: core.store,
    tallies,
    log,
    certificateExpiresAtMs,
    isDatabaseUp: () => (settings.databaseUrl === null ? null : !beginning.outages.isAway),
    http: () => listening,
    leap: () => timekeeper.leap(),
    following: () => followingIn(settings.gateUpstreams),
  });
  const backups = await startBackups(beginning);
  parts.push({ name: 'backup', stop: backups.stop });
  const tls = await startTls(settings, systemClock, log, signal);
  if (tls) parts.push({ name: 'certificate', stop: tls.stop });
  const monitor = openMonitor(loaded, { readiness, metrics, log });
  // Last, so that it serves until then.
  if (monitor) last.push({ name: 'monitor', stop: monitor.stop });
  watchDelays(beginning, clock);
  const worker = makeWorker(core, clock, log);
  parts.push({ name: 'delivery', stop: worker.stop });
  core.signals.onWork(worker.wake);
  const eventSenders = makeEventSenders(settings, outgoing, () => publicUrlOf(settings));
  gateways.prepare(settings, log)();
  const secrets = new SecretFiles();
  secrets.prepare(settings)();
  const panelTokens = tokensIn(settings.dataDir, clock, secrets.of);
  const strangerPage = new LiveStrangerPage({ settings, outgoing, log });
  const outbox = gateways.worker(core, clock, eventSenders, log, tallies);
  parts.push({ name: 'outbox', stop: () => outbox.stop() });
  const listenOptions = { ...doorOf(settings), tls: tls?.first ?? null };
  const known = { loaded: () => current, startedAtMs, readiness, certificateExpiresAtMs };
  const upstreams = await startUpstreams(beginning, clock, known);
  const appliance = startAppliance(beginning, { ...known, upstreams }, backups);
  const server = await startServer({
    core,
    clock,
    log,
    settings,
    eventSenders,
    consoleFiles: consoleFiles(),
    appliance,
    secretOf: secrets.of,
    panelTokens,
    strangerPage: strangerPage.current,
    ...listenOptions,
  });
  // Before all others: its requests create work for them.
  parts.unshift({ name: 'server', stop: () => server.stop(LAST_CALL_MS) });
  listening = server;
  note.listens(server.url);
  tls?.begin(server.replaceCertificate);
  // After a while the database removes a node that could not remove itself.
  const leave = () => core.store.removeNode().catch(() => undefined);
  const node = { name: nodeNameOf(settings), address: server.url, version: VERSION, startedAtMs };
  const jobWorker = startJobWorker(beginning, clock);
  const ofPanels = startPanelWorkers(beginning, clock, panelTokens);
  const checkRelease = releaseCheck(beginning, clock);
  const working = { worker, jobWorker, outbox, ...ofPanels, upstreams, strangerPage, checkRelease };
  const jobs = startJobs({ core, clock, timekeeper, log, ...working, tls, settings, node });
  parts.push({ name: 'jobs', stop: () => jobs.stop().then(leave) });
  for (const name of ['node', 'stranger-page']) void jobs.run(name);
  worker.wake();
  void outbox.resume();
  readiness.serving();
  const { url } = server;
  const monitorUrl = monitor?.url ?? null;
  log.info('started', { version: VERSION, commit: COMMIT, url, monitor: monitorUrl ?? 'off' });
  return {
    core,
    log,
    url,
    monitorUrl,
    certificateExpiresAtMs,
    reload: (wanted) => {
      const change = changeBetween(current, wanted);
      const next = reloaded(current, wanted);
      const live = next.config;
      const outgoingFiles = readOutgoingFiles(live);
      const replaceGateways = gateways.prepare(live, log);
      const replaceSecrets = secrets.prepare(live);
      const replaceStrangerPage = strangerPage.prepare(live);
      Object.assign(settings, live);
      outgoing.use(outgoingFiles);
      const renewed = replaceGateways();
      replaceSecrets();
      replaceStrangerPage();
      void jobs.run('stranger-page');
      if (renewed.length > 0) log.info('gateways_renewed', { gateways: renewed.join(', ') });
      void outbox.resume();
      void backups.reschedule();
      current = next;
      note.replace(next);
      void tls?.check();
      void upstreams.apply();
      return change;
    },
    drain: (signal) => drain({ settings, log, readiness, server }, signal),
    close: async () => {
      const stopMs = clock.steadyMs();
      readiness.stopping();
      log.info('stopping');
      await stop();
      log.info('stopped', { ms: Math.round(clock.steadyMs() - stopMs) });
    },
  };
}
