CREATE TABLE `agent_commands` (
	`id` text PRIMARY KEY NOT NULL,
	`agent_id` text NOT NULL,
	`action_id` text,
	`name` text NOT NULL,
	`payload` text NOT NULL,
	`signature` text NOT NULL,
	`send_at` integer,
	`expires_at` integer NOT NULL,
	`sent_at` integer,
	`sends` integer NOT NULL,
	`finished_at` integer,
	`outcome` text,
	`detail` text,
	`output` text,
	FOREIGN KEY (`agent_id`) REFERENCES `agents`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agent_commands_action` ON `agent_commands` (`action_id`) WHERE action_id is not null;--> statement-breakpoint
CREATE INDEX `agent_commands_open` ON `agent_commands` (`agent_id`) WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX `agent_commands_due` ON `agent_commands` (`send_at`) WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX `agent_commands_expiry` ON `agent_commands` (`expires_at`);--> statement-breakpoint
CREATE TABLE `agent_rollouts` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`policy` text NOT NULL,
	`version` text,
	`since` integer,
	`first_count` integer,
	`rest_at` integer,
	`busy_until` integer,
	`stopped_by` text,
	`stopped_at` integer,
	`stopped_detail` text,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `agent_parts` (
	`id` text PRIMARY KEY NOT NULL,
	`agent_id` text NOT NULL,
	`name` text NOT NULL,
	`data` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`agent_id`) REFERENCES `agents`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `agent_parts_agent` ON `agent_parts` (`agent_id`);--> statement-breakpoint
CREATE TABLE `agent_certificate_files` (
	`id` text PRIMARY KEY NOT NULL,
	`agent_id` text NOT NULL,
	`data` text NOT NULL,
	`seen_at` integer NOT NULL,
	FOREIGN KEY (`agent_id`) REFERENCES `agents`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `agent_certificate_files_agent` ON `agent_certificate_files` (`agent_id`);--> statement-breakpoint
CREATE TABLE `agent_certificates` (
	`id` text PRIMARY KEY NOT NULL,
	`agent_id` text NOT NULL,
	`sha256` text NOT NULL,
	`der` blob NOT NULL,
	`details` text NOT NULL,
	FOREIGN KEY (`agent_id`) REFERENCES `agents`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `agent_certificates_agent` ON `agent_certificates` (`agent_id`);--> statement-breakpoint
CREATE TABLE `agent_served_certificates` (
	`id` text PRIMARY KEY NOT NULL,
	`agent_id` text NOT NULL,
	`data` text NOT NULL,
	`newer` text,
	`seen_at` integer NOT NULL,
	FOREIGN KEY (`agent_id`) REFERENCES `agents`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `agent_served_certificates_agent` ON `agent_served_certificates` (`agent_id`);--> statement-breakpoint
CREATE INDEX `agent_served_certificates_newer` ON `agent_served_certificates` (`agent_id`) WHERE newer is not null;--> statement-breakpoint
CREATE TABLE `enrolment_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`uses` integer,
	`labels` text NOT NULL,
	`approve` text NOT NULL,
	`match` integer NOT NULL,
	`allow` text NOT NULL,
	`server_id` text,
	`key_hash` text NOT NULL,
	`hint` text NOT NULL,
	`expires_at` integer NOT NULL,
	`used` integer NOT NULL,
	`last_used_at` integer,
	`used_up_at` integer,
	`monitor` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `enrolment_keys_hash` ON `enrolment_keys` (`key_hash`);--> statement-breakpoint
CREATE INDEX `enrolment_keys_workspace` ON `enrolment_keys` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `enrolment_keys_server` ON `enrolment_keys` (`server_id`);--> statement-breakpoint
CREATE INDEX `enrolment_keys_expires` ON `enrolment_keys` (`expires_at`);--> statement-breakpoint
CREATE INDEX `enrolment_keys_open` ON `enrolment_keys` (`workspace_id`) WHERE used_up_at is null;--> statement-breakpoint
CREATE TABLE `inventory_changes` (
	`id` text PRIMARY KEY NOT NULL,
	`server_id` text NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`change` text NOT NULL,
	`name` text NOT NULL,
	`before_value` text,
	`after_value` text,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `inventory_changes_server` ON `inventory_changes` (`server_id`,`at`,`id`);--> statement-breakpoint
CREATE INDEX `inventory_changes_id` ON `inventory_changes` (`server_id`,`id`);--> statement-breakpoint
CREATE INDEX `inventory_changes_name` ON `inventory_changes` (`server_id`,`kind`,`name`,`at`);--> statement-breakpoint
CREATE INDEX `inventory_changes_time` ON `inventory_changes` (`at`);--> statement-breakpoint
CREATE TABLE `journal_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`server_id` text NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`detail` text,
	`moment` text,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `journal_entries_what` ON `journal_entries` (`server_id`,`at`,`kind`,`name`);--> statement-breakpoint
CREATE INDEX `journal_entries_server` ON `journal_entries` (`server_id`,`at`,`id`);--> statement-breakpoint
CREATE INDEX `journal_entries_kind` ON `journal_entries` (`server_id`,`kind`,`at`,`id`);--> statement-breakpoint
CREATE INDEX `journal_entries_id` ON `journal_entries` (`server_id`,`id`);--> statement-breakpoint
CREATE INDEX `journal_entries_time` ON `journal_entries` (`at`);--> statement-breakpoint
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_agents` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`server_id` text,
	`other_server_id` text,
	`state` text NOT NULL,
	`version` text NOT NULL,
	`interval_seconds` integer NOT NULL,
	`allow` text NOT NULL,
	`token_hash` text,
	`token_hint` text,
	`previous_token_hash` text,
	`previous_valid_until` integer,
	`public_key` text,
	`machine_id_hash` text NOT NULL,
	`enrolment_key_id` text,
	`address` text,
	`signed_at` integer,
	`runs` text NOT NULL,
	`refused_runs` text NOT NULL,
	`clock_offset_ms` integer,
	`spooled` integer NOT NULL,
	`dropped` integer NOT NULL,
	`config` text NOT NULL,
	`last_seen_at` integer NOT NULL,
	`last_report_at` integer,
	`certificates_at` integer,
	`due_at` integer,
	`silent_at` integer,
	`unheard` integer NOT NULL,
	`notified` integer NOT NULL,
	`stop_reason` text,
	`pending` integer NOT NULL,
	`update_policy` text,
	`update_state` text,
	`update_version` text,
	`update_detail` text,
	`update_at` integer,
	`update_command_id` text,
	`facts` text,
	`facts_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`other_server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`enrolment_key_id`) REFERENCES `enrolment_keys`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
INSERT INTO `__new_agents`("id", "workspace_id", "name", "server_id", "other_server_id", "state", "version", "interval_seconds", "allow", "token_hash", "token_hint", "previous_token_hash", "previous_valid_until", "public_key", "machine_id_hash", "enrolment_key_id", "address", "signed_at", "runs", "refused_runs", "clock_offset_ms", "spooled", "dropped", "config", "last_seen_at", "last_report_at", "certificates_at", "due_at", "silent_at", "unheard", "notified", "stop_reason", "pending", "update_policy", "update_state", "update_version", "update_detail", "update_at", "update_command_id", "facts", "facts_at", "created_at") SELECT "id", "workspace_id", "name", "server_id", "other_server_id", "state", "version", "interval_seconds", "allow", "token_hash", "token_hint", "previous_token_hash", "previous_valid_until", "public_key", "machine_id_hash", "enrolment_key_id", "address", "signed_at", "runs", "refused_runs", "clock_offset_ms", "spooled", "dropped", "config", "last_seen_at", "last_report_at", "certificates_at", "due_at", "silent_at", "unheard", "notified", "stop_reason", "pending", "update_policy", "update_state", "update_version", "update_detail", "update_at", "update_command_id", "facts", "facts_at", "created_at" FROM `agents`;--> statement-breakpoint
DROP TABLE `agents`;--> statement-breakpoint
ALTER TABLE `__new_agents` RENAME TO `agents`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `agents_server` ON `agents` (`server_id`);--> statement-breakpoint
CREATE INDEX `agents_other_server` ON `agents` (`other_server_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `agents_token` ON `agents` (`token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `agents_previous_token` ON `agents` (`previous_token_hash`);--> statement-breakpoint
CREATE INDEX `agents_machine` ON `agents` (`workspace_id`,`machine_id_hash`);--> statement-breakpoint
CREATE INDEX `agents_enrolment_key` ON `agents` (`enrolment_key_id`);--> statement-breakpoint
CREATE INDEX `agents_list` ON `agents` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `agents_created` ON `agents` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `agents_name` ON `agents` (`workspace_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `agents_workspace` ON `agents` (`workspace_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `agents_update` ON `agents` (`workspace_id`,`update_state`,`id`);--> statement-breakpoint
CREATE INDEX `agents_automatic` ON `agents` (`workspace_id`) WHERE update_policy = 'auto';--> statement-breakpoint
CREATE INDEX `agents_version` ON `agents` (`workspace_id`,`version`,`id`);--> statement-breakpoint
CREATE INDEX `agents_unlinked` ON `agents` (`last_seen_at`) WHERE server_id is null;--> statement-breakpoint
CREATE INDEX `agents_due` ON `agents` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX `agents_pending` ON `agents` (`id`) WHERE pending;--> statement-breakpoint
CREATE INDEX `agents_silent` ON `agents` (`id`) WHERE state = 'silent' and not notified and not unheard;--> statement-breakpoint
CREATE INDEX `agents_unheard` ON `agents` (`workspace_id`) WHERE unheard;