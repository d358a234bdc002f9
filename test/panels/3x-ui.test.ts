import { openThreeXUi } from './panels/3x-ui.ts';
import { realPanelTests } from './real-panel-tests.ts';

realPanelTests('3x-ui', openThreeXUi);
