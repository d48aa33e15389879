CREATE TABLE "incident_subjects" (
	"incident_id" text collate "C" NOT NULL,
	"subject_id" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"role" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"tags" text NOT NULL,
	"target" text collate "C",
	"at" bigint NOT NULL,
	CONSTRAINT "incident_subjects_incident_id_subject_id_pk" PRIMARY KEY("incident_id","subject_id")
);
--> statement-breakpoint
CREATE TABLE "incident_updates" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"incident_id" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"kind" text collate "C" NOT NULL,
	"actor" text,
	"text" text collate "C" NOT NULL,
	"details" text,
	"edited_at" bigint
);
--> statement-breakpoint
CREATE TABLE "incidents" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"subject_id" text collate "C",
	"open_subject" text collate "C",
	"title" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"severity" text collate "C" NOT NULL,
	"cause" text collate "C" NOT NULL,
	"locations" text NOT NULL,
	"evidence" text,
	"channel_ids" text,
	"link" text collate "C",
	"started_at" bigint NOT NULL,
	"confirmed_at" bigint,
	"acknowledged_at" bigint,
	"acknowledged_by" text,
	"acknowledged_until" bigint,
	"resolved_at" bigint,
	"resolution" text collate "C",
	"awaits_recovery" boolean NOT NULL,
	"rested_ms" bigint NOT NULL,
	"reopenings" bigint NOT NULL,
	"assignee_id" text collate "C",
	"notes" text collate "C" NOT NULL,
	"postmortem" text collate "C",
	"postmortem_at" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "maintenance_windows" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"starts_at_local" text collate "C",
	"timezone" text collate "C" NOT NULL,
	"duration_seconds" bigint NOT NULL,
	"rrule" text collate "C",
	"cron" text collate "C",
	"exdates" text NOT NULL,
	"targets" text NOT NULL,
	"started_at" bigint,
	"started_until" bigint,
	"stopped_at" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "monitor_gaps" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"from_at" bigint NOT NULL,
	"to_at" bigint NOT NULL,
	"shares" text
);
--> statement-breakpoint
CREATE TABLE "monitor_shares" (
	"share" bigint PRIMARY KEY NOT NULL,
	"hub_id" text collate "C",
	"until" bigint NOT NULL,
	"ran_until" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "monitor_transitions" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"monitor_id" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"from_status" text collate "C" NOT NULL,
	"to_status" text collate "C" NOT NULL,
	"reason" text collate "C" NOT NULL,
	"incident_id" text collate "C"
);
--> statement-breakpoint
CREATE TABLE "monitors" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"number" bigint NOT NULL,
	"share" bigint NOT NULL,
	"type" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"key" text collate "C",
	"description" text collate "C" NOT NULL,
	"target" text collate "C" NOT NULL,
	"options" text NOT NULL,
	"secrets_sealed" text collate "C",
	"secret_names" text NOT NULL,
	"interval_seconds" bigint NOT NULL,
	"timeout_seconds" bigint NOT NULL,
	"retry_interval_seconds" bigint NOT NULL,
	"confirm" bigint NOT NULL,
	"recover" bigint NOT NULL,
	"recovery_seconds" bigint NOT NULL,
	"quorum" text NOT NULL,
	"down_if" text NOT NULL,
	"degraded_if" text NOT NULL,
	"degraded_ms" bigint,
	"locations" text NOT NULL,
	"tags" text NOT NULL,
	"depends_on" text NOT NULL,
	"dependency_grace_seconds" bigint NOT NULL,
	"channel_ids" text,
	"severity" text collate "C" NOT NULL,
	"paused" boolean NOT NULL,
	"status" text collate "C" NOT NULL,
	"status_since" bigint NOT NULL,
	"state" text NOT NULL,
	"state_version" bigint NOT NULL,
	"last_check_at" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notification_channels" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"settings" text NOT NULL,
	"secrets_sealed" text collate "C",
	"secret_names" text NOT NULL,
	"for_everything" boolean NOT NULL,
	"topics" text NOT NULL,
	"min_severity" text collate "C" NOT NULL,
	"tags" text NOT NULL,
	"remind_every_seconds" bigint,
	"most_reminders" bigint NOT NULL,
	"quiet_hours" text,
	"group_seconds" bigint NOT NULL,
	"active" boolean NOT NULL,
	"status" text collate "C" NOT NULL,
	"disabled_reason" text collate "C",
	"failures_in_a_row" bigint NOT NULL,
	"gone_in_a_row" bigint NOT NULL,
	"failing_since" bigint,
	"last_error" text,
	"last_tried_at" bigint,
	"last_sent_at" bigint,
	"retry_at" bigint,
	"not_before" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notification_threads" (
	"channel_id" text collate "C" NOT NULL,
	"thread" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"severity" text collate "C" NOT NULL,
	"problem_id" text collate "C" NOT NULL,
	"reminders_sent" bigint NOT NULL,
	"sent_count" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "notification_threads_channel_id_thread_pk" PRIMARY KEY("channel_id","thread")
);
--> statement-breakpoint
CREATE TABLE "notifications" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"channel_id" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"severity" text collate "C" NOT NULL,
	"thread" text collate "C" NOT NULL,
	"once" text collate "C" NOT NULL,
	"message" text NOT NULL,
	"reminder" boolean NOT NULL,
	"status" text collate "C" NOT NULL,
	"reason" text collate "C",
	"attempt_count" bigint NOT NULL,
	"due_at" bigint NOT NULL,
	"give_up_at" bigint NOT NULL,
	"last_error" text,
	"said" text collate "C",
	"sent_in" text collate "C",
	"sent_at" bigint,
	"finished_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "heartbeats" ADD COLUMN "severity" text collate "C" DEFAULT 'critical' NOT NULL;--> statement-breakpoint
