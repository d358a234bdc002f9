import type { OperatorTexts } from './texts.ts';
import { texts as delivery } from './zh/delivery.ts';
import { texts as machine } from './zh/machine.ts';
import { texts as providers } from './zh/providers.ts';

export const texts: OperatorTexts = {
  ...providers,
  ...delivery,
  ...machine,
};
