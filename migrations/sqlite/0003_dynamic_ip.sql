CREATE TABLE `dynamic_ip_hosts` (
	`id` text PRIMARY KEY NOT NULL,
	`source_id` text NOT NULL,
	`position` integer NOT NULL,
	`name` text NOT NULL,
	`zone_id` text NOT NULL,
	`zone_name` text NOT NULL,
	`families` text,
	`mode` text NOT NULL,
	`suffix6` text,
	`ttl` integer,
	`adopt` integer NOT NULL,
	`ipv4` text,
	`ipv6` text,
	`problem` text,
	FOREIGN KEY (`source_id`) REFERENCES `dynamic_ips`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dynamic_ip_hosts_source` ON `dynamic_ip_hosts` (`source_id`,`position`);--> statement-breakpoint
CREATE UNIQUE INDEX `dynamic_ip_hosts_name` ON `dynamic_ip_hosts` (`zone_id`,`name`);--> statement-breakpoint
CREATE TABLE `dynamic_ip_links` (
	`id` text PRIMARY KEY NOT NULL,
	`source_id` text NOT NULL,
	`firewall_id` text NOT NULL,
	`rule_id` text NOT NULL,
	`families` text NOT NULL,
	`ipv6` text NOT NULL,
	`grace_seconds` integer NOT NULL,
	`on_stale` text NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`applied` text NOT NULL,
	`pending_removal` text NOT NULL,
	`changes` text NOT NULL,
	FOREIGN KEY (`source_id`) REFERENCES `dynamic_ips`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dynamic_ip_links_source` ON `dynamic_ip_links` (`source_id`,`id`);--> statement-breakpoint
CREATE INDEX `dynamic_ip_links_rule` ON `dynamic_ip_links` (`firewall_id`,`rule_id`);--> statement-breakpoint
CREATE TABLE `dynamic_ip_updates` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`source_id` text NOT NULL,
	`at` integer NOT NULL,
	`changed` integer NOT NULL,
	`ipv4` text,
	`ipv6` text,
	`prefix6` text,
	`details` text NOT NULL,
	FOREIGN KEY (`source_id`) REFERENCES `dynamic_ips`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dynamic_ip_updates_source` ON `dynamic_ip_updates` (`source_id`,`id`);--> statement-breakpoint
CREATE INDEX `dynamic_ip_updates_workspace` ON `dynamic_ip_updates` (`workspace_id`,`at`);--> statement-breakpoint
CREATE TABLE `dynamic_ips` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`tags` text NOT NULL,
	`families` text NOT NULL,
	`ttl` integer NOT NULL,
	`stale_after_seconds` integer,
	`prefix_from_ipv6` integer,
	`allow_private` integer NOT NULL,
	`require_https` integer NOT NULL,
	`allowed_cidrs` text NOT NULL,
	`status` text NOT NULL,
	`ipv4` text,
	`ipv6` text,
	`prefix6` text,
	`token_hash` text,
	`token_hint` text,
	`token_created_at` integer,
	`previous_token_hash` text,
	`previous_valid_until` integer,
	`last_seen_at` integer,
	`last_client` text,
	`last_changed_at` integer,
	`stale_at` integer,
	`hold` text,
	`held_until` integer,
	`changes` text NOT NULL,
	FOREIGN KEY (`workspace_id`) REFERENCES `workspaces`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `dynamic_ips_workspace` ON `dynamic_ips` (`workspace_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `dynamic_ips_name` ON `dynamic_ips` (`workspace_id`,`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `dynamic_ips_token` ON `dynamic_ips` (`token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `dynamic_ips_previous_token` ON `dynamic_ips` (`previous_token_hash`);--> statement-breakpoint
CREATE INDEX `dynamic_ips_stale` ON `dynamic_ips` (`stale_at`) WHERE stale_at is not null;--> statement-breakpoint
CREATE INDEX `dynamic_ips_held` ON `dynamic_ips` (`held_until`) WHERE held_until is not null;--> statement-breakpoint
ALTER TABLE `dns_rrsets` ADD `driven_by` text;--> statement-breakpoint
CREATE INDEX `dns_rrsets_driven` ON `dns_rrsets` (`zone_id`) WHERE driven_by is not null;--> statement-breakpoint
ALTER TABLE `dns_zone_targets` ADD `min_ttl` integer;