import { openPasarGuard } from './panels/pasarguard.ts';
import { realPanelTests } from './real-panel-tests.ts';

realPanelTests('pasarguard', openPasarGuard);
