import { texts as delivery } from './en/delivery.ts';
import { texts as machine } from './en/machine.ts';
import { texts as providers } from './en/providers.ts';

export const texts = {
  ...providers,
  ...delivery,
  ...machine,
};
