import { importChecks } from './checks/imports.ts';
import { ALL_CHECKS } from './checks/index.ts';
import { marzbanChecks } from './checks/marzban.ts';
import { openOn } from './databases.ts';
import { openMarzban } from './panels/marzban.ts';
import { realPanelTests } from './real-panel-tests.ts';

realPanelTests('marzban', openMarzban, [...ALL_CHECKS, marzbanChecks]);

const onMariadb = openOn('mariadb', openMarzban, (url) => ({
  PANEL_DATABASE: url.replace(/^mysql:/, 'mysql+pymysql:'),
}));
realPanelTests('marzban', onMariadb, [importChecks], 'mariadb');
