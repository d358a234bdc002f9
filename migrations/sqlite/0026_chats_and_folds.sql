ALTER TABLE `destination` ADD `fold` text;
ALTER TABLE `destination` ADD `fold_until_ms` integer;
CREATE INDEX `destination_folding` ON `destination` (`fold_until_ms`) WHERE fold_until_ms IS NOT NULL;
ALTER TABLE `webhook` ADD `shows` text;
CREATE INDEX `webhook_off` ON `webhook` (`disabled_at_ms`) WHERE disabled_at_ms IS NOT NULL;