import { boolean } from '../readers.ts';
import { live } from '../setting.ts';

export const legacySettings = {
  // The contract has a bare body, and old clients may compare it.
  legacyRc2Body: live('legacy.rc2_body', 'false', boolean, [
    'Whether `rc` 2 of `add-install` is for links of the provider alone and names the link in its',
    'body, by `id` and `install_code`; the code of another provider is then `rc` 0 with the detail',
    '`taken`. A provider can have its own answer (`gatepost provider set --rc2-body`).',
  ]),
} as const;
