CREATE TABLE "dynamic_ip_hosts" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"source_id" text collate "C" NOT NULL,
	"position" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"zone_name" text collate "C" NOT NULL,
	"families" text,
	"mode" text collate "C" NOT NULL,
	"suffix6" text collate "C",
	"ttl" bigint,
	"adopt" boolean NOT NULL,
	"ipv4" text collate "C",
	"ipv6" text collate "C",
	"problem" text
);
--> statement-breakpoint
CREATE TABLE "dynamic_ip_links" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"source_id" text collate "C" NOT NULL,
	"firewall_id" text collate "C" NOT NULL,
	"rule_id" text collate "C" NOT NULL,
	"families" text NOT NULL,
	"ipv6" text collate "C" NOT NULL,
	"grace_seconds" bigint NOT NULL,
	"on_stale" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"reason" text,
	"applied" text NOT NULL,
	"pending_removal" text NOT NULL,
	"changes" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dynamic_ip_updates" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"source_id" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"changed" boolean NOT NULL,
	"ipv4" text collate "C",
	"ipv6" text collate "C",
	"prefix6" text collate "C",
	"details" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dynamic_ips" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"tags" text NOT NULL,
	"families" text NOT NULL,
	"ttl" bigint NOT NULL,
	"stale_after_seconds" bigint,
	"prefix_from_ipv6" bigint,
	"allow_private" boolean NOT NULL,
	"require_https" boolean NOT NULL,
	"allowed_cidrs" text NOT NULL,
	"status" text collate "C" NOT NULL,
	"ipv4" text collate "C",
	"ipv6" text collate "C",
	"prefix6" text collate "C",
	"token_hash" text collate "C",
	"token_hint" text collate "C",
	"token_created_at" bigint,
	"previous_token_hash" text collate "C",
	"previous_valid_until" bigint,
	"last_seen_at" bigint,
	"last_client" text,
	"last_changed_at" bigint,
	"stale_at" bigint,
	"hold" text,
	"held_until" bigint,
	"changes" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "dns_rrsets" ADD COLUMN "driven_by" text collate "C";--> statement-breakpoint
ALTER TABLE "dns_zone_targets" ADD COLUMN "min_ttl" bigint;--> statement-breakpoint
ALTER TABLE "dynamic_ip_hosts" ADD CONSTRAINT "dynamic_ip_hosts_source_id_dynamic_ips_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."dynamic_ips"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dynamic_ip_links" ADD CONSTRAINT "dynamic_ip_links_source_id_dynamic_ips_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."dynamic_ips"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dynamic_ip_updates" ADD CONSTRAINT "dynamic_ip_updates_source_id_dynamic_ips_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."dynamic_ips"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dynamic_ips" ADD CONSTRAINT "dynamic_ips_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "dynamic_ip_hosts_source" ON "dynamic_ip_hosts" USING btree ("source_id","position");--> statement-breakpoint
CREATE UNIQUE INDEX "dynamic_ip_hosts_name" ON "dynamic_ip_hosts" USING btree ("zone_id","name");--> statement-breakpoint
CREATE INDEX "dynamic_ip_links_source" ON "dynamic_ip_links" USING btree ("source_id","id");--> statement-breakpoint
CREATE INDEX "dynamic_ip_links_rule" ON "dynamic_ip_links" USING btree ("firewall_id","rule_id");--> statement-breakpoint
CREATE INDEX "dynamic_ip_updates_source" ON "dynamic_ip_updates" USING btree ("source_id","id");--> statement-breakpoint
CREATE INDEX "dynamic_ip_updates_workspace" ON "dynamic_ip_updates" USING btree ("workspace_id","at");--> statement-breakpoint
CREATE INDEX "dynamic_ips_workspace" ON "dynamic_ips" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "dynamic_ips_name" ON "dynamic_ips" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "dynamic_ips_token" ON "dynamic_ips" USING btree ("token_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "dynamic_ips_previous_token" ON "dynamic_ips" USING btree ("previous_token_hash");--> statement-breakpoint
CREATE INDEX "dynamic_ips_stale" ON "dynamic_ips" USING btree ("stale_at") WHERE stale_at is not null;--> statement-breakpoint
CREATE INDEX "dynamic_ips_held" ON "dynamic_ips" USING btree ("held_until") WHERE held_until is not null;--> statement-breakpoint
CREATE INDEX "dns_rrsets_driven" ON "dns_rrsets" USING btree ("zone_id") WHERE driven_by is not null;