/** The migrations in order: never edited once released, only added to. */

import tables from './0000_tables.sql' with { type: 'text' };
import counts from './0001_counts.sql' with { type: 'text' };
import transitions from './0002_transitions.sql' with { type: 'text' };
import audit from './0003_audit.sql' with { type: 'text' };
import registrations from './0004_registrations.sql' with { type: 'text' };
import bounds from './0005_bounds.sql' with { type: 'text' };
import due from './0006_due.sql' with { type: 'text' };
import places from './0007_places.sql' with { type: 'text' };
import slots from './0008_slots.sql' with { type: 'text' };
import outbox from './0009_outbox.sql' with { type: 'text' };
import laneOrder from './0010_lane_order.sql' with { type: 'text' };
import claims from './0011_claims.sql' with { type: 'text' };
import pushTime from './0012_push_time.sql' with { type: 'text' };
import retries from './0013_retries_and_refusals.sql' with { type: 'text' };
import rides from './0014_rides.sql' with { type: 'text' };
import accounts from './0015_accounts.sql' with { type: 'text' };
import userPage from './0016_user_page.sql' with { type: 'text' };
import hashes from './0017_hashes_and_phones.sql' with { type: 'text' };
import panels from './0018_panels.sql' with { type: 'text' };
import sightings from './0019_sightings.sql' with { type: 'text' };
import signingKey from './0020_signing_key.sql' with { type: 'text' };
import auditFolds from './0021_audit_folds.sql' with { type: 'text' };
import steadyTime from './0022_steady_time.sql' with { type: 'text' };
import streams from './0023_streams.sql' with { type: 'text' };
import programAndMove from './0024_program_and_move.sql' with { type: 'text' };
import upkeep from './0025_upkeep.sql' with { type: 'text' };
import chatsAndFolds from './0026_chats_and_folds.sql' with { type: 'text' };

export const MIGRATIONS: readonly string[] = [
  tables,
  counts,
  transitions,
  audit,
  registrations,
  bounds,
  due,
  places,
  slots,
  outbox,
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
