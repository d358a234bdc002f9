import { integer } from '../readers.ts';
import { setting } from '../setting.ts';

export const databaseSettings = {
  commitBatchMax: setting({
    key: 'database.commit_batch_max',
    env: 'GATEPOST_COMMIT_BATCH_MAX',
    // A batch holds up the event loop: 1024 writes take some 20 ms.
    default: '1024',
    ...integer(1, 100_000),
    about: ['The most writes that share one commit to disk; 1 gives each its own.'],
  }),
  ledgerDays: setting({
    key: 'database.ledger_days',
    env: 'GATEPOST_LEDGER_DAYS',
    default: '90',
    ...integer(1, 36_500),
    about: [
      'For how many days after its end the ledger of a notification or command is kept,',
      'and what it says.',
    ],
    isLive: true,
  }),
  distributionDays: setting({
    key: 'database.distribution_days',
    env: 'GATEPOST_DISTRIBUTION_DAYS',
    default: '365',
    ...integer(1, 36_500),
    about: [
      'For how many days after its end a notification or command is listed;',
      'for no fewer than its ledger is kept.',
    ],
    isLive: true,
  }),
  deviceDays: setting({
    key: 'database.device_days',
    env: 'GATEPOST_DEVICE_DAYS',
    default: '180',
    ...integer(1, 36_500),
    about: [
      'For how many days a device is remembered that is on no link and tied to no binding,',
      'from when it was last seen.',
    ],
    isLive: true,
  }),
  strangersMax: setting({
    key: 'database.strangers_max',
    env: 'GATEPOST_STRANGERS_MAX',
    // Some 300 bytes each, 8 KiB at most; anybody can make them.
    default: '500000',
    ...integer(1000, 1_000_000_000),
    about: [
      'How many devices are remembered that are on no link and tied to no binding;',
      'those without a token go first, and of these those not seen for longest.',
    ],
    isLive: true,
  }),
} as const;
