ALTER TABLE "dns_rrsets" ADD COLUMN "driven_by" text collate "C";--> statement-breakpoint
CREATE INDEX "dns_rrsets_driven" ON "dns_rrsets" USING btree ("zone_id") WHERE driven_by is not null;