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
CREATE INDEX `dynamic_ip_links_rule` ON `dynamic_ip_links` (`firewall_id`,`rule_id`);