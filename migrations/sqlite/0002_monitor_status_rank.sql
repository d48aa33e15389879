ALTER TABLE `monitors` ADD `status_rank` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `monitors_problems` ON `monitors` (`workspace_id`,`status_rank`,`name`,`id`);