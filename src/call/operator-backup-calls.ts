/** Calls of the console about backups. A passphrase encrypts a copy for a download. */

import { OperatorError } from '../base/operator-error.ts';
import { readBackupPassphrase } from '../core/account/formats.ts';
import { noteDownload } from '../core/audit/entry.ts';
import { isRefused, Refused } from '../core/outcome.ts';
import { freshCall, operatorCall, watchCall } from './call.ts';
import { inputOf, text } from './inputs.ts';

/** The longest wait for an answer, s: a backup that takes longer appears in the list. */
const PATIENCE_SECONDS = 240;

/** The refusal on PostgreSQL, which has its own backup tools. */
const noFile = () => new Refused('no_database_file');

export const operatorBackupCalls = {
  'backups.list': watchCall(
    inputOf({}),
    async ({ appliance }) => (await appliance.backups?.list()) ?? null,
  ),
  'backups.make': operatorCall([], inputOf({}), async ({ appliance, grantPatience }) => {
    grantPatience(PATIENCE_SECONDS);
    if (appliance.backups === null) return noFile();
    return { problem: await appliance.backups.make() };
  }),
  'backups.verify': operatorCall(
    [],
    inputOf({ name: text(64) }),
    async ({ appliance, grantPatience }, { name }) => {
      grantPatience(PATIENCE_SECONDS);
      if (appliance.backups === null) return noFile();
      const verified = await appliance.backups.verify(name);
      if (verified === 'not_found') return new Refused('backup_not_found');
      return verified === 'busy' ? new Refused('backup_busy') : verified;
    },
  ),
  'backups.prepare': freshCall(
    ['database.download'],
    inputOf({ passphrase: text(200) }),
    async (caller, given) => {
      const { appliance, core, nowMs, signedIn } = caller;
      const passphrase = readBackupPassphrase(given.passphrase);
      if (isRefused(passphrase)) return passphrase;
      if (appliance.backups === null) return noFile();
      caller.grantPatience(PATIENCE_SECONDS);
      try {
        const note = () => noteDownload(core, nowMs);
        const { id } = signedIn.session;
        const made = await appliance.backups.prepare(passphrase, id, nowMs, note);
        if (made === 'busy') return new Refused('backup_busy');
        return { bytes: made.bytes, problem: null };
      } catch (fault) {
        if (!(fault instanceof OperatorError)) throw fault;
        return { bytes: null, problem: fault.message };
      }
    },
  ),
};
