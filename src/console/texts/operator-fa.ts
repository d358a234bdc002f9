import { texts as delivery } from './fa/delivery.ts';
import { texts as machine } from './fa/machine.ts';
import { texts as providers } from './fa/providers.ts';
import type { OperatorTexts } from './texts.ts';

export const texts: OperatorTexts = {
  ...providers,
  ...delivery,
  ...machine,
};