ALTER TABLE "heartbeats" ADD COLUMN "channel_ids" text;--> statement-breakpoint
ALTER TABLE "heartbeats" ADD COLUMN "held_until" bigint;--> statement-breakpoint
ALTER TABLE "incident_subjects" ADD CONSTRAINT "incident_subjects_incident_id_incidents_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incidents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_updates" ADD CONSTRAINT "incident_updates_incident_id_incidents_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incidents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incidents" ADD CONSTRAINT "incidents_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "maintenance_windows" ADD CONSTRAINT "maintenance_windows_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "monitor_transitions" ADD CONSTRAINT "monitor_transitions_monitor_id_monitors_id_fk" FOREIGN KEY ("monitor_id") REFERENCES "public"."monitors"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "monitors" ADD CONSTRAINT "monitors_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification_channels" ADD CONSTRAINT "notification_channels_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification_threads" ADD CONSTRAINT "notification_threads_channel_id_notification_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."notification_channels"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "incident_subjects_subject" ON "incident_subjects" USING btree ("subject_id","incident_id");--> statement-breakpoint
CREATE INDEX "incident_updates_incident" ON "incident_updates" USING btree ("incident_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "incidents_unresolved" ON "incidents" USING btree ("open_subject");--> statement-breakpoint
CREATE INDEX "incidents_subject" ON "incidents" USING btree ("subject_id","id");--> statement-breakpoint
CREATE INDEX "incidents_workspace" ON "incidents" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "incidents_status" ON "incidents" USING btree ("workspace_id","status","id");--> statement-breakpoint
CREATE INDEX "incidents_started" ON "incidents" USING btree ("workspace_id","started_at","id");--> statement-breakpoint
CREATE INDEX "incidents_resolved" ON "incidents" USING btree ("workspace_id","resolved_at");--> statement-breakpoint
CREATE INDEX "incidents_acknowledged" ON "incidents" USING btree ("acknowledged_until");--> statement-breakpoint
CREATE INDEX "maintenance_windows_workspace" ON "maintenance_windows" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "maintenance_windows_name" ON "maintenance_windows" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE INDEX "monitor_gaps_to" ON "monitor_gaps" USING btree ("to_at");--> statement-breakpoint
CREATE INDEX "monitor_transitions_monitor" ON "monitor_transitions" USING btree ("monitor_id","at","id");--> statement-breakpoint
CREATE INDEX "monitors_workspace" ON "monitors" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "monitors_name" ON "monitors" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE INDEX "monitors_status" ON "monitors" USING btree ("workspace_id","status","id");--> statement-breakpoint
CREATE INDEX "monitors_share" ON "monitors" USING btree ("share");--> statement-breakpoint
CREATE INDEX "monitors_updated" ON "monitors" USING btree ("updated_at");--> statement-breakpoint
CREATE UNIQUE INDEX "monitors_number" ON "monitors" USING btree ("number");--> statement-breakpoint
CREATE UNIQUE INDEX "monitors_key" ON "monitors" USING btree ("workspace_id","key");--> statement-breakpoint
CREATE UNIQUE INDEX "notification_channels_name" ON "notification_channels" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "notification_channels_workspace" ON "notification_channels" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "notification_threads_thread" ON "notification_threads" USING btree ("thread");--> statement-breakpoint
CREATE INDEX "notification_threads_updated" ON "notification_threads" USING btree ("updated_at");--> statement-breakpoint
CREATE UNIQUE INDEX "notifications_once" ON "notifications" USING btree ("channel_id","once");--> statement-breakpoint
CREATE INDEX "notifications_workspace" ON "notifications" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "notifications_channel" ON "notifications" USING btree ("channel_id","id");--> statement-breakpoint
CREATE INDEX "notifications_due" ON "notifications" USING btree ("channel_id","status","due_at");--> statement-breakpoint
CREATE INDEX "notifications_thread" ON "notifications" USING btree ("channel_id","thread","id");--> statement-breakpoint
CREATE INDEX "notifications_finished" ON "notifications" USING btree ("finished_at");--> statement-breakpoint
CREATE INDEX "heartbeats_held" ON "heartbeats" USING btree ("held_until");