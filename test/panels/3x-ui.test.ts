import { importChecks } from './checks/imports.ts';
import { openOn } from './databases.ts';
import { openThreeXUi } from './panels/3x-ui.ts';
import { realPanelTests } from './real-panel-tests.ts';

realPanelTests('3x-ui', openThreeXUi);

const onPostgres = openOn('postgres', openThreeXUi, (url) => ({
  XUI_DB_TYPE: 'postgres',
  XUI_DB_DSN: url,
}));
realPanelTests('3x-ui', onPostgres, [importChecks], 'postgres');
