import { oneOf } from '../readers.ts';
import { live } from '../setting.ts';

export const privacySettings = {
  // The names of models and the phones of a HWID show a provider who copies its links.
  privacyKeep: live('privacy.keep', 'usual', oneOf('usual', 'less'), [
    'What is kept of the people behind devices. `usual`: of a device the model that its app sends, and',
    'of a HWID that several phones send what tells these apart (SECURITY.md lists it). `less`: no',
    'model, no phones, no end and traffic of subscriptions, and of a `User-Agent` the name of the app',
    'and its version alone; what is stored goes within the hour. `copied_hwid` and `same_phone` then',
    'find nothing, and reminders neither.',
  ]),
} as const;
