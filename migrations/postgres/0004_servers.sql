CREATE TABLE "server_labels" (
	"workspace_id" text collate "C" NOT NULL,
	"resource_id" text collate "C" NOT NULL,
	"mark" text collate "C" NOT NULL,
	CONSTRAINT "server_labels_resource_id_mark_pk" PRIMARY KEY("resource_id","mark")
);
--> statement-breakpoint
CREATE TABLE "server_transitions" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"server_id" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"field" text collate "C" NOT NULL,
	"before_value" text collate "C",
	"after_value" text collate "C" NOT NULL,
	"source" text collate "C" NOT NULL,
	"reason" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "servers" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"labels" text NOT NULL,
	"health_monitor_ids" text NOT NULL,
	"notes" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"origin" text collate "C" NOT NULL,
	"account_id" text collate "C",
	"provider_ref" text collate "C",
	"status" text collate "C" NOT NULL,
	"status_since" bigint NOT NULL,
	"health" text collate "C" NOT NULL,
	"health_since" bigint NOT NULL,
	"health_reason" text collate "C" NOT NULL,
	"health_source" text collate "C",
	"told_health" text collate "C",
	"power" text collate "C" NOT NULL,
	"location" text collate "C",
	"image" text collate "C",
	"cloud" text,
	"removed_labels" text NOT NULL,
	"manual_addresses" text NOT NULL,
	"order_details" text,
	"user_data_sealed" text collate "C",
	"price_micros" bigint,
	"price_currency" text collate "C",
	"price_at" bigint,
	"action_id" text collate "C",
	"quiet_until" bigint,
	"written_at" bigint NOT NULL,
	"deleted_at" bigint
);
--> statement-breakpoint
CREATE TABLE "cloud_accounts" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"kind" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"settings" text NOT NULL,
	"secrets_sealed" text collate "C",
	"secret_names" text NOT NULL,
	"state" text collate "C" NOT NULL,
	"detail" text collate "C",
	"warnings" text NOT NULL,
	"consecutive_failures" bigint NOT NULL,
	"last_checked_at" bigint,
	"last_ok_at" bigint,
	"last_error" text,
	"import" text NOT NULL,
	"spend" text NOT NULL,
	"synced_at" bigint,
	"storage_synced_at" bigint,
	"next_sync_at" bigint,
	"sync_failures" bigint NOT NULL,
	"sync_error" text,
	"rate" text,
	"unclaimed" bigint NOT NULL,
	"unclaimed_micros" bigint NOT NULL,
	"ignored_refs" text NOT NULL,
	"lacks" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cloud_catalogs" (
	"account_id" text collate "C" PRIMARY KEY NOT NULL,
	"catalog" text NOT NULL,
	"read_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agents" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"server_id" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"version" text collate "C" NOT NULL,
	"interval_seconds" bigint NOT NULL,
	"allow" text NOT NULL,
	"last_seen_at" bigint NOT NULL,
	"due_at" bigint,
	"silent_at" bigint,
	"unheard" boolean NOT NULL,
	"notified" boolean NOT NULL,
	"stop_reason" text collate "C",
	"pending" boolean NOT NULL,
	"facts" text,
	"facts_at" bigint,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "host_firewalls" (
	"server_id" text collate "C" PRIMARY KEY NOT NULL,
	"digest" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"versions" text NOT NULL,
	"sent_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "firewall_attachments" (
	"firewall_id" text collate "C" NOT NULL,
	"server_id" text collate "C" NOT NULL,
	"account_id" text collate "C",
	"state" text collate "C" NOT NULL,
	"rules_version" bigint,
	"applied_at" bigint,
	"is_direct" boolean NOT NULL,
	"is_selected" boolean NOT NULL,
	"error" text collate "C",
	"warning" text collate "C",
	"drift" text,
	CONSTRAINT "firewall_attachments_firewall_id_server_id_pk" PRIMARY KEY("firewall_id","server_id")
);
--> statement-breakpoint
CREATE TABLE "firewall_labels" (
	"workspace_id" text collate "C" NOT NULL,
	"resource_id" text collate "C" NOT NULL,
	"mark" text collate "C" NOT NULL,
	CONSTRAINT "firewall_labels_resource_id_mark_pk" PRIMARY KEY("resource_id","mark")
);
--> statement-breakpoint
CREATE TABLE "firewall_refusals" (
	"firewall_id" text collate "C" NOT NULL,
	"server_id" text collate "C" NOT NULL,
	"reason" text collate "C" NOT NULL,
	CONSTRAINT "firewall_refusals_firewall_id_server_id_pk" PRIMARY KEY("firewall_id","server_id")
);
--> statement-breakpoint
CREATE TABLE "firewall_versions" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"firewall_id" text collate "C" NOT NULL,
	"rules_version" bigint NOT NULL,
	"rules" text NOT NULL,
	"blocks" text NOT NULL,
	"reason" text collate "C" NOT NULL,
	"note" text collate "C",
	"allowed" text NOT NULL,
	"actor" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "firewalls" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"drift_policy" text collate "C" NOT NULL,
	"labels" text NOT NULL,
	"label_selector" text collate "C",
	"rules" text NOT NULL,
	"blocks" text NOT NULL,
	"rules_version" bigint NOT NULL,
	"pending" text,
	"action_id" text collate "C",
	"enforced_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "server_controllers" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"kind" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"settings" text NOT NULL,
	"secrets_sealed" text collate "C",
	"secret_names" text NOT NULL,
	"state" text collate "C" NOT NULL,
	"detail" text collate "C",
	"warnings" text NOT NULL,
	"consecutive_failures" bigint NOT NULL,
	"last_checked_at" bigint,
	"last_ok_at" bigint,
	"last_error" text,
	"server_id" text collate "C" NOT NULL,
	"power" text collate "C" NOT NULL,
	"power_at" bigint
);
--> statement-breakpoint
CREATE TABLE "snapshot_policies" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"server_ids" text NOT NULL,
	"label_selector" text collate "C",
	"schedule" text NOT NULL,
	"keep" text NOT NULL,
	"quiesce" text collate "C" NOT NULL,
	"paused" boolean NOT NULL,
	"max_monthly_price" text collate "C",
	"currency" text collate "C",
	"next_at" bigint,
	"last_run" text,
	"run" text,
	"failures" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "snapshots" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"labels" text NOT NULL,
	"protected" boolean NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"server_id" text collate "C",
	"provider_ref" text collate "C",
	"origin" text collate "C" NOT NULL,
	"size_bytes" bigint,
	"price_micros" bigint,
	"price_currency" text collate "C",
	"price_at" bigint,
	"action_id" text collate "C",
	"written_at" bigint NOT NULL,
	"volume_id" text collate "C",
	"state" text collate "C" NOT NULL,
	"policy_id" text collate "C",
	"made_by" text,
	"includes_memory" boolean NOT NULL,
	"survives_server" boolean NOT NULL,
	"taken_at" bigint,
	"expires_at" bigint
);
--> statement-breakpoint
CREATE TABLE "ssh_keys" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"public_key" text collate "C" NOT NULL,
	"default" boolean NOT NULL,
	"algorithm" text collate "C" NOT NULL,
	"fingerprint" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "volume_labels" (
	"workspace_id" text collate "C" NOT NULL,
	"resource_id" text collate "C" NOT NULL,
	"mark" text collate "C" NOT NULL,
	CONSTRAINT "volume_labels_resource_id_mark_pk" PRIMARY KEY("resource_id","mark")
);
--> statement-breakpoint
CREATE TABLE "volumes" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"labels" text NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"server_id" text collate "C",
	"provider_ref" text collate "C",
	"origin" text collate "C" NOT NULL,
	"size_bytes" bigint,
	"price_micros" bigint,
	"price_currency" text collate "C",
	"price_at" bigint,
	"action_id" text collate "C",
	"written_at" bigint NOT NULL,
	"state" text collate "C" NOT NULL,
	"location" text collate "C",
	"format" text collate "C",
	"device" text collate "C",
	"mount_path" text collate "C",
	"used_bytes" bigint,
	"is_protected" boolean NOT NULL
);
--> statement-breakpoint
ALTER TABLE "server_labels" ADD CONSTRAINT "server_labels_resource_id_servers_id_fk" FOREIGN KEY ("resource_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_transitions" ADD CONSTRAINT "server_transitions_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_account_id_cloud_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."cloud_accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_accounts" ADD CONSTRAINT "cloud_accounts_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_catalogs" ADD CONSTRAINT "cloud_catalogs_account_id_cloud_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."cloud_accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "host_firewalls" ADD CONSTRAINT "host_firewalls_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_attachments" ADD CONSTRAINT "firewall_attachments_firewall_id_firewalls_id_fk" FOREIGN KEY ("firewall_id") REFERENCES "public"."firewalls"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_attachments" ADD CONSTRAINT "firewall_attachments_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_attachments" ADD CONSTRAINT "firewall_attachments_account_id_cloud_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."cloud_accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_labels" ADD CONSTRAINT "firewall_labels_resource_id_firewalls_id_fk" FOREIGN KEY ("resource_id") REFERENCES "public"."firewalls"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_refusals" ADD CONSTRAINT "firewall_refusals_firewall_id_firewalls_id_fk" FOREIGN KEY ("firewall_id") REFERENCES "public"."firewalls"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_refusals" ADD CONSTRAINT "firewall_refusals_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_versions" ADD CONSTRAINT "firewall_versions_firewall_id_firewalls_id_fk" FOREIGN KEY ("firewall_id") REFERENCES "public"."firewalls"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewalls" ADD CONSTRAINT "firewalls_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_controllers" ADD CONSTRAINT "server_controllers_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_controllers" ADD CONSTRAINT "server_controllers_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshot_policies" ADD CONSTRAINT "snapshot_policies_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_account_id_cloud_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."cloud_accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_volume_id_volumes_id_fk" FOREIGN KEY ("volume_id") REFERENCES "public"."volumes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ssh_keys" ADD CONSTRAINT "ssh_keys_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "volume_labels" ADD CONSTRAINT "volume_labels_resource_id_volumes_id_fk" FOREIGN KEY ("resource_id") REFERENCES "public"."volumes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "volumes" ADD CONSTRAINT "volumes_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "volumes" ADD CONSTRAINT "volumes_account_id_cloud_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."cloud_accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "volumes" ADD CONSTRAINT "volumes_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "server_labels_mark" ON "server_labels" USING btree ("workspace_id","mark","resource_id");--> statement-breakpoint
CREATE INDEX "server_transitions_server" ON "server_transitions" USING btree ("server_id","id");--> statement-breakpoint
CREATE INDEX "server_transitions_time" ON "server_transitions" USING btree ("at");--> statement-breakpoint
CREATE INDEX "servers_workspace" ON "servers" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "servers_name" ON "servers" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE INDEX "servers_created" ON "servers" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "servers_status" ON "servers" USING btree ("workspace_id","status","id");--> statement-breakpoint
CREATE INDEX "servers_health" ON "servers" USING btree ("workspace_id","health","id");--> statement-breakpoint
CREATE INDEX "servers_power" ON "servers" USING btree ("workspace_id","power","id");--> statement-breakpoint
CREATE INDEX "servers_kind" ON "servers" USING btree ("workspace_id","kind","id");--> statement-breakpoint
CREATE INDEX "servers_origin" ON "servers" USING btree ("workspace_id","origin","id");--> statement-breakpoint
CREATE INDEX "servers_location" ON "servers" USING btree ("workspace_id","location","id");--> statement-breakpoint
CREATE INDEX "servers_account" ON "servers" USING btree ("workspace_id","account_id","id");--> statement-breakpoint
CREATE INDEX "servers_ref" ON "servers" USING btree ("account_id","provider_ref");--> statement-breakpoint
CREATE INDEX "servers_deleted" ON "servers" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "servers_quiet" ON "servers" USING btree ("quiet_until") WHERE quiet_until is not null;--> statement-breakpoint
CREATE INDEX "servers_busy" ON "servers" USING btree ("action_id") WHERE action_id is not null;--> statement-breakpoint
CREATE INDEX "servers_monitored" ON "servers" USING btree ("id") WHERE health_monitor_ids <> '[]';--> statement-breakpoint
CREATE UNIQUE INDEX "cloud_accounts_name" ON "cloud_accounts" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "cloud_accounts_workspace" ON "cloud_accounts" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "cloud_accounts_next_sync" ON "cloud_accounts" USING btree ("next_sync_at") WHERE next_sync_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "agents_server" ON "agents" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "agents_workspace" ON "agents" USING btree ("workspace_id","state","id");--> statement-breakpoint
CREATE INDEX "agents_due" ON "agents" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "agents_pending" ON "agents" USING btree ("id") WHERE pending;--> statement-breakpoint
CREATE INDEX "agents_silent" ON "agents" USING btree ("id") WHERE state = 'silent' and not notified and not unheard;--> statement-breakpoint
CREATE INDEX "agents_unheard" ON "agents" USING btree ("workspace_id") WHERE unheard;--> statement-breakpoint
CREATE INDEX "firewall_attachments_server" ON "firewall_attachments" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "firewall_attachments_account" ON "firewall_attachments" USING btree ("account_id","firewall_id");--> statement-breakpoint
CREATE INDEX "firewall_labels_mark" ON "firewall_labels" USING btree ("workspace_id","mark","resource_id");--> statement-breakpoint
CREATE INDEX "firewall_refusals_server" ON "firewall_refusals" USING btree ("server_id");--> statement-breakpoint
CREATE UNIQUE INDEX "firewall_versions_version" ON "firewall_versions" USING btree ("firewall_id","rules_version");--> statement-breakpoint
CREATE INDEX "firewall_versions_firewall" ON "firewall_versions" USING btree ("firewall_id","id");--> statement-breakpoint
CREATE INDEX "firewalls_workspace" ON "firewalls" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "firewalls_name" ON "firewalls" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "firewalls_created" ON "firewalls" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "server_controllers_server" ON "server_controllers" USING btree ("server_id","kind");--> statement-breakpoint
CREATE INDEX "server_controllers_workspace" ON "server_controllers" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "snapshot_policies_name" ON "snapshot_policies" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "snapshot_policies_due" ON "snapshot_policies" USING btree ("next_at") WHERE next_at is not null;--> statement-breakpoint
CREATE INDEX "snapshots_workspace" ON "snapshots" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "snapshots_name" ON "snapshots" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE INDEX "snapshots_created" ON "snapshots" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "snapshots_state" ON "snapshots" USING btree ("workspace_id","state","id");--> statement-breakpoint
CREATE INDEX "snapshots_server" ON "snapshots" USING btree ("workspace_id","server_id","id");--> statement-breakpoint
CREATE INDEX "snapshots_account" ON "snapshots" USING btree ("workspace_id","account_id","id");--> statement-breakpoint
CREATE INDEX "snapshots_origin" ON "snapshots" USING btree ("workspace_id","origin","id");--> statement-breakpoint
CREATE INDEX "snapshots_ref" ON "snapshots" USING btree ("account_id","provider_ref");--> statement-breakpoint
CREATE INDEX "snapshots_of_server" ON "snapshots" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "snapshots_volume" ON "snapshots" USING btree ("workspace_id","volume_id","id");--> statement-breakpoint
CREATE INDEX "snapshots_of_volume" ON "snapshots" USING btree ("volume_id");--> statement-breakpoint
CREATE INDEX "snapshots_of_policy" ON "snapshots" USING btree ("policy_id") WHERE policy_id is not null;--> statement-breakpoint
CREATE INDEX "snapshots_expiry" ON "snapshots" USING btree ("expires_at") WHERE expires_at is not null;--> statement-breakpoint
CREATE INDEX "snapshots_busy" ON "snapshots" USING btree ("action_id") WHERE action_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "ssh_keys_name" ON "ssh_keys" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "ssh_keys_fingerprint" ON "ssh_keys" USING btree ("workspace_id","fingerprint");--> statement-breakpoint
CREATE INDEX "volume_labels_mark" ON "volume_labels" USING btree ("workspace_id","mark","resource_id");--> statement-breakpoint
CREATE INDEX "volumes_workspace" ON "volumes" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "volumes_name" ON "volumes" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE INDEX "volumes_created" ON "volumes" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "volumes_state" ON "volumes" USING btree ("workspace_id","state","id");--> statement-breakpoint
CREATE INDEX "volumes_server" ON "volumes" USING btree ("workspace_id","server_id","id");--> statement-breakpoint
CREATE INDEX "volumes_account" ON "volumes" USING btree ("workspace_id","account_id","id");--> statement-breakpoint
CREATE INDEX "volumes_location" ON "volumes" USING btree ("workspace_id","location","id");--> statement-breakpoint
CREATE INDEX "volumes_ref" ON "volumes" USING btree ("account_id","provider_ref");--> statement-breakpoint
CREATE INDEX "volumes_of_server" ON "volumes" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "volumes_busy" ON "volumes" USING btree ("action_id") WHERE action_id is not null;