CREATE TABLE "firewall_attachments" (
	"firewall_id" text collate "C" NOT NULL,
	"server_id" text collate "C" NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"rules_version" bigint,
	"applied_at" bigint,
	"error" text collate "C",
	"warning" text collate "C",
	"drift" text,
	CONSTRAINT "firewall_attachments_firewall_id_server_id_pk" PRIMARY KEY("firewall_id","server_id")
);
--> statement-breakpoint
CREATE TABLE "firewall_versions" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"firewall_id" text collate "C" NOT NULL,
	"rules_version" bigint NOT NULL,
	"rules" text NOT NULL,
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
	"rules" text NOT NULL,
	"rules_version" bigint NOT NULL,
	"pending" text,
	"action_id" text collate "C",
	"enforced_at" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "firewall_attachments" ADD CONSTRAINT "firewall_attachments_firewall_id_firewalls_id_fk" FOREIGN KEY ("firewall_id") REFERENCES "public"."firewalls"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_attachments" ADD CONSTRAINT "firewall_attachments_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_attachments" ADD CONSTRAINT "firewall_attachments_account_id_cloud_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."cloud_accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewall_versions" ADD CONSTRAINT "firewall_versions_firewall_id_firewalls_id_fk" FOREIGN KEY ("firewall_id") REFERENCES "public"."firewalls"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "firewalls" ADD CONSTRAINT "firewalls_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "firewall_attachments_server" ON "firewall_attachments" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "firewall_attachments_account" ON "firewall_attachments" USING btree ("account_id","firewall_id");--> statement-breakpoint
CREATE UNIQUE INDEX "firewall_versions_version" ON "firewall_versions" USING btree ("firewall_id","rules_version");--> statement-breakpoint
CREATE INDEX "firewall_versions_firewall" ON "firewall_versions" USING btree ("firewall_id","id");--> statement-breakpoint
CREATE INDEX "firewalls_workspace" ON "firewalls" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "firewalls_name" ON "firewalls" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "firewalls_created" ON "firewalls" USING btree ("workspace_id","created_at","id");