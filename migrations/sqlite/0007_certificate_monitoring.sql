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
ALTER TABLE `certificates` ADD `crl_url` text;--> statement-breakpoint
ALTER TABLE `certificates` ADD `crl_due_at` integer;--> statement-breakpoint
ALTER TABLE `certificates` ADD `crl_checked_at` integer;--> statement-breakpoint
ALTER TABLE `certificates` ADD `crl_error` text;--> statement-breakpoint
CREATE INDEX `certificates_crl` ON `certificates` (`crl_due_at`) WHERE crl_due_at is not null and (in_use or is_only_issuer);--> statement-breakpoint
ALTER TABLE `certificate_gaps` ADD `timeline` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `certificate_gaps` ADD `incident_id` text;--> statement-breakpoint
CREATE INDEX `certificate_gaps_incident` ON `certificate_gaps` (`incident_id`) WHERE incident_id is not null;