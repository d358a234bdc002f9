-- Links that come from the users of a panel: SQLite's migration 0018.

ALTER TABLE install ADD COLUMN panel_user text COLLATE "C";
ALTER TABLE install ADD COLUMN panel_facts text COLLATE "C";
CREATE UNIQUE INDEX install_by_panel_user ON install (provider_id, panel_user)
  WHERE panel_user IS NOT NULL;
