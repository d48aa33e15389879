CREATE TABLE `calendar_feeds` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`include` text NOT NULL,
	`tags` text NOT NULL,
	`secret_hash` text NOT NULL,
	`secret_sealed` text NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `calendar_feeds_workspace` ON `calendar_feeds` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `calendar_feeds_name` ON `calendar_feeds` (`workspace_id`,`name`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `calendar_feeds_secret` ON `calendar_feeds` (`secret_hash`);--> statement-breakpoint
CREATE TABLE `crl_parts` (
	`crl_id` text NOT NULL,
	`bucket` integer NOT NULL,
	`entries` blob NOT NULL,
	PRIMARY KEY(`crl_id`, `bucket`),
	FOREIGN KEY (`crl_id`) REFERENCES `crls`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `crls` (
	`id` text PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`visited` text NOT NULL,
	`issuer_hash` text NOT NULL,
	`spki_sha256` text NOT NULL,
	`scope` text NOT NULL,
	`this_update` integer NOT NULL,
	`next_update` integer NOT NULL,
	`kept_until` integer NOT NULL,
	`size` integer NOT NULL,
	`buckets` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `crls_url` ON `crls` (`url`);--> statement-breakpoint
CREATE INDEX `crls_kept` ON `crls` (`kept_until`,`id`);--> statement-breakpoint
CREATE TABLE `contacts` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`label` text NOT NULL,
	`country` text NOT NULL,
	`tags` text NOT NULL,
	`personal_sealed` text NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `contacts_workspace` ON `contacts` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `contacts_label` ON `contacts` (`workspace_id`,`label`,`id`);--> statement-breakpoint
CREATE TABLE `ct_searches` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`cursor` text NOT NULL,
	`due_at` integer NOT NULL,
	`checked_at` integer,
	`failures` integer NOT NULL,
	`error` text,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `ct_searches_workspace` ON `ct_searches` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `domain_history` (
	`id` text PRIMARY KEY NOT NULL,
	`domain_id` text NOT NULL,
	`at` integer NOT NULL,
	`from_status` text NOT NULL,
	`to_status` text NOT NULL,
	`source` text NOT NULL,
	`irregular` integer NOT NULL,
	FOREIGN KEY (`domain_id`) REFERENCES `domains`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `domain_history_domain` ON `domain_history` (`domain_id`,`id`);--> statement-breakpoint
CREATE TABLE `domain_readings` (
	`domain_id` text NOT NULL,
	`source` text NOT NULL,
	`at` integer NOT NULL,
	`state` text NOT NULL,
	`facts` text,
	`expires_since` integer,
	`detail` text,
	PRIMARY KEY(`domain_id`, `source`),
	FOREIGN KEY (`domain_id`) REFERENCES `domains`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `domains` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`zone_id` text,
	`expected_nameservers` text,
	`notify_days` text,
	`tags` text NOT NULL,
	`notes` text NOT NULL,
	`unicode_name` text NOT NULL,
	`tld` text NOT NULL,
	`management` text NOT NULL,
	`registrar_account_id` text,
	`status` text NOT NULL,
	`status_since` integer NOT NULL,
	`expires_at` integer,
	`expires_order` integer NOT NULL,
	`expiry_source` text,
	`expiry_confidence` text NOT NULL,
	`expiry_hint` text,
	`given_expires_at` integer,
	`registrar_expires_at` integer,
	`registry_expires_at` integer,
	`facts` text NOT NULL,
	`auto_renew` integer,
	`delegation_state` text NOT NULL,
	`delegation` text NOT NULL,
	`sync_state` text NOT NULL,
	`checked_at` integer,
	`next_check_at` integer,
	`sync_error` text,
	`absent_since` integer,
	`notified_end` integer,
	`notified_day` integer,
	`look_every_seconds` integer NOT NULL,
	`due_at` integer,
	`registrant_id` text,
	`admin_id` text,
	`tech_id` text,
	`billing_id` text,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `domains_workspace` ON `domains` (`workspace_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `domains_name` ON `domains` (`workspace_id`,`name`);--> statement-breakpoint
CREATE INDEX `domains_expires` ON `domains` (`workspace_id`,`expires_order`,`id`);--> statement-breakpoint
CREATE INDEX `domains_status` ON `domains` (`workspace_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `domains_created` ON `domains` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `domains_account` ON `domains` (`registrar_account_id`,`id`);--> statement-breakpoint
CREATE INDEX `domains_everywhere` ON `domains` (`name`);--> statement-breakpoint
CREATE INDEX `domains_due` ON `domains` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE TABLE `registrar_account_names` (
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	PRIMARY KEY(`account_id`, `name`),
	FOREIGN KEY (`account_id`) REFERENCES `registrar_accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `registrar_accounts` (
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
	`manage_new` text NOT NULL,
	`currency` text,
	`balance` text,
	`monthly_limit` text,
	`order_limit` text,
	`last_sync_at` integer,
	`next_sync_at` integer,
	`sync_failures` integer NOT NULL,
	`sync_error` text,
	`listed_count` integer NOT NULL,
	`shrunk_since` integer,
	`left_out_count` integer NOT NULL,
	`is_balance_low` integer NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `registrar_accounts_name` ON `registrar_accounts` (`workspace_id`,`name`);--> statement-breakpoint
CREATE INDEX `registrar_accounts_workspace` ON `registrar_accounts` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `registrar_accounts_next_sync` ON `registrar_accounts` (`next_sync_at`) WHERE next_sync_at is not null;--> statement-breakpoint
CREATE TABLE `registry_facts` (
	`name` text PRIMARY KEY NOT NULL,
	`tld` text NOT NULL,
	`state` text NOT NULL,
	`read_at` integer,
	`facts` text,
	`ends_at` integer,
	`ends_changed_at` integer NOT NULL,
	`evidence` text NOT NULL,
	`failures` integer NOT NULL,
	`next_look_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `registry_facts_due` ON `registry_facts` (`next_look_at`);--> statement-breakpoint
CREATE INDEX `registry_facts_tld` ON `registry_facts` (`tld`);--> statement-breakpoint
CREATE INDEX `registry_facts_changed` ON `registry_facts` (`ends_changed_at`);--> statement-breakpoint
CREATE TABLE `registry_hosts` (
	`server` text PRIMARY KEY NOT NULL,
	`pace_at` integer NOT NULL,
	`day` integer NOT NULL,
	`used_today` integer NOT NULL,
	`failures` integer NOT NULL,
	`blocked_until` integer,
	`last_error` text,
	`last_ok_at` integer
);
--> statement-breakpoint
CREATE INDEX `registry_hosts_blocked` ON `registry_hosts` (`blocked_until`) WHERE blocked_until is not null;--> statement-breakpoint
CREATE TABLE `registry_interests` (
	`holder_type` text NOT NULL,
	`holder_id` text NOT NULL,
	`name` text NOT NULL,
	`every_seconds` integer NOT NULL,
	PRIMARY KEY(`holder_type`, `holder_id`)
);
--> statement-breakpoint
CREATE INDEX `registry_interests_name` ON `registry_interests` (`name`,`every_seconds`);--> statement-breakpoint
DROP INDEX `managed_certificates_issuing`;--> statement-breakpoint
ALTER TABLE `managed_certificates` ADD `deliver_server_id` text;--> statement-breakpoint
ALTER TABLE `managed_certificates` ADD `install_profile` text;--> statement-breakpoint
ALTER TABLE `managed_certificates` ADD `delivered_at` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `managed_certificates_delivery` ON `managed_certificates` (`deliver_server_id`,`install_profile`) WHERE deliver_server_id is not null;--> statement-breakpoint
CREATE INDEX `managed_certificates_issuing` ON `managed_certificates` (`id`) WHERE status in ('issuing', 'delivering');--> statement-breakpoint
ALTER TABLE `certificates` ADD `crl_url` text;--> statement-breakpoint
ALTER TABLE `certificates` ADD `crl_due_at` integer;--> statement-breakpoint
ALTER TABLE `certificates` ADD `crl_checked_at` integer;--> statement-breakpoint
ALTER TABLE `certificates` ADD `crl_error` text;--> statement-breakpoint
CREATE INDEX `certificates_crl` ON `certificates` (`crl_due_at`) WHERE crl_due_at is not null and (in_use or is_only_issuer);--> statement-breakpoint
ALTER TABLE `certificate_gaps` ADD `timeline` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `certificate_gaps` ADD `incident_id` text;--> statement-breakpoint
CREATE INDEX `certificate_gaps_endpoint` ON `certificate_gaps` (`endpoint_id`);--> statement-breakpoint
CREATE INDEX `certificate_gaps_certificate` ON `certificate_gaps` (`certificate_id`);--> statement-breakpoint
ALTER TABLE `certificate_settings` ADD `ct_kind` text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE `certificate_settings` ADD `ct_url` text;--> statement-breakpoint
ALTER TABLE `certificate_settings` ADD `ct_token_sealed` text;--> statement-breakpoint
ALTER TABLE `tls_endpoints` ADD `gone_at` integer;--> statement-breakpoint
ALTER TABLE `tls_endpoints` ADD `plain_http` text;