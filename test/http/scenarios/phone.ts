/** The phones that send a HWID: ignore-copies. */

import {
  aBinding,
  aDevice,
  aLink,
  CODE,
  FOREIGN,
  gateScenarios,
  type Scenario,
} from './scenario.ts';

const CODE_ERROR = '{"rc":0,"msg":"Install code error"}';
const CODE_ERROR_DETAIL = 'install_code and install_id name no limited link of this provider';

const IGNORE = '/api/ignore-copies';

export const phoneScenarios: Scenario[] = [
  ...gateScenarios(IGNORE, { install_id: 1, hwid: 'a' }, [aLink()], 'ignorePhones'),
  {
    name: 'a HWID of one phone: nothing changes',
    path: IGNORE,
    says: 'ok',
    given: [aLink(), aBinding(), aDevice('a')],
    request: { install_code: CODE, hwid: 'a' },
    answer: '{"rc":1,"msg":"Ok","ignored":false}',
  },
  {
    name: "another provider's link",
    path: IGNORE,
    says: 'install_code_error',
    given: [aLink(CODE, 2, FOREIGN)],
    request: { install_code: CODE, hwid: 'a' },
    answer: CODE_ERROR,
    detail: CODE_ERROR_DETAIL,
  },
  {
    name: 'no HWID',
    path: IGNORE,
    says: 'invalid_parameters',
    given: [aLink()],
    request: { install_id: 1 },
    answer: '{"rc":0,"msg":"Invalid parameters"}',
    detail: 'hwid is required: 1 to 128 visible ASCII characters without comma',
  },
];
