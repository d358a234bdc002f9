/** The migrations in order: never edited once released, only added to. */

import tables from './0000_tables.sql' with { type: 'text' };
import triggers from './0001_triggers.sql' with { type: 'text' };
import laneOrder from './0002_lane_order.sql' with { type: 'text' };
import claims from './0003_claims.sql' with { type: 'text' };
import pushTime from './0004_push_time.sql' with { type: 'text' };
import retries from './0005_retries_and_refusals.sql' with { type: 'text' };
import rides from './0006_rides.sql' with { type: 'text' };
import accounts from './0007_accounts.sql' with { type: 'text' };
import userPage from './0008_user_page.sql' with { type: 'text' };
import hashes from './0009_hashes_and_phones.sql' with { type: 'text' };
import panels from './0010_panels.sql' with { type: 'text' };
import sightings from './0011_sightings.sql' with { type: 'text' };
import signingKey from './0012_signing_key.sql' with { type: 'text' };
import auditFolds from './0013_audit_folds.sql' with { type: 'text' };
import steadyTime from './0014_steady_time.sql' with { type: 'text' };
import streams from './0015_streams.sql' with { type: 'text' };
import programAndMove from './0016_program_and_move.sql' with { type: 'text' };
import upkeep from './0017_upkeep.sql' with { type: 'text' };
import chatsAndFolds from './0018_chats_and_folds.sql' with { type: 'text' };

export const MIGRATIONS: readonly string[] = [
  tables,
  triggers,
  laneOrder,
  claims,
  pushTime,
  retries,
  rides,
  accounts,
  userPage,
  hashes,
  panels,
  sightings,
  signingKey,
  auditFolds,
  steadyTime,
  streams,
  programAndMove,
  upkeep,
  chatsAndFolds,
];
