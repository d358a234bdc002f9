import { importChecks } from './checks/imports.ts';
import { openOn } from './databases.ts';
import { openPasarGuard } from './panels/pasarguard.ts';
import { realPanelTests } from './real-panel-tests.ts';

realPanelTests('pasarguard', openPasarGuard);

const onPostgres = openOn('postgres', openPasarGuard, (url) => ({
  PANEL_DATABASE: url.replace(/^postgres:/, 'postgresql+asyncpg:'),
}));
realPanelTests('pasarguard', onPostgres, [importChecks], 'postgres');
