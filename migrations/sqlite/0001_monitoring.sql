CREATE TABLE `incident_subjects` (
	`incident_id` text NOT NULL,
	`subject_id` text NOT NULL,
	`type` text NOT NULL,
	`role` text NOT NULL,
	`name` text NOT NULL,
	`tags` text NOT NULL,
	`target` text,
	`at` integer NOT NULL,
	PRIMARY KEY(`incident_id`, `subject_id`),
	FOREIGN KEY (`incident_id`) REFERENCES `incidents`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `incident_subjects_subject` ON `incident_subjects` (`subject_id`,`incident_id`);--> statement-breakpoint
CREATE TABLE `incident_updates` (
	`id` text PRIMARY KEY NOT NULL,
	`incident_id` text NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`actor` text,
	`text` text NOT NULL,
	`details` text,
	`edited_at` integer,
	FOREIGN KEY (`incident_id`) REFERENCES `incidents`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `incident_updates_incident` ON `incident_updates` (`incident_id`,`id`);--> statement-breakpoint
CREATE TABLE `incidents` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`kind` text NOT NULL,
	`subject_id` text,
	`open_subject` text,
	`title` text NOT NULL,
	`status` text NOT NULL,
	`severity` text NOT NULL,
	`cause` text NOT NULL,
	`locations` text NOT NULL,
	`evidence` text,
	`channel_ids` text,
	`link` text,
	`started_at` integer NOT NULL,
	`confirmed_at` integer,
	`acknowledged_at` integer,
	`acknowledged_by` text,
	`acknowledged_until` integer,
	`resolved_at` integer,
	`resolution` text,
	`awaits_recovery` integer NOT NULL,
	`rested_ms` integer NOT NULL,
	`reopenings` integer NOT NULL,
	`assignee_id` text,
	`notes` text NOT NULL,
	`postmortem` text,
	`postmortem_at` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `incidents_unresolved` ON `incidents` (`open_subject`);--> statement-breakpoint
CREATE INDEX `incidents_subject` ON `incidents` (`subject_id`,`id`);--> statement-breakpoint
CREATE INDEX `incidents_workspace` ON `incidents` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `incidents_status` ON `incidents` (`workspace_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `incidents_started` ON `incidents` (`workspace_id`,`started_at`,`id`);--> statement-breakpoint
CREATE INDEX `incidents_resolved` ON `incidents` (`workspace_id`,`resolved_at`);--> statement-breakpoint
CREATE INDEX `incidents_acknowledged` ON `incidents` (`acknowledged_until`);--> statement-breakpoint
CREATE TABLE `maintenance_windows` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`kind` text NOT NULL,
	`starts_at_local` text,
	`timezone` text NOT NULL,
	`duration_seconds` integer NOT NULL,
	`rrule` text,
	`cron` text,
	`exdates` text NOT NULL,
	`targets` text NOT NULL,
	`started_at` integer,
	`started_until` integer,
	`stopped_at` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `maintenance_windows_workspace` ON `maintenance_windows` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `maintenance_windows_name` ON `maintenance_windows` (`workspace_id`,`name`,`id`);--> statement-breakpoint
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
	`key` text,
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
CREATE INDEX `monitors_updated` ON `monitors` (`updated_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `monitors_number` ON `monitors` (`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `monitors_key` ON `monitors` (`workspace_id`,`key`);--> statement-breakpoint
CREATE TABLE `notification_channels` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`settings` text NOT NULL,
	`secrets_sealed` text,
	`secret_names` text NOT NULL,
	`for_everything` integer NOT NULL,
	`topics` text NOT NULL,
	`min_severity` text NOT NULL,
	`tags` text NOT NULL,
	`remind_every_seconds` integer,
	`most_reminders` integer NOT NULL,
	`quiet_hours` text,
	`group_seconds` integer NOT NULL,
	`active` integer NOT NULL,
	`status` text NOT NULL,
	`disabled_reason` text,
	`failures_in_a_row` integer NOT NULL,
	`gone_in_a_row` integer NOT NULL,
	`failing_since` integer,
	`last_error` text,
	`last_tried_at` integer,
	`last_sent_at` integer,
	`retry_at` integer,
	`not_before` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notification_channels_name` ON `notification_channels` (`workspace_id`,`name`);--> statement-breakpoint
CREATE INDEX `notification_channels_workspace` ON `notification_channels` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `notification_threads` (
	`channel_id` text NOT NULL,
	`thread` text NOT NULL,
	`workspace_id` text NOT NULL,
	`state` text NOT NULL,
	`severity` text NOT NULL,
	`problem_id` text NOT NULL,
	`reminders_sent` integer NOT NULL,
	`sent_count` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`channel_id`, `thread`),
	FOREIGN KEY (`channel_id`) REFERENCES `notification_channels`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `notification_threads_thread` ON `notification_threads` (`thread`);--> statement-breakpoint
CREATE INDEX `notification_threads_updated` ON `notification_threads` (`updated_at`);--> statement-breakpoint
CREATE TABLE `notifications` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`kind` text NOT NULL,
	`state` text NOT NULL,
	`severity` text NOT NULL,
	`thread` text NOT NULL,
	`once` text NOT NULL,
	`message` text NOT NULL,
	`reminder` integer NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`attempt_count` integer NOT NULL,
	`due_at` integer NOT NULL,
	`give_up_at` integer NOT NULL,
	`last_error` text,
	`said` text,
	`sent_in` text,
	`sent_at` integer,
	`finished_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_once` ON `notifications` (`channel_id`,`once`);--> statement-breakpoint
CREATE INDEX `notifications_workspace` ON `notifications` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_channel` ON `notifications` (`channel_id`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_due` ON `notifications` (`channel_id`,`status`,`due_at`);--> statement-breakpoint
CREATE INDEX `notifications_thread` ON `notifications` (`channel_id`,`thread`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_finished` ON `notifications` (`finished_at`);--> statement-breakpoint
ALTER TABLE `heartbeats` ADD `severity` text DEFAULT 'critical' NOT NULL;--> statement-breakpoint
ALTER TABLE `heartbeats` ADD `channel_ids` text;--> statement-breakpoint
ALTER TABLE `heartbeats` ADD `held_until` integer;--> statement-breakpoint
CREATE INDEX `heartbeats_held` ON `heartbeats` (`held_until`);