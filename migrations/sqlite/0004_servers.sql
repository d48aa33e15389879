CREATE TABLE `server_labels` (
	`workspace_id` text NOT NULL,
	`resource_id` text NOT NULL,
	`mark` text NOT NULL,
	PRIMARY KEY(`resource_id`, `mark`),
	FOREIGN KEY (`resource_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `server_labels_mark` ON `server_labels` (`workspace_id`,`mark`,`resource_id`);--> statement-breakpoint
CREATE TABLE `server_transitions` (
	`id` text PRIMARY KEY NOT NULL,
	`server_id` text NOT NULL,
	`at` integer NOT NULL,
	`field` text NOT NULL,
	`before_value` text,
	`after_value` text NOT NULL,
	`source` text NOT NULL,
	`reason` text NOT NULL,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `server_transitions_server` ON `server_transitions` (`server_id`,`id`);--> statement-breakpoint
CREATE INDEX `server_transitions_time` ON `server_transitions` (`at`);--> statement-breakpoint
CREATE TABLE `servers` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`labels` text NOT NULL,
	`health_monitor_ids` text NOT NULL,
	`notes` text NOT NULL,
	`kind` text NOT NULL,
	`origin` text NOT NULL,
	`account_id` text,
	`provider_ref` text,
	`status` text NOT NULL,
	`status_since` integer NOT NULL,
	`health` text NOT NULL,
	`health_since` integer NOT NULL,
	`health_reason` text NOT NULL,
	`health_source` text,
	`told_health` text,
	`power` text NOT NULL,
	`location` text,
	`image` text,
	`cloud` text,
	`removed_labels` text NOT NULL,
	`manual_addresses` text NOT NULL,
	`order_details` text,
	`user_data_sealed` text,
	`price_micros` integer,
	`price_currency` text,
	`price_at` integer,
	`action_id` text,
	`quiet_until` integer,
	`written_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`account_id`) REFERENCES `cloud_accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `servers_workspace` ON `servers` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `servers_name` ON `servers` (`workspace_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `servers_created` ON `servers` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `servers_status` ON `servers` (`workspace_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `servers_health` ON `servers` (`workspace_id`,`health`,`id`);--> statement-breakpoint
CREATE INDEX `servers_power` ON `servers` (`workspace_id`,`power`,`id`);--> statement-breakpoint
CREATE INDEX `servers_kind` ON `servers` (`workspace_id`,`kind`,`id`);--> statement-breakpoint
CREATE INDEX `servers_origin` ON `servers` (`workspace_id`,`origin`,`id`);--> statement-breakpoint
CREATE INDEX `servers_location` ON `servers` (`workspace_id`,`location`,`id`);--> statement-breakpoint
CREATE INDEX `servers_account` ON `servers` (`workspace_id`,`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `servers_ref` ON `servers` (`account_id`,`provider_ref`);--> statement-breakpoint
CREATE INDEX `servers_deleted` ON `servers` (`deleted_at`) WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX `servers_quiet` ON `servers` (`quiet_until`) WHERE quiet_until is not null;--> statement-breakpoint
CREATE INDEX `servers_busy` ON `servers` (`action_id`) WHERE action_id is not null;--> statement-breakpoint
CREATE INDEX `servers_monitored` ON `servers` (`id`) WHERE health_monitor_ids <> '[]';--> statement-breakpoint
CREATE TABLE `cloud_accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`settings` text NOT NULL,
	`secrets_sealed` text,
	`secret_names` text NOT NULL,
	`state` text NOT NULL,
	`detail` text,
	`warnings` text NOT NULL,
	`consecutive_failures` integer NOT NULL,
	`last_checked_at` integer,
	`last_ok_at` integer,
	`last_error` text,
	`import` text NOT NULL,
	`spend` text NOT NULL,
	`synced_at` integer,
	`storage_synced_at` integer,
	`next_sync_at` integer,
	`sync_failures` integer NOT NULL,
	`sync_error` text,
	`rate` text,
	`unclaimed` integer NOT NULL,
	`unclaimed_micros` integer NOT NULL,
	`ignored_refs` text NOT NULL,
	`lacks` text NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `cloud_accounts_name` ON `cloud_accounts` (`workspace_id`,`name`);--> statement-breakpoint
CREATE INDEX `cloud_accounts_workspace` ON `cloud_accounts` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `cloud_accounts_next_sync` ON `cloud_accounts` (`next_sync_at`) WHERE next_sync_at is not null;--> statement-breakpoint
CREATE TABLE `cloud_catalogs` (
	`account_id` text PRIMARY KEY NOT NULL,
	`catalog` text NOT NULL,
	`read_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `cloud_accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `agents` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`server_id` text NOT NULL,
	`state` text NOT NULL,
	`version` text NOT NULL,
	`interval_seconds` integer NOT NULL,
	`allow` text NOT NULL,
	`last_seen_at` integer NOT NULL,
	`due_at` integer,
	`silent_at` integer,
	`unheard` integer NOT NULL,
	`notified` integer NOT NULL,
	`stop_reason` text,
	`pending` integer NOT NULL,
	`facts` text,
	`facts_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agents_server` ON `agents` (`server_id`);--> statement-breakpoint
CREATE INDEX `agents_workspace` ON `agents` (`workspace_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `agents_due` ON `agents` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX `agents_pending` ON `agents` (`id`) WHERE pending;--> statement-breakpoint
CREATE INDEX `agents_silent` ON `agents` (`id`) WHERE state = 'silent' and not notified and not unheard;--> statement-breakpoint
CREATE INDEX `agents_unheard` ON `agents` (`workspace_id`) WHERE unheard;--> statement-breakpoint
CREATE TABLE `host_firewalls` (
	`server_id` text PRIMARY KEY NOT NULL,
	`digest` text NOT NULL,
	`state` text NOT NULL,
	`versions` text NOT NULL,
	`sent_at` integer NOT NULL,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `firewall_attachments` (
	`firewall_id` text NOT NULL,
	`server_id` text NOT NULL,
	`account_id` text,
	`state` text NOT NULL,
	`rules_version` integer,
	`applied_at` integer,
	`is_direct` integer NOT NULL,
	`is_selected` integer NOT NULL,
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
CREATE TABLE `firewall_labels` (
	`workspace_id` text NOT NULL,
	`resource_id` text NOT NULL,
	`mark` text NOT NULL,
	PRIMARY KEY(`resource_id`, `mark`),
	FOREIGN KEY (`resource_id`) REFERENCES `firewalls`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `firewall_labels_mark` ON `firewall_labels` (`workspace_id`,`mark`,`resource_id`);--> statement-breakpoint
CREATE TABLE `firewall_refusals` (
	`firewall_id` text NOT NULL,
	`server_id` text NOT NULL,
	`reason` text NOT NULL,
	PRIMARY KEY(`firewall_id`, `server_id`),
	FOREIGN KEY (`firewall_id`) REFERENCES `firewalls`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `firewall_refusals_server` ON `firewall_refusals` (`server_id`);--> statement-breakpoint
CREATE TABLE `firewall_versions` (
	`id` text PRIMARY KEY NOT NULL,
	`firewall_id` text NOT NULL,
	`rules_version` integer NOT NULL,
	`rules` text NOT NULL,
	`blocks` text NOT NULL,
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
	`labels` text NOT NULL,
	`label_selector` text,
	`rules` text NOT NULL,
	`blocks` text NOT NULL,
	`rules_version` integer NOT NULL,
	`pending` text,
	`action_id` text,
	`enforced_at` text NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `firewalls_workspace` ON `firewalls` (`workspace_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `firewalls_name` ON `firewalls` (`workspace_id`,`name`);--> statement-breakpoint
CREATE INDEX `firewalls_created` ON `firewalls` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `server_controllers` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`settings` text NOT NULL,
	`secrets_sealed` text,
	`secret_names` text NOT NULL,
	`state` text NOT NULL,
	`detail` text,
	`warnings` text NOT NULL,
	`consecutive_failures` integer NOT NULL,
	`last_checked_at` integer,
	`last_ok_at` integer,
	`last_error` text,
	`server_id` text NOT NULL,
	`power` text NOT NULL,
	`power_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `server_controllers_server` ON `server_controllers` (`server_id`,`kind`);--> statement-breakpoint
CREATE INDEX `server_controllers_workspace` ON `server_controllers` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `snapshot_policies` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`server_ids` text NOT NULL,
	`label_selector` text,
	`schedule` text NOT NULL,
	`keep` text NOT NULL,
	`quiesce` text NOT NULL,
	`paused` integer NOT NULL,
	`max_monthly_price` text,
	`currency` text,
	`next_at` integer,
	`last_run` text,
	`run` text,
	`failures` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `snapshot_policies_name` ON `snapshot_policies` (`workspace_id`,`name`);--> statement-breakpoint
CREATE INDEX `snapshot_policies_due` ON `snapshot_policies` (`next_at`) WHERE next_at is not null;--> statement-breakpoint
CREATE TABLE `snapshots` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`labels` text NOT NULL,
	`protected` integer NOT NULL,
	`account_id` text NOT NULL,
	`server_id` text,
	`provider_ref` text,
	`origin` text NOT NULL,
	`size_bytes` integer,
	`price_micros` integer,
	`price_currency` text,
	`price_at` integer,
	`action_id` text,
	`written_at` integer NOT NULL,
	`volume_id` text,
	`state` text NOT NULL,
	`policy_id` text,
	`made_by` text,
	`includes_memory` integer NOT NULL,
	`survives_server` integer NOT NULL,
	`taken_at` integer,
	`expires_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`account_id`) REFERENCES `cloud_accounts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`volume_id`) REFERENCES `volumes`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `snapshots_workspace` ON `snapshots` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `snapshots_name` ON `snapshots` (`workspace_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `snapshots_created` ON `snapshots` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `snapshots_state` ON `snapshots` (`workspace_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `snapshots_server` ON `snapshots` (`workspace_id`,`server_id`,`id`);--> statement-breakpoint
CREATE INDEX `snapshots_account` ON `snapshots` (`workspace_id`,`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `snapshots_origin` ON `snapshots` (`workspace_id`,`origin`,`id`);--> statement-breakpoint
CREATE INDEX `snapshots_ref` ON `snapshots` (`account_id`,`provider_ref`);--> statement-breakpoint
CREATE INDEX `snapshots_of_server` ON `snapshots` (`server_id`);--> statement-breakpoint
CREATE INDEX `snapshots_volume` ON `snapshots` (`workspace_id`,`volume_id`,`id`);--> statement-breakpoint
CREATE INDEX `snapshots_of_volume` ON `snapshots` (`volume_id`);--> statement-breakpoint
CREATE INDEX `snapshots_of_policy` ON `snapshots` (`policy_id`) WHERE policy_id is not null;--> statement-breakpoint
CREATE INDEX `snapshots_expiry` ON `snapshots` (`expires_at`) WHERE expires_at is not null;--> statement-breakpoint
CREATE INDEX `snapshots_busy` ON `snapshots` (`action_id`) WHERE action_id is not null;--> statement-breakpoint
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
CREATE UNIQUE INDEX `ssh_keys_fingerprint` ON `ssh_keys` (`workspace_id`,`fingerprint`);--> statement-breakpoint
CREATE TABLE `volume_labels` (
	`workspace_id` text NOT NULL,
	`resource_id` text NOT NULL,
	`mark` text NOT NULL,
	PRIMARY KEY(`resource_id`, `mark`),
	FOREIGN KEY (`resource_id`) REFERENCES `volumes`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `volume_labels_mark` ON `volume_labels` (`workspace_id`,`mark`,`resource_id`);--> statement-breakpoint
CREATE TABLE `volumes` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`labels` text NOT NULL,
	`account_id` text NOT NULL,
	`server_id` text,
	`provider_ref` text,
	`origin` text NOT NULL,
	`size_bytes` integer,
	`price_micros` integer,
	`price_currency` text,
	`price_at` integer,
	`action_id` text,
	`written_at` integer NOT NULL,
	`state` text NOT NULL,
	`location` text,
	`format` text,
	`device` text,
	`mount_path` text,
	`used_bytes` integer,
	`is_protected` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`account_id`) REFERENCES `cloud_accounts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `volumes_workspace` ON `volumes` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `volumes_name` ON `volumes` (`workspace_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `volumes_created` ON `volumes` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `volumes_state` ON `volumes` (`workspace_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `volumes_server` ON `volumes` (`workspace_id`,`server_id`,`id`);--> statement-breakpoint
CREATE INDEX `volumes_account` ON `volumes` (`workspace_id`,`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `volumes_location` ON `volumes` (`workspace_id`,`location`,`id`);--> statement-breakpoint
CREATE INDEX `volumes_ref` ON `volumes` (`account_id`,`provider_ref`);--> statement-breakpoint
CREATE INDEX `volumes_of_server` ON `volumes` (`server_id`);--> statement-breakpoint
CREATE INDEX `volumes_busy` ON `volumes` (`action_id`) WHERE action_id is not null;