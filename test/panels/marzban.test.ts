import { importChecks } from './checks/imports.ts';
import { openOn } from './databases.ts';
import { openMarzban } from './panels/marzban.ts';
import { realPanelTests } from './real-panel-tests.ts';

realPanelTests('marzban', openMarzban);

const onMariadb = openOn('mariadb', openMarzban, (url) => ({
  PANEL_DATABASE: url.replace(/^mysql:/, 'mysql+pymysql:'),
}));
realPanelTests('marzban', onMariadb, [importChecks], 'mariadb');
