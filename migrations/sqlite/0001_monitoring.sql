CREATE TABLE `monitor_gaps` (
	`id` text PRIMARY KEY NOT NULL,
	`from_at` integer NOT NULL,
	`to_at` integer NOT NULL,
	`shares` text
);
--> statement-breakpoint
CREATE INDEX `monitor_gaps_to` ON `monitor_gaps` (`to_at`);--> statement-breakpoint
CREATE TABLE `monitor_shares` (
	`share` integer PRIMARY KEY NOT NULL,
	`hub_id` text,
	`until` integer NOT NULL,
	`ran_until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `monitor_transitions` (
	`id` text PRIMARY KEY NOT NULL,
	`monitor_id` text NOT NULL,
	`at` integer NOT NULL,
	`from_status` text NOT NULL,
	`to_status` text NOT NULL,
	`reason` text NOT NULL,
	`incident_id` text,
	FOREIGN KEY (`monitor_id`) REFERENCES `monitors`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `monitor_transitions_monitor` ON `monitor_transitions` (`monitor_id`,`at`,`id`);--> statement-breakpoint
CREATE TABLE `monitors` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`number` integer NOT NULL,
	`share` integer NOT NULL,
	`type` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`target` text NOT NULL,
	`options` text NOT NULL,
	`secrets_sealed` text,
	`secret_names` text NOT NULL,
	`interval_seconds` integer NOT NULL,
	`timeout_seconds` integer NOT NULL,
	`retry_interval_seconds` integer NOT NULL,
	`confirm` integer NOT NULL,
	`recover` integer NOT NULL,
	`recovery_seconds` integer NOT NULL,
	`quorum` text NOT NULL,
	`down_if` text NOT NULL,
	`degraded_if` text NOT NULL,
	`degraded_ms` integer,
	`locations` text NOT NULL,
	`tags` text NOT NULL,
	`depends_on` text NOT NULL,
	`dependency_grace_seconds` integer NOT NULL,
	`channel_ids` text,
	`severity` text NOT NULL,
	`paused` integer NOT NULL,
	`status` text NOT NULL,
	`status_since` integer NOT NULL,
	`state` text NOT NULL,
	`state_version` integer NOT NULL,
	`last_check_at` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `monitors_workspace` ON `monitors` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `monitors_name` ON `monitors` (`workspace_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `monitors_status` ON `monitors` (`workspace_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `monitors_share` ON `monitors` (`share`);--> statement-breakpoint
CREATE UNIQUE INDEX `monitors_number` ON `monitors` (`number`);