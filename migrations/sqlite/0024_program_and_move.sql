ALTER TABLE `appliance` ADD `program` text;
ALTER TABLE `appliance` ADD `moved_to` text;