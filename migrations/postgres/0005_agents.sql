CREATE TABLE "agent_commands" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"agent_id" text collate "C" NOT NULL,
	"action_id" text collate "C",
	"name" text collate "C" NOT NULL,
	"payload" text collate "C" NOT NULL,
	"signature" text collate "C" NOT NULL,
	"send_at" bigint,
	"expires_at" bigint NOT NULL,
	"sent_at" bigint,
	"sends" bigint NOT NULL,
	"finished_at" bigint,
	"outcome" text collate "C",
	"detail" text collate "C",
	"output" text collate "C"
);
--> statement-breakpoint
CREATE TABLE "agent_rollouts" (
	"workspace_id" text collate "C" PRIMARY KEY NOT NULL,
	"policy" text collate "C" NOT NULL,
	"version" text collate "C",
	"since" bigint,
	"first_count" bigint,
	"rest_at" bigint,
	"busy_until" bigint,
	"stopped_by" text collate "C",
	"stopped_at" bigint,
	"stopped_detail" text collate "C"
);
--> statement-breakpoint
CREATE TABLE "agent_parts" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"agent_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"data" text NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_certificate_files" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"agent_id" text collate "C" NOT NULL,
	"data" text NOT NULL,
	"seen_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_certificates" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"agent_id" text collate "C" NOT NULL,
	"sha256" text collate "C" NOT NULL,
	"der" "bytea" NOT NULL,
	"details" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_served_certificates" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"agent_id" text collate "C" NOT NULL,
	"data" text NOT NULL,
	"newer" text,
	"seen_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "enrolment_keys" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"uses" bigint,
	"labels" text NOT NULL,
	"approve" text collate "C" NOT NULL,
	"match" boolean NOT NULL,
	"allow" text NOT NULL,
	"server_id" text collate "C",
	"key_hash" text collate "C" NOT NULL,
	"hint" text collate "C" NOT NULL,
	"expires_at" bigint NOT NULL,
	"used" bigint NOT NULL,
	"last_used_at" bigint,
	"used_up_at" bigint,
	"monitor" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "inventory_changes" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"server_id" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"kind" text collate "C" NOT NULL,
	"change" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"before_value" text,
	"after_value" text
);
--> statement-breakpoint
CREATE TABLE "journal_entries" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"server_id" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"kind" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"detail" text collate "C",
	"moment" text
);
--> statement-breakpoint
ALTER TABLE "agents" ALTER COLUMN "server_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "name" text collate "C" NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "other_server_id" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "token_hash" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "token_hint" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "previous_token_hash" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "previous_valid_until" bigint;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "public_key" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "machine_id_hash" text collate "C" NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "enrolment_key_id" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "address" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "signed_at" bigint;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "runs" text NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "refused_runs" text NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "clock_offset_ms" bigint;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "spooled" bigint NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "dropped" bigint NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "config" text NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "last_report_at" bigint;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "certificates_at" bigint;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "update_policy" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "update_state" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "update_version" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "update_detail" text collate "C";--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "update_at" bigint;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "update_command_id" text collate "C";--> statement-breakpoint
ALTER TABLE "agent_commands" ADD CONSTRAINT "agent_commands_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_rollouts" ADD CONSTRAINT "agent_rollouts_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_parts" ADD CONSTRAINT "agent_parts_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_certificate_files" ADD CONSTRAINT "agent_certificate_files_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_certificates" ADD CONSTRAINT "agent_certificates_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_served_certificates" ADD CONSTRAINT "agent_served_certificates_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "enrolment_keys" ADD CONSTRAINT "enrolment_keys_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "enrolment_keys" ADD CONSTRAINT "enrolment_keys_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "inventory_changes" ADD CONSTRAINT "inventory_changes_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "journal_entries" ADD CONSTRAINT "journal_entries_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "agent_commands_action" ON "agent_commands" USING btree ("action_id") WHERE action_id is not null;--> statement-breakpoint
CREATE INDEX "agent_commands_open" ON "agent_commands" USING btree ("agent_id") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "agent_commands_due" ON "agent_commands" USING btree ("send_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "agent_commands_expiry" ON "agent_commands" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "agent_parts_agent" ON "agent_parts" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "agent_certificate_files_agent" ON "agent_certificate_files" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "agent_certificates_agent" ON "agent_certificates" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "agent_served_certificates_agent" ON "agent_served_certificates" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "agent_served_certificates_newer" ON "agent_served_certificates" USING btree ("agent_id") WHERE newer is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "enrolment_keys_hash" ON "enrolment_keys" USING btree ("key_hash");--> statement-breakpoint
CREATE INDEX "enrolment_keys_workspace" ON "enrolment_keys" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "enrolment_keys_server" ON "enrolment_keys" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "enrolment_keys_expires" ON "enrolment_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "enrolment_keys_open" ON "enrolment_keys" USING btree ("workspace_id") WHERE used_up_at is null;--> statement-breakpoint
CREATE INDEX "inventory_changes_server" ON "inventory_changes" USING btree ("server_id","at","id");--> statement-breakpoint
CREATE INDEX "inventory_changes_id" ON "inventory_changes" USING btree ("server_id","id");--> statement-breakpoint
CREATE INDEX "inventory_changes_name" ON "inventory_changes" USING btree ("server_id","kind","name","at");--> statement-breakpoint
CREATE INDEX "inventory_changes_time" ON "inventory_changes" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "journal_entries_what" ON "journal_entries" USING btree ("server_id","at","kind","name");--> statement-breakpoint
CREATE INDEX "journal_entries_server" ON "journal_entries" USING btree ("server_id","at","id");--> statement-breakpoint
CREATE INDEX "journal_entries_kind" ON "journal_entries" USING btree ("server_id","kind","at","id");--> statement-breakpoint
CREATE INDEX "journal_entries_id" ON "journal_entries" USING btree ("server_id","id");--> statement-breakpoint
CREATE INDEX "journal_entries_time" ON "journal_entries" USING btree ("at");--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_other_server_id_servers_id_fk" FOREIGN KEY ("other_server_id") REFERENCES "public"."servers"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_enrolment_key_id_enrolment_keys_id_fk" FOREIGN KEY ("enrolment_key_id") REFERENCES "public"."enrolment_keys"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agents_other_server" ON "agents" USING btree ("other_server_id");--> statement-breakpoint
CREATE UNIQUE INDEX "agents_token" ON "agents" USING btree ("token_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "agents_previous_token" ON "agents" USING btree ("previous_token_hash");--> statement-breakpoint
CREATE INDEX "agents_machine" ON "agents" USING btree ("workspace_id","machine_id_hash");--> statement-breakpoint
CREATE INDEX "agents_enrolment_key" ON "agents" USING btree ("enrolment_key_id");--> statement-breakpoint
CREATE INDEX "agents_list" ON "agents" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "agents_created" ON "agents" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "agents_name" ON "agents" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE INDEX "agents_update" ON "agents" USING btree ("workspace_id","update_state","id");--> statement-breakpoint
CREATE INDEX "agents_automatic" ON "agents" USING btree ("workspace_id") WHERE update_policy = 'auto';--> statement-breakpoint
CREATE INDEX "agents_version" ON "agents" USING btree ("workspace_id","version","id");--> statement-breakpoint
CREATE INDEX "agents_unlinked" ON "agents" USING btree ("last_seen_at") WHERE server_id is null;