DROP INDEX `events_workspace`;--> statement-breakpoint
CREATE INDEX `events_occurred` ON `events` (`workspace_id`,`occurred_at`,`position`);--> statement-breakpoint
CREATE INDEX `audit_entries_actor` ON `audit_entries` (`workspace_id`,`actor_id`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_entries_outcome` ON `audit_entries` (`workspace_id`,`outcome`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_entries_occurred` ON `audit_entries` (`workspace_id`,`occurred_at`,`seq`);--> statement-breakpoint
CREATE INDEX `actions_created` ON `actions` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `incidents_updated` ON `incidents` (`workspace_id`,`updated_at`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_created` ON `notifications` (`workspace_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_created` ON `webhook_deliveries` (`workspace_id`,`created_at`,`id`);