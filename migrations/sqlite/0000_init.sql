CREATE TABLE `audit_checkpoints` (
	`number` integer PRIMARY KEY NOT NULL,
	`chain` text NOT NULL,
	`kind` text NOT NULL,
	`seq` integer NOT NULL,
	`count` integer NOT NULL,
	`head` text NOT NULL,
	`prev_checkpoint` text,
	`time` integer NOT NULL,
	`key_id` text NOT NULL,
	`signature` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_checkpoints_chain` ON `audit_checkpoints` (`chain`,`number`);--> statement-breakpoint
CREATE INDEX `audit_checkpoints_kind` ON `audit_checkpoints` (`chain`,`kind`,`seq`);--> statement-breakpoint
CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`seq` integer NOT NULL,
	`occurred_at` integer NOT NULL,
	`action` text NOT NULL,
	`outcome` text NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text NOT NULL,
	`actor` text NOT NULL,
	`target_id` text NOT NULL,
	`targets` text NOT NULL,
	`context` text NOT NULL,
	`changes` text,
	`reason` text,
	`prev_hash` blob NOT NULL,
	`hash` blob NOT NULL,
	`mac` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `audit_entries_chain` ON `audit_entries` (`workspace_id`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_entries_target` ON `audit_entries` (`workspace_id`,`target_id`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_entries_action` ON `audit_entries` (`workspace_id`,`action`,`seq`);--> statement-breakpoint
CREATE TABLE `counters` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL,
	`head` blob
);
--> statement-breakpoint
CREATE TABLE `data_key_uses` (
	`id` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`encryptions` integer NOT NULL,
	FOREIGN KEY (`key_id`) REFERENCES `data_keys`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `data_key_uses_key` ON `data_key_uses` (`key_id`);--> statement-breakpoint
CREATE TABLE `data_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`master_key_id` text NOT NULL,
	`wrapped` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `data_keys_workspace` ON `data_keys` (`workspace_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`position` integer NOT NULL,
	`message_id` text NOT NULL,
	`kind` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`occurred_at` integer NOT NULL,
	`body` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `events_workspace` ON `events` (`workspace_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `events_position` ON `events` (`workspace_id`,`position`);--> statement-breakpoint
CREATE UNIQUE INDEX `events_sequence` ON `events` (`resource_id`,`kind`,`sequence`);--> statement-breakpoint
CREATE INDEX `events_resource` ON `events` (`workspace_id`,`resource_id`,`position`);--> statement-breakpoint
CREATE TABLE `held_lanes` (
	`kind` text NOT NULL,
	`lane` text NOT NULL,
	`held_until` integer NOT NULL,
	PRIMARY KEY(`kind`, `lane`)
);
--> statement-breakpoint
CREATE TABLE `hubs` (
	`id` text PRIMARY KEY NOT NULL,
	`host` text NOT NULL,
	`version` text NOT NULL,
	`started_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`master_key_id` text
);
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`workspace_id` text NOT NULL,
	`method` text NOT NULL,
	`path` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`running_in` text,
	`status` integer,
	`body` text,
	`location` text,
	`etag` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `method`, `path`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_created` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `instance_facts` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`lane` text NOT NULL,
	`state` text NOT NULL,
	`priority` integer NOT NULL,
	`run_at` integer NOT NULL,
	`attempts` integer NOT NULL,
	`lost_runs` integer NOT NULL,
	`payload` text NOT NULL,
	`unique_key` text,
	`locked_by` text,
	`locked_until` integer,
	`last_error` text,
	`created_at` integer NOT NULL,
	`failed_at` integer
);
--> statement-breakpoint
CREATE INDEX `jobs_due` ON `jobs` (`state`,`kind`,`lane`,`priority`,`run_at`);--> statement-breakpoint
CREATE INDEX `jobs_next` ON `jobs` (`state`,`kind`,`run_at`);--> statement-breakpoint
CREATE INDEX `jobs_leases` ON `jobs` (`state`,`locked_until`);--> statement-breakpoint
CREATE UNIQUE INDEX `jobs_unique` ON `jobs` (`kind`,`unique_key`);--> statement-breakpoint
CREATE TABLE `notices` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`kind` text NOT NULL,
	`severity` text NOT NULL,
	`resource_type` text,
	`resource_id` text,
	`resource_name` text,
	`text` text NOT NULL,
	`details` text NOT NULL,
	`dedup_key` text NOT NULL,
	`count` integer NOT NULL,
	`occurred_at` integer NOT NULL,
	`read_at` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notices_dedup_key` ON `notices` (`workspace_id`,`dedup_key`);--> statement-breakpoint
CREATE INDEX `notices_workspace` ON `notices` (`workspace_id`,`occurred_at`,`id`);--> statement-breakpoint
CREATE INDEX `notices_occurred` ON `notices` (`occurred_at`);--> statement-breakpoint
CREATE TABLE `deprecation_uses` (
	`workspace_id` text NOT NULL,
	`token_id` text NOT NULL,
	`subject` text NOT NULL,
	`uses` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	PRIMARY KEY(`token_id`, `subject`),
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`token_id`) REFERENCES `tokens`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `deprecation_uses_workspace` ON `deprecation_uses` (`workspace_id`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`role` text NOT NULL,
	`code_hash` text NOT NULL,
	`invited_by` text NOT NULL,
	`by_operator` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`accepted_at` integer,
	`accepted_by` text,
	`sent_to` text,
	`mailed_at` integer,
	`mail_error` text,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_code_hash` ON `invitations` (`code_hash`);--> statement-breakpoint
CREATE INDEX `invitations_workspace` ON `invitations` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `memberships` (
	`workspace_id` text NOT NULL,
	`user_id` text NOT NULL,
	`role` text NOT NULL,
	`seen_at` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `user_id`),
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `memberships_user` ON `memberships` (`user_id`);--> statement-breakpoint
CREATE TABLE `one_time_codes` (
	`user_id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`secret_sealed` text NOT NULL,
	`confirmed_at` integer,
	`last_step` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`transports` text NOT NULL,
	`backed_up` integer NOT NULL,
	`name` text NOT NULL,
	`last_used_at` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_credential` ON `passkeys` (`credential_id`);--> statement-breakpoint
CREATE INDEX `passkeys_user` ON `passkeys` (`user_id`,`id`);--> statement-breakpoint
CREATE TABLE `password_resets` (
	`code_hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `password_resets_user` ON `password_resets` (`user_id`);--> statement-breakpoint
CREATE INDEX `password_resets_expires` ON `password_resets` (`expires_at`);--> statement-breakpoint
CREATE TABLE `plans` (
	`id` text PRIMARY KEY NOT NULL,
	`title` text NOT NULL,
	`api_access` text NOT NULL,
	`limits` text NOT NULL,
	`is_default` integer NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`user_id` text NOT NULL,
	`tag` text NOT NULL,
	`used_at` integer,
	PRIMARY KEY(`user_id`, `tag`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`user_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`ip` text NOT NULL,
	`user_agent` text NOT NULL,
	`created_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_token_hash` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_expires` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `spent_challenges` (
	`hash` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `spent_challenges_expires` ON `spent_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`token_hash` text NOT NULL,
	`hint` text NOT NULL,
	`mode` text NOT NULL,
	`permissions` text NOT NULL,
	`allowed_cidrs` text NOT NULL,
	`resource_ids` text NOT NULL,
	`created_by` text NOT NULL,
	`rotated_from` text,
	`rotated_to` text,
	`grace_seconds` integer,
	`expires_at` integer,
	`last_used_at` integer,
	`last_used_ip` text,
	`revoked_at` integer,
	`warned_end` integer,
	`warned_days` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tokens_hash` ON `tokens` (`token_hash`);--> statement-breakpoint
CREATE INDEX `tokens_workspace` ON `tokens` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `tokens_expires` ON `tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text NOT NULL,
	`password_hash` text NOT NULL,
	`is_operator` integer NOT NULL,
	`disabled_at` integer,
	`preferences` text,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`email`);--> statement-breakpoint
CREATE TABLE `workspaces` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`plan_id` text NOT NULL,
	`is_operator` integer NOT NULL,
	`network_policy` text NOT NULL,
	`limit_overrides` text NOT NULL,
	`suspended_at` integer,
	`suspension_reason` text,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`plan_id`) REFERENCES `plans`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workspaces_name` ON `workspaces` (`name`);--> statement-breakpoint
CREATE TABLE `action_resources` (
	`action_id` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`locked` text,
	PRIMARY KEY(`action_id`, `resource_id`),
	FOREIGN KEY (`action_id`) REFERENCES `actions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `action_resources_resource` ON `action_resources` (`resource_id`,`action_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `action_resources_locked` ON `action_resources` (`locked`);--> statement-breakpoint
CREATE TABLE `actions` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`type` text NOT NULL,
	`area` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`resources` text NOT NULL,
	`status` text NOT NULL,
	`cancelable` integer NOT NULL,
	`cancel_requested_at` integer,
	`progress` integer NOT NULL,
	`steps` text NOT NULL,
	`input` text NOT NULL,
	`state` text,
	`chunk_in_progress` integer NOT NULL,
	`result` text,
	`error` text,
	`actor` text NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `actions_workspace` ON `actions` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `actions_status` ON `actions` (`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `actions_finished` ON `actions` (`finished_at`);--> statement-breakpoint
CREATE TABLE `audit_streams` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`url` text NOT NULL,
	`actions` text,
	`active` integer NOT NULL,
	`secret_sealed` text NOT NULL,
	`secret_hint` text NOT NULL,
	`next_secret_sealed` text,
	`next_secret_hint` text,
	`rotates_at` integer,
	`position` integer NOT NULL,
	`checkpoint` integer NOT NULL,
	`retry_position` integer,
	`retry_checkpoint` integer,
	`failed_attempts` integer NOT NULL,
	`failing_since` integer,
	`next_attempt_at` integer,
	`last_success_at` integer,
	`last_error` text,
	`sender` text,
	`sender_until` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `audit_streams_workspace` ON `audit_streams` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `dns_past_serials` (
	`name` text PRIMARY KEY NOT NULL,
	`serial` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `dns_record_marks` (
	`workspace_id` text NOT NULL,
	`zone_id` text NOT NULL,
	`record_id` text NOT NULL,
	`mark` text NOT NULL,
	PRIMARY KEY(`record_id`, `mark`),
	FOREIGN KEY (`record_id`) REFERENCES `dns_records`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_record_marks_workspace` ON `dns_record_marks` (`workspace_id`,`mark`,`record_id`);--> statement-breakpoint
CREATE INDEX `dns_record_marks_zone` ON `dns_record_marks` (`zone_id`,`mark`,`record_id`);--> statement-breakpoint
CREATE TABLE `dns_records` (
	`id` text PRIMARY KEY NOT NULL,
	`rrset_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`zone_id` text NOT NULL,
	`name` text NOT NULL,
	`name_reversed` text NOT NULL,
	`type` text NOT NULL,
	`source` text NOT NULL,
	`content` text NOT NULL,
	`content_key` text NOT NULL,
	`target` text,
	`rdata` blob NOT NULL,
	`rdata_hash` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`rrset_id`) REFERENCES `dns_rrsets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dns_records_rdata` ON `dns_records` (`rrset_id`,`rdata_hash`);--> statement-breakpoint
CREATE INDEX `dns_records_workspace` ON `dns_records` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_type` ON `dns_records` (`workspace_id`,`type`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_name` ON `dns_records` (`workspace_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_name_reversed` ON `dns_records` (`workspace_id`,`name_reversed`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_content` ON `dns_records` (`workspace_id`,`content_key`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_source` ON `dns_records` (`workspace_id`,`source`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_updated` ON `dns_records` (`workspace_id`,`updated_at`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_zone` ON `dns_records` (`zone_id`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_zone_type` ON `dns_records` (`zone_id`,`type`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_zone_name` ON `dns_records` (`zone_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_zone_name_reversed` ON `dns_records` (`zone_id`,`name_reversed`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_zone_content` ON `dns_records` (`zone_id`,`content_key`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_zone_updated` ON `dns_records` (`zone_id`,`updated_at`,`id`);--> statement-breakpoint
CREATE INDEX `dns_records_zone_target` ON `dns_records` (`zone_id`,`target`);--> statement-breakpoint
CREATE TABLE `dns_rrset_changes` (
	`zone_id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`number` integer NOT NULL,
	PRIMARY KEY(`zone_id`, `name`, `type`)
);
--> statement-breakpoint
CREATE INDEX `dns_rrset_changes_number` ON `dns_rrset_changes` (`zone_id`,`number`);--> statement-breakpoint
CREATE TABLE `dns_rrsets` (
	`id` text PRIMARY KEY NOT NULL,
	`zone_id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`ttl` integer NOT NULL,
	`source` text NOT NULL,
	`comment` text NOT NULL,
	`options` text,
	`locked` integer NOT NULL,
	`tags` text NOT NULL,
	`expires_at` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dns_rrsets_name` ON `dns_rrsets` (`zone_id`,`name`,`type`);--> statement-breakpoint
CREATE INDEX `dns_rrsets_expiring` ON `dns_rrsets` (`expires_at`) WHERE expires_at is not null;--> statement-breakpoint
CREATE TABLE `dns_zone_changes` (
	`zone_id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`name` text NOT NULL,
	`whole_number` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dns_zone_changes_number` ON `dns_zone_changes` (`number`);--> statement-breakpoint
CREATE TABLE `dns_zones` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`unicode_name` text NOT NULL,
	`status` text NOT NULL,
	`default_ttl` integer NOT NULL,
	`soa_mname` text NOT NULL,
	`soa_rname` text NOT NULL,
	`soa_ttl` integer NOT NULL,
	`soa_refresh` integer NOT NULL,
	`soa_retry` integer NOT NULL,
	`soa_expire` integer NOT NULL,
	`soa_minimum` integer NOT NULL,
	`serial` integer NOT NULL,
	`record_count` integer NOT NULL,
	`update_limit` integer,
	`delete_limit` integer,
	`provider_id` text NOT NULL,
	`is_served` integer NOT NULL,
	`target_count` integer NOT NULL,
	`sync_state` text NOT NULL,
	`is_synced` integer NOT NULL,
	`apply` text NOT NULL,
	`drift_policy` text NOT NULL,
	`unmanaged` text NOT NULL,
	`ignore_rules` text,
	`blocked_plan_id` text,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dns_zones_name` ON `dns_zones` (`name`);--> statement-breakpoint
CREATE INDEX `dns_zones_workspace` ON `dns_zones` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `dns_zones_by_name` ON `dns_zones` (`workspace_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `dns_zones_by_state` ON `dns_zones` (`workspace_id`,`sync_state`,`id`);--> statement-breakpoint
CREATE INDEX `dns_zones_by_synced` ON `dns_zones` (`workspace_id`,`is_synced`,`id`);--> statement-breakpoint
CREATE INDEX `dns_zones_by_provider` ON `dns_zones` (`workspace_id`,`provider_id`,`id`);--> statement-breakpoint
CREATE INDEX `dns_zones_blocked` ON `dns_zones` (`workspace_id`,`id`) WHERE blocked_plan_id is not null;--> statement-breakpoint
CREATE TABLE `flips` (
	`id` text PRIMARY KEY NOT NULL,
	`heartbeat_id` text NOT NULL,
	`at` integer NOT NULL,
	`from_status` text NOT NULL,
	`to_status` text NOT NULL,
	`reason` text NOT NULL,
	FOREIGN KEY (`heartbeat_id`) REFERENCES `heartbeats`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `flips_heartbeat` ON `flips` (`heartbeat_id`,`id`);--> statement-breakpoint
CREATE TABLE `heartbeats` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`tags` text NOT NULL,
	`description` text NOT NULL,
	`schedule` text NOT NULL,
	`methods` text NOT NULL,
	`manual_resume` integer NOT NULL,
	`first_ping_within_seconds` integer,
	`severity` text DEFAULT 'critical' NOT NULL,
	`channel_ids` text,
	`uuid_hash` text NOT NULL,
	`uuid_sealed` text NOT NULL,
	`status` text NOT NULL,
	`alert_held_until` integer,
	`status_since` integer NOT NULL,
	`last_ping_at` integer,
	`open_runs` text NOT NULL,
	`last_duration_ms` integer,
	`expected_at` integer,
	`down_at` integer,
	`ping_count` integer NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `heartbeats_workspace` ON `heartbeats` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `heartbeats_slug` ON `heartbeats` (`workspace_id`,`slug`);--> statement-breakpoint
CREATE INDEX `heartbeats_name` ON `heartbeats` (`workspace_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `heartbeats_down` ON `heartbeats` (`down_at`);--> statement-breakpoint
CREATE INDEX `heartbeats_alert_held_until` ON `heartbeats` (`alert_held_until`);--> statement-breakpoint
CREATE UNIQUE INDEX `heartbeats_uuid` ON `heartbeats` (`uuid_hash`);--> statement-breakpoint
CREATE TABLE `ping_keys` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`key_hash` text NOT NULL,
	`key_sealed` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `ping_keys_hash` ON `ping_keys` (`key_hash`);--> statement-breakpoint
CREATE TABLE `pings` (
	`heartbeat_id` text NOT NULL,
	`n` integer NOT NULL,
	`kind` text NOT NULL,
	`at` integer NOT NULL,
	`exit_status` integer,
	`duration_ms` integer,
	`rid` text,
	`source` text NOT NULL,
	`user_agent` text NOT NULL,
	`method` text NOT NULL,
	`body` blob,
	PRIMARY KEY(`heartbeat_id`, `n`),
	FOREIGN KEY (`heartbeat_id`) REFERENCES `heartbeats`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
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
	`resolved_ms` integer NOT NULL,
	`reopen_count` integer NOT NULL,
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
CREATE TABLE `plan_excesses` (
	`workspace_id` text NOT NULL,
	`limit_name` text NOT NULL,
	`max` integer NOT NULL,
	`since` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `limit_name`),
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
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
	`certificate_expires_at` integer,
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
CREATE INDEX `monitors_certificate` ON `monitors` (`workspace_id`,`certificate_expires_at`,`id`) WHERE certificate_expires_at is not null;--> statement-breakpoint
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
	`is_default` integer NOT NULL,
	`topics` text NOT NULL,
	`min_severity` text NOT NULL,
	`tags` text NOT NULL,
	`remind_every_seconds` integer,
	`max_reminders` integer NOT NULL,
	`quiet_hours` text,
	`group_seconds` integer NOT NULL,
	`active` integer NOT NULL,
	`status` text NOT NULL,
	`disabled_reason` text,
	`consecutive_failures` integer NOT NULL,
	`consecutive_gone` integer NOT NULL,
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
	`dedup_key` text NOT NULL,
	`message` text NOT NULL,
	`reminder` integer NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`attempt_count` integer NOT NULL,
	`due_at` integer NOT NULL,
	`give_up_at` integer NOT NULL,
	`last_error` text,
	`response` text,
	`sent_with_id` text,
	`sent_at` integer,
	`finished_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_dedup_key` ON `notifications` (`channel_id`,`dedup_key`);--> statement-breakpoint
CREATE INDEX `notifications_workspace` ON `notifications` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_channel` ON `notifications` (`channel_id`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_due` ON `notifications` (`channel_id`,`status`,`due_at`);--> statement-breakpoint
CREATE INDEX `notifications_thread` ON `notifications` (`channel_id`,`thread`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_finished` ON `notifications` (`finished_at`);--> statement-breakpoint
CREATE TABLE `webhook_attempts` (
	`id` text PRIMARY KEY NOT NULL,
	`delivery_id` text NOT NULL,
	`number` integer NOT NULL,
	`trigger` text NOT NULL,
	`started_at` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`status_code` integer,
	`error_class` text,
	`error_message` text,
	`request` text NOT NULL,
	`response` text,
	`timings` text NOT NULL,
	FOREIGN KEY (`delivery_id`) REFERENCES `webhook_deliveries`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_attempts_number` ON `webhook_attempts` (`delivery_id`,`number`);--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`event_id` text,
	`message_id` text NOT NULL,
	`event` text NOT NULL,
	`resource_type` text,
	`resource_id` text,
	`sequence` integer,
	`order_position` integer,
	`occurred_at` integer NOT NULL,
	`test_body` text,
	`status` text NOT NULL,
	`reason` text,
	`attempt_count` integer NOT NULL,
	`last_status_code` integer,
	`last_error_class` text,
	`next_attempt_at` integer,
	`finished_at` integer,
	`ended_as` text,
	`expunged_at` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_event_endpoint` ON `webhook_deliveries` (`event_id`,`endpoint_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_workspace` ON `webhook_deliveries` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_endpoint` ON `webhook_deliveries` (`endpoint_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_status` ON `webhook_deliveries` (`workspace_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_line` ON `webhook_deliveries` (`endpoint_id`,`resource_id`,`order_position`) WHERE "webhook_deliveries"."order_position" is not null and "webhook_deliveries"."finished_at" is null;--> statement-breakpoint
CREATE TABLE `webhook_dispatches` (
	`workspace_id` text NOT NULL,
	`resource_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `resource_id`)
);
--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`url` text NOT NULL,
	`description` text NOT NULL,
	`events` text NOT NULL,
	`resource_ids` text,
	`active` integer NOT NULL,
	`status` text NOT NULL,
	`disabled_reason` text,
	`secret_sealed` text NOT NULL,
	`secret_hint` text NOT NULL,
	`next_secret_sealed` text,
	`next_secret_hint` text,
	`rotates_at` integer,
	`headers_sealed` text,
	`header_names` text NOT NULL,
	`retry_schedule` text,
	`timeout_seconds` integer NOT NULL,
	`max_per_second` integer,
	`rate_reserved_until_us` integer,
	`ordering` text NOT NULL,
	`failed_attempts` integer NOT NULL,
	`consecutive_gone` integer NOT NULL,
	`consecutive_failures` integer NOT NULL,
	`breaker_openings` integer NOT NULL,
	`breaker_until` integer,
	`failing_since` integer,
	`last_failed_at` integer,
	`failing_notice_hours` integer,
	`last_success_at` integer,
	`reenabled_at` integer,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_workspace` ON `webhook_endpoints` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_endpoints_failing` ON `webhook_endpoints` (`failing_since`);--> statement-breakpoint
CREATE TABLE `webhook_rate_windows` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`begun` text NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `dns_providers` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
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
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dns_providers_name` ON `dns_providers` (`workspace_id`,`name`);--> statement-breakpoint
CREATE INDEX `dns_providers_workspace` ON `dns_providers` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `dns_alias_addresses` (
	`rrset_id` text PRIMARY KEY NOT NULL,
	`zone_id` text NOT NULL,
	`name` text NOT NULL,
	`target` text NOT NULL,
	`ipv4` text NOT NULL,
	`ipv6` text NOT NULL,
	`ttl` integer NOT NULL,
	`highest_ttl` integer NOT NULL,
	`ttl_since` integer NOT NULL,
	`failures` integer NOT NULL,
	`looked_up_at` integer NOT NULL,
	FOREIGN KEY (`rrset_id`) REFERENCES `dns_rrsets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_alias_addresses_zone` ON `dns_alias_addresses` (`zone_id`,`name`);--> statement-breakpoint
CREATE TABLE `dns_alias_paths` (
	`rrset_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`name_reversed` text NOT NULL,
	PRIMARY KEY(`rrset_id`, `name_reversed`),
	FOREIGN KEY (`rrset_id`) REFERENCES `dns_rrsets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_alias_paths_name` ON `dns_alias_paths` (`workspace_id`,`name_reversed`);--> statement-breakpoint
CREATE TABLE `dns_changeset_rrsets` (
	`zone_id` text NOT NULL,
	`version` integer NOT NULL,
	`place` integer NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`before` text,
	`after` text,
	PRIMARY KEY(`zone_id`, `version`, `place`)
);
--> statement-breakpoint
CREATE INDEX `dns_changeset_rrsets_name` ON `dns_changeset_rrsets` (`zone_id`,`name`,`type`,`version`);--> statement-breakpoint
CREATE TABLE `dns_changesets` (
	`id` text PRIMARY KEY NOT NULL,
	`zone_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`serial_before` integer NOT NULL,
	`serial_after` integer NOT NULL,
	`soa_before` text,
	`soa_after` text,
	`actor` text NOT NULL,
	`actor_id` text NOT NULL,
	`origin` text NOT NULL,
	`note` text,
	`plan_id` text,
	`created` integer NOT NULL,
	`updated` integer NOT NULL,
	`deleted` integer NOT NULL,
	`rrset_count` integer NOT NULL,
	`occurred_at` integer NOT NULL,
	`request_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dns_changesets_version` ON `dns_changesets` (`zone_id`,`version`);--> statement-breakpoint
CREATE INDEX `dns_changesets_time` ON `dns_changesets` (`workspace_id`,`occurred_at`);--> statement-breakpoint
CREATE TABLE `dns_found_records` (
	`id` text PRIMARY KEY NOT NULL,
	`target_id` text NOT NULL,
	`zone_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`name_reversed` text NOT NULL,
	`type` text NOT NULL,
	`ttl` integer NOT NULL,
	`content` text NOT NULL,
	`found_at` integer NOT NULL,
	FOREIGN KEY (`target_id`) REFERENCES `dns_zone_targets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_found_records_workspace` ON `dns_found_records` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `dns_found_records_zone` ON `dns_found_records` (`zone_id`,`id`);--> statement-breakpoint
CREATE INDEX `dns_found_records_rrset` ON `dns_found_records` (`target_id`,`name`,`type`);--> statement-breakpoint
CREATE TABLE `dns_plans` (
	`id` text PRIMARY KEY NOT NULL,
	`zone_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`zone_version` integer NOT NULL,
	`hash` text NOT NULL,
	`edits` text,
	`zone_edit` text,
	`targets` text NOT NULL,
	`blocked` text NOT NULL,
	`origin` text NOT NULL,
	`source` text NOT NULL,
	`note` text NOT NULL,
	`allowed` text NOT NULL,
	`enforce` text,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`applied_at` integer,
	FOREIGN KEY (`zone_id`) REFERENCES `dns_zones`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_plans_zone` ON `dns_plans` (`zone_id`,`id`);--> statement-breakpoint
CREATE INDEX `dns_plans_expires` ON `dns_plans` (`expires_at`);--> statement-breakpoint
CREATE TABLE `dns_target_rrsets` (
	`target_id` text NOT NULL,
	`zone_id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`agreed` text,
	`observed` text,
	`observed_ttl` integer,
	`observed_values` text,
	`state` text NOT NULL,
	`kind` text,
	`sent` text,
	`detail` text,
	`since` integer NOT NULL,
	PRIMARY KEY(`target_id`, `name`, `type`),
	FOREIGN KEY (`target_id`) REFERENCES `dns_zone_targets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_target_rrsets_zone` ON `dns_target_rrsets` (`zone_id`,`name`,`type`);--> statement-breakpoint
CREATE INDEX `dns_target_rrsets_state` ON `dns_target_rrsets` (`target_id`,`state`,`name`,`type`);--> statement-breakpoint
CREATE TABLE `dns_zone_targets` (
	`id` text PRIMARY KEY NOT NULL,
	`zone_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`remote_ref` text,
	`enabled` integer NOT NULL,
	`state` text NOT NULL,
	`last_read_at` integer,
	`last_good_count` integer,
	`last_sync_at` integer,
	`observed_hash` text,
	`remote_serial` integer,
	`error` text,
	`is_stale` integer NOT NULL,
	`consecutive_failures` integer NOT NULL,
	`failure_notified` integer NOT NULL,
	`blocked_for` text,
	`next_poll_at` integer NOT NULL,
	`throttled_until` integer NOT NULL,
	`claim` text,
	`claimed_until` integer NOT NULL,
	`enforced_since` integer NOT NULL,
	`enforced_runs` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`zone_id`) REFERENCES `dns_zones`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `dns_providers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dns_zone_targets_provider` ON `dns_zone_targets` (`zone_id`,`provider_id`);--> statement-breakpoint
CREATE INDEX `dns_zone_targets_poll` ON `dns_zone_targets` (`next_poll_at`);--> statement-breakpoint
CREATE INDEX `dns_zone_targets_of_provider` ON `dns_zone_targets` (`provider_id`);--> statement-breakpoint
CREATE TABLE `dns_template_bindings` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`template_id` text NOT NULL,
	`zone_id` text NOT NULL,
	`host` text NOT NULL,
	`mode` text NOT NULL,
	`variables` text NOT NULL,
	`template_version` integer NOT NULL,
	`pending` integer NOT NULL,
	`modified` integer NOT NULL,
	`error` text,
	`applied_at` integer NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`zone_id`) REFERENCES `dns_zones`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_template_bindings_workspace` ON `dns_template_bindings` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `dns_template_bindings_template` ON `dns_template_bindings` (`workspace_id`,`template_id`,`id`);--> statement-breakpoint
CREATE INDEX `dns_template_bindings_zone` ON `dns_template_bindings` (`zone_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `dns_template_bindings_linked` ON `dns_template_bindings` (`template_id`,`zone_id`,`host`) WHERE "dns_template_bindings"."mode" = 'linked';--> statement-breakpoint
CREATE TABLE `dns_template_rrsets` (
	`binding_id` text NOT NULL,
	`zone_id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`placed` text NOT NULL,
	PRIMARY KEY(`binding_id`, `name`, `type`),
	FOREIGN KEY (`binding_id`) REFERENCES `dns_template_bindings`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_template_rrsets_name` ON `dns_template_rrsets` (`zone_id`,`name`);--> statement-breakpoint
CREATE TABLE `dns_template_versions` (
	`template_id` text NOT NULL,
	`version` integer NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`content` text NOT NULL,
	`actor` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`template_id`, `version`),
	FOREIGN KEY (`template_id`) REFERENCES `dns_templates`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `dns_templates` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`content` text NOT NULL,
	`content_version` integer NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_templates_workspace` ON `dns_templates` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `dns_secondaries` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`address` text NOT NULL,
	`port` integer NOT NULL,
	`key_id` text,
	`notified_at` integer,
	`acknowledged_at` integer,
	`error` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_secondaries_workspace` ON `dns_secondaries` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `dns_serving` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`transfer_key_ids` text,
	`catalog_enabled` integer NOT NULL,
	`catalog_name` text NOT NULL,
	`catalog_key_id` text,
	`catalog_serial` integer NOT NULL,
	`version` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dns_serving_catalog` ON `dns_serving` (`catalog_name`);--> statement-breakpoint
CREATE TABLE `dns_transfers` (
	`workspace_id` text NOT NULL,
	`zone` text NOT NULL,
	`address` text NOT NULL,
	`key_id` text NOT NULL,
	`serial` integer NOT NULL,
	`type` text NOT NULL,
	`transferred_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `zone`, `address`, `key_id`),
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dns_transfers_at` ON `dns_transfers` (`transferred_at`);--> statement-breakpoint
CREATE TABLE `dns_tsig_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`algorithm` text NOT NULL,
	`secret_sealed` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dns_tsig_keys_name` ON `dns_tsig_keys` (`name`);--> statement-breakpoint
CREATE INDEX `dns_tsig_keys_workspace` ON `dns_tsig_keys` (`workspace_id`,`id`);