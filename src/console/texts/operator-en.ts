import { accounts } from './en/accounts.ts';
import { backups } from './en/backups.ts';
import { delivery } from './en/delivery.ts';
import { machine } from './en/machine.ts';
import { providers } from './en/providers.ts';
import { records } from './en/records.ts';
import { upstreams } from './en/upstreams.ts';

export const texts = { accounts, backups, delivery, machine, providers, records, upstreams };
