CREATE TABLE `gate_upstream` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`settings` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`updated_by` text NOT NULL
);

CREATE UNIQUE INDEX `gate_upstream_name_unique` ON `gate_upstream` (`name`);
ALTER TABLE `install` ADD `freed_at_ms` integer;
ALTER TABLE `provider` ADD `my` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `my_name` text;
ALTER TABLE `provider` ADD `my_color` text;
ALTER TABLE `device_provider` ADD `browser_install_id` integer;
CREATE INDEX `device_provider_browser` ON `device_provider` (`browser_install_id`) WHERE browser_install_id IS NOT NULL;
-- A link that ends, is disabled or gets another code ends the ties of its browsers.
CREATE TRIGGER install_browsers_ended AFTER UPDATE OF install_code, status ON install
WHEN NEW.install_code <> OLD.install_code OR NEW.status = 5 BEGIN
  UPDATE device_provider
  SET browser_install_id = NULL, token_id = NULL, tie_count = tie_count - 1
  WHERE browser_install_id = OLD.id;
END;

CREATE TRIGGER install_browsers_removed AFTER DELETE ON install BEGIN
  UPDATE device_provider
  SET browser_install_id = NULL, token_id = NULL, tie_count = tie_count - 1
  WHERE browser_install_id = OLD.id;
END;
