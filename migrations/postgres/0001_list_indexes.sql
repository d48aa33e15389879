DROP INDEX "events_workspace";--> statement-breakpoint
CREATE INDEX "audit_entries_actor" ON "audit_entries" USING btree ("workspace_id","actor_id","seq");--> statement-breakpoint
CREATE INDEX "audit_entries_outcome" ON "audit_entries" USING btree ("workspace_id","outcome","seq");--> statement-breakpoint
CREATE INDEX "audit_entries_occurred" ON "audit_entries" USING btree ("workspace_id","occurred_at","seq");--> statement-breakpoint
CREATE INDEX "events_occurred" ON "events" USING btree ("workspace_id","occurred_at","position");--> statement-breakpoint
CREATE INDEX "actions_created" ON "actions" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "incidents_updated" ON "incidents" USING btree ("workspace_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "notifications_created" ON "notifications" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_created" ON "webhook_deliveries" USING btree ("workspace_id","created_at","id");