import { openMarzban } from './panels/marzban.ts';
import { realPanelTests } from './real-panel-tests.ts';

realPanelTests('marzban', openMarzban);
