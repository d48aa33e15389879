CREATE TABLE `certificate_authorities` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`sha256` text NOT NULL,
	`der` blob NOT NULL,
	`subject` text NOT NULL,
	`not_before` integer NOT NULL,
	`not_after` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `certificate_authorities_sha256` ON `certificate_authorities` (`workspace_id`,`sha256`);--> statement-breakpoint
CREATE INDEX `certificate_authorities_workspace` ON `certificate_authorities` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `certificate_names` (
	`certificate_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	PRIMARY KEY(`certificate_id`, `name`),
	FOREIGN KEY (`certificate_id`) REFERENCES `certificates`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `certificate_names_name` ON `certificate_names` (`workspace_id`,`name`);--> statement-breakpoint
CREATE TABLE `certificate_presences` (
	`id` text PRIMARY KEY NOT NULL,
	`certificate_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`kind` text NOT NULL,
	`scope_id` text NOT NULL,
	`place` text NOT NULL,
	`label` text NOT NULL,
	`is_use` integer NOT NULL,
	`data` text NOT NULL,
	`first_seen_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`certificate_id`) REFERENCES `certificates`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `certificate_presences_certificate` ON `certificate_presences` (`certificate_id`);--> statement-breakpoint
CREATE INDEX `certificate_presences_scope` ON `certificate_presences` (`workspace_id`,`kind`,`scope_id`);--> statement-breakpoint
CREATE INDEX `certificate_presences_ended` ON `certificate_presences` (`ended_at`) WHERE ended_at is not null;--> statement-breakpoint
CREATE TABLE `certificates` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`tags` text NOT NULL,
	`notes` text NOT NULL,
	`sha256` text NOT NULL,
	`tbs_sha256` text NOT NULL,
	`der` blob NOT NULL,
	`serial_number` text NOT NULL,
	`common_name` text NOT NULL,
	`subject` text NOT NULL,
	`issuer` text NOT NULL,
	`subject_hash` text NOT NULL,
	`issuer_hash` text NOT NULL,
	`not_before` integer NOT NULL,
	`not_after` integer NOT NULL,
	`key_type` text,
	`key_bits` integer,
	`spki_sha256` text,
	`signature_algorithm` text NOT NULL,
	`contents` text NOT NULL,
	`is_ca` integer NOT NULL,
	`is_only_issuer` integer NOT NULL,
	`is_precertificate` integer NOT NULL,
	`trust` text NOT NULL,
	`chain` text NOT NULL,
	`lineage_id` text NOT NULL,
	`revoked_at` integer,
	`revocation_reason` text,
	`last_seen_at` integer NOT NULL,
	`superseded_by` text,
	`in_use` integer NOT NULL,
	`sources` text NOT NULL,
	`presence_count` integer NOT NULL,
	`auto_renewing` integer NOT NULL,
	`renewal_due_at` integer NOT NULL,
	`expiring_from` integer NOT NULL,
	`critical_from` integer NOT NULL,
	`alarm_level` text,
	`alarm_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `certificates_sha256` ON `certificates` (`workspace_id`,`sha256`);--> statement-breakpoint
CREATE INDEX `certificates_workspace` ON `certificates` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `certificates_created` ON `certificates` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `certificates_not_after` ON `certificates` (`workspace_id`,`not_after`,`id`);--> statement-breakpoint
CREATE INDEX `certificates_common_name` ON `certificates` (`workspace_id`,`common_name`,`id`);--> statement-breakpoint
CREATE INDEX `certificates_tbs` ON `certificates` (`workspace_id`,`tbs_sha256`);--> statement-breakpoint
CREATE INDEX `certificates_subject` ON `certificates` (`workspace_id`,`subject_hash`);--> statement-breakpoint
CREATE INDEX `certificates_issuer` ON `certificates` (`workspace_id`,`issuer_hash`);--> statement-breakpoint
CREATE INDEX `certificates_spki` ON `certificates` (`workspace_id`,`spki_sha256`);--> statement-breakpoint
CREATE INDEX `certificates_serial` ON `certificates` (`workspace_id`,`serial_number`);--> statement-breakpoint
CREATE INDEX `certificates_lineage` ON `certificates` (`workspace_id`,`lineage_id`,`not_before`);--> statement-breakpoint
CREATE INDEX `certificates_expiring` ON `certificates` (`workspace_id`,`expiring_from`) WHERE in_use;--> statement-breakpoint
CREATE INDEX `certificates_unseen` ON `certificates` (`last_seen_at`) WHERE not in_use;--> statement-breakpoint
CREATE INDEX `certificates_alarm` ON `certificates` (`alarm_at`) WHERE alarm_at is not null;--> statement-breakpoint
CREATE TABLE `certificate_coverage` (
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`zone_id` text,
	`because` text NOT NULL,
	`covered` text NOT NULL,
	`certificate_id` text,
	`valid_until` integer,
	`endpoint_ids` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `name`),
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `certificate_coverage_zone` ON `certificate_coverage` (`workspace_id`,`zone_id`,`name`);--> statement-breakpoint
CREATE INDEX `certificate_coverage_covered` ON `certificate_coverage` (`workspace_id`,`covered`,`name`);--> statement-breakpoint
CREATE TABLE `certificate_gaps` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`key` text NOT NULL,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`severity` text NOT NULL,
	`rank` integer NOT NULL,
	`name` text NOT NULL,
	`zone_id` text,
	`endpoint_id` text,
	`certificate_id` text,
	`server_id` text,
	`detail` text NOT NULL,
	`fix` text NOT NULL,
	`evidence` text NOT NULL,
	`is_issuable` integer NOT NULL,
	`observed_at` integer,
	`opened_at` integer NOT NULL,
	`acknowledged_at` integer,
	`acknowledged_until` integer,
	`acknowledged_by` text,
	`note` text NOT NULL,
	`resolved_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `certificate_gaps_key` ON `certificate_gaps` (`workspace_id`,`key`);--> statement-breakpoint
CREATE INDEX `certificate_gaps_workspace` ON `certificate_gaps` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `certificate_gaps_rank` ON `certificate_gaps` (`workspace_id`,`rank`,`id`);--> statement-breakpoint
CREATE INDEX `certificate_gaps_opened` ON `certificate_gaps` (`workspace_id`,`opened_at`,`id`);--> statement-breakpoint
CREATE INDEX `certificate_gaps_name` ON `certificate_gaps` (`workspace_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `certificate_gaps_resolved` ON `certificate_gaps` (`resolved_at`) WHERE resolved_at is not null;--> statement-breakpoint
CREATE TABLE `certificate_settings` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`coverage` text NOT NULL,
	`ignore` text NOT NULL,
	`ports` text NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `tls_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`host` text NOT NULL,
	`port` integer NOT NULL,
	`protocol` text NOT NULL,
	`servername` text,
	`interval_seconds` integer NOT NULL,
	`active` integer NOT NULL,
	`tags` text NOT NULL,
	`location` text NOT NULL,
	`origin` text NOT NULL,
	`uncounted_at` integer,
	`grade` text,
	`grade_rank` integer NOT NULL,
	`previous_grade` text,
	`grade_changed_at` integer,
	`score` integer,
	`profile` text,
	`chain` text,
	`reasons` text NOT NULL,
	`addresses` text NOT NULL,
	`certificate_id` text,
	`last_scan_id` text,
	`last_scan_at` integer,
	`next_scan_at` integer,
	`failures` integer NOT NULL,
	`last_error` text,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `tls_endpoints_workspace` ON `tls_endpoints` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `tls_endpoints_host` ON `tls_endpoints` (`workspace_id`,`host`,`id`);--> statement-breakpoint
CREATE INDEX `tls_endpoints_grade` ON `tls_endpoints` (`workspace_id`,`grade_rank`,`id`);--> statement-breakpoint
CREATE INDEX `tls_endpoints_origin` ON `tls_endpoints` (`origin`,`workspace_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `tls_endpoints_location` ON `tls_endpoints` (`workspace_id`,`location`);--> statement-breakpoint
CREATE INDEX `tls_endpoints_due` ON `tls_endpoints` (`next_scan_at`) WHERE next_scan_at is not null;--> statement-breakpoint
CREATE INDEX `tls_endpoints_counted` ON `tls_endpoints` (`workspace_id`) WHERE uncounted_at is null;--> statement-breakpoint
CREATE TABLE `tls_scans` (
	`id` text PRIMARY KEY NOT NULL,
	`endpoint_id` text NOT NULL,
	`trigger` text NOT NULL,
	`started_at` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`grade` text,
	`score` integer,
	`profile` text,
	`chain` text,
	`rules` text NOT NULL,
	`error` text,
	`report` blob NOT NULL,
	FOREIGN KEY (`endpoint_id`) REFERENCES `tls_endpoints`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `tls_scans_endpoint` ON `tls_scans` (`endpoint_id`,`id`);--> statement-breakpoint
CREATE INDEX `tls_scans_started` ON `tls_scans` (`started_at`);--> statement-breakpoint
CREATE TABLE `acme_accounts` (
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
	`status` text NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `acme_accounts_name` ON `acme_accounts` (`workspace_id`,`name`);--> statement-breakpoint
CREATE INDEX `acme_accounts_workspace` ON `acme_accounts` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `acme_challenges` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`managed_certificate_id` text NOT NULL,
	`zone_id` text NOT NULL,
	`zone_name` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `acme_challenges_certificate` ON `acme_challenges` (`managed_certificate_id`);--> statement-breakpoint
CREATE INDEX `acme_challenges_expiry` ON `acme_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `managed_certificates` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`profile` text,
	`renew` text NOT NULL,
	`tags` text NOT NULL,
	`notes` text NOT NULL,
	`names` text NOT NULL,
	`names_text` text NOT NULL,
	`acme_account_id` text NOT NULL,
	`status` text NOT NULL,
	`paused` integer NOT NULL,
	`key_mode` text NOT NULL,
	`key_type` text NOT NULL,
	`key_retention` text,
	`csr` text,
	`key_sealed` text,
	`key_taken_at` integer,
	`next_key_sealed` text,
	`certificate_id` text,
	`chain` text,
	`issued_by_account_id` text,
	`not_before` integer,
	`not_after` integer,
	`issued_at` integer,
	`revoked_at` integer,
	`ari_id` text,
	`ari` text,
	`ari_check_at` integer,
	`next_renewal_at` integer,
	`attempts` integer NOT NULL,
	`last_error` text,
	`order_url` text,
	`action_id` text,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`acme_account_id`) REFERENCES `acme_accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `managed_certificates_workspace` ON `managed_certificates` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `managed_certificates_account` ON `managed_certificates` (`acme_account_id`);--> statement-breakpoint
CREATE INDEX `managed_certificates_issuer` ON `managed_certificates` (`issued_by_account_id`);--> statement-breakpoint
CREATE INDEX `managed_certificates_renewal` ON `managed_certificates` (`next_renewal_at`) WHERE next_renewal_at is not null;--> statement-breakpoint
CREATE INDEX `managed_certificates_issuing` ON `managed_certificates` (`id`) WHERE status = 'issuing';--> statement-breakpoint
CREATE INDEX `managed_certificates_ari` ON `managed_certificates` (`ari_check_at`) WHERE ari_check_at is not null;--> statement-breakpoint
ALTER TABLE `agents` ADD `certificates_pending` integer DEFAULT true NOT NULL;--> statement-breakpoint
CREATE INDEX `agents_certificates_pending` ON `agents` (`id`) WHERE certificates_pending;