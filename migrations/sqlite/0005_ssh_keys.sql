CREATE TABLE `ssh_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`public_key` text NOT NULL,
	`default` integer NOT NULL,
	`algorithm` text NOT NULL,
	`fingerprint` text NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `ssh_keys_name` ON `ssh_keys` (`workspace_id`,`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `ssh_keys_fingerprint` ON `ssh_keys` (`workspace_id`,`fingerprint`);