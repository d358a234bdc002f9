import { texts as delivery } from './ru/delivery.ts';
import { texts as machine } from './ru/machine.ts';
import { texts as providers } from './ru/providers.ts';
import type { OperatorTexts } from './texts.ts';

export const texts: OperatorTexts = {
  ...providers,
  ...delivery,
  ...machine,
};
