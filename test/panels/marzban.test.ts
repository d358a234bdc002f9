import { ALL_CHECKS } from './checks/index.ts';
import { marzbanChecks } from './checks/marzban.ts';
import { openMarzban } from './panels/marzban.ts';
import { realPanelTests } from './real-panel-tests.ts';

realPanelTests('marzban', openMarzban, [...ALL_CHECKS, marzbanChecks]);
