ALTER TABLE `install` ADD `panel_user` text;
ALTER TABLE `install` ADD `panel_facts` text;
CREATE UNIQUE INDEX `install_by_panel_user` ON `install` (`provider_id`,`panel_user`) WHERE panel_user IS NOT NULL;
