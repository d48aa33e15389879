ALTER TABLE `dns_rrsets` ADD `driven_by` text;--> statement-breakpoint
CREATE INDEX `dns_rrsets_driven` ON `dns_rrsets` (`zone_id`) WHERE driven_by is not null;