import { wholeNumber } from '../readers.ts';
import { setting } from '../setting.ts';

export const databaseSettings = {
  commitBatchMax: setting({
    key: 'database.commit_batch_max',
    env: 'GATEPOST_COMMIT_BATCH_MAX',
    // A batch holds up the event loop: 1024 writes take some 20 ms.
    default: '1024',
    types: ['integer'],
    read: wholeNumber(1, 100_000),
    about: ['The most writes that share one commit to disk; 1 gives each its own.'],
  }),
  ledgerDays: setting({
    key: 'database.ledger_days',
    env: 'GATEPOST_LEDGER_DAYS',
    default: '90',
    types: ['integer'],
    read: wholeNumber(1, 36_500),
    about: ['For how many days the ledger of a finished distribution is kept.'],
    isLive: true,
  }),
} as const;
