CREATE TABLE `firewall_attachments` (
	`firewall_id` text NOT NULL,
	`server_id` text NOT NULL,
	`account_id` text NOT NULL,
	`state` text NOT NULL,
	`rules_version` integer,
	`applied_at` integer,
	`error` text,
	`warning` text,
	`drift` text,
	PRIMARY KEY(`firewall_id`, `server_id`),
	FOREIGN KEY (`firewall_id`) REFERENCES `firewalls`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`account_id`) REFERENCES `cloud_accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `firewall_attachments_server` ON `firewall_attachments` (`server_id`);--> statement-breakpoint
CREATE INDEX `firewall_attachments_account` ON `firewall_attachments` (`account_id`,`firewall_id`);--> statement-breakpoint
CREATE TABLE `firewall_versions` (
	`id` text PRIMARY KEY NOT NULL,
	`firewall_id` text NOT NULL,
	`rules_version` integer NOT NULL,
	`rules` text NOT NULL,
	`reason` text NOT NULL,
	`note` text,
	`allowed` text NOT NULL,
	`actor` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`firewall_id`) REFERENCES `firewalls`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `firewall_versions_version` ON `firewall_versions` (`firewall_id`,`rules_version`);--> statement-breakpoint
CREATE INDEX `firewall_versions_firewall` ON `firewall_versions` (`firewall_id`,`id`);--> statement-breakpoint
CREATE TABLE `firewalls` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`drift_policy` text NOT NULL,
	`rules` text NOT NULL,
	`rules_version` integer NOT NULL,
	`pending` text,
	`action_id` text,
	`enforced_at` text NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `firewalls_workspace` ON `firewalls` (`workspace_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `firewalls_name` ON `firewalls` (`workspace_id`,`name`);--> statement-breakpoint
CREATE INDEX `firewalls_created` ON `firewalls` (`workspace_id`,`created_at`,`id`);