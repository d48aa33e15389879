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
ALTER TABLE "dynamic_ip_links" ADD CONSTRAINT "dynamic_ip_links_source_id_dynamic_ips_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."dynamic_ips"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "dynamic_ip_links_source" ON "dynamic_ip_links" USING btree ("source_id","id");--> statement-breakpoint
CREATE INDEX "dynamic_ip_links_rule" ON "dynamic_ip_links" USING btree ("firewall_id","rule_id");