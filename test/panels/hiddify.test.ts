import { openHiddify } from './panels/hiddify.ts';
import { realPanelTests } from './real-panel-tests.ts';

realPanelTests('hiddify', openHiddify);
