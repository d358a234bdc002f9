import { accounts } from './fa/accounts.ts';
import { backups } from './fa/backups.ts';
import { delivery } from './fa/delivery.ts';
import { machine } from './fa/machine.ts';
import { providers } from './fa/providers.ts';
import { records } from './fa/records.ts';
import { upstreams } from './fa/upstreams.ts';
import type { OperatorTexts } from './texts.ts';

export const texts: OperatorTexts = {
  accounts,
  backups,
  delivery,
  machine,
  providers,
  records,
  upstreams,
};
