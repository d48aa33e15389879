CREATE TABLE "calendar_feeds" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"include" text NOT NULL,
	"tags" text NOT NULL,
	"secret_hash" text collate "C" NOT NULL,
	"secret_sealed" text collate "C" NOT NULL,
	"last_used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "crl_parts" (
	"crl_id" text collate "C" NOT NULL,
	"bucket" bigint NOT NULL,
	"entries" "bytea" NOT NULL,
	CONSTRAINT "crl_parts_crl_id_bucket_pk" PRIMARY KEY("crl_id","bucket")
);
--> statement-breakpoint
CREATE TABLE "crls" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"url" text collate "C" NOT NULL,
	"visited" text NOT NULL,
	"issuer_hash" text collate "C" NOT NULL,
	"spki_sha256" text collate "C" NOT NULL,
	"scope" text collate "C" NOT NULL,
	"this_update" bigint NOT NULL,
	"next_update" bigint NOT NULL,
	"kept_until" bigint NOT NULL,
	"size" bigint NOT NULL,
	"buckets" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "contacts" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"label" text collate "C" NOT NULL,
	"country" text collate "C" NOT NULL,
	"tags" text NOT NULL,
	"personal_sealed" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ct_searches" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"cursor" text collate "C" NOT NULL,
	"due_at" bigint NOT NULL,
	"checked_at" bigint,
	"failures" bigint NOT NULL,
	"error" text collate "C"
);
--> statement-breakpoint
CREATE TABLE "domain_history" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"domain_id" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"from_status" text collate "C" NOT NULL,
	"to_status" text collate "C" NOT NULL,
	"source" text collate "C" NOT NULL,
	"irregular" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "domain_readings" (
	"domain_id" text collate "C" NOT NULL,
	"source" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"state" text collate "C" NOT NULL,
	"facts" text,
	"expires_since" bigint,
	"detail" text collate "C",
	CONSTRAINT "domain_readings_domain_id_source_pk" PRIMARY KEY("domain_id","source")
);
--> statement-breakpoint
CREATE TABLE "domains" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"zone_id" text collate "C",
	"expected_nameservers" text,
	"notify_days" text,
	"tags" text NOT NULL,
	"notes" text collate "C" NOT NULL,
	"unicode_name" text collate "C" NOT NULL,
	"tld" text collate "C" NOT NULL,
	"management" text collate "C" NOT NULL,
	"registrar_account_id" text collate "C",
	"status" text collate "C" NOT NULL,
	"status_since" bigint NOT NULL,
	"expires_at" bigint,
	"expires_order" bigint NOT NULL,
	"expiry_source" text collate "C",
	"expiry_confidence" text collate "C" NOT NULL,
	"expiry_hint" text collate "C",
	"given_expires_at" bigint,
	"registrar_expires_at" bigint,
	"registry_expires_at" bigint,
	"facts" text NOT NULL,
	"auto_renew" boolean,
	"delegation_state" text collate "C" NOT NULL,
	"delegation" text NOT NULL,
	"sync_state" text collate "C" NOT NULL,
	"checked_at" bigint,
	"next_check_at" bigint,
	"sync_error" text collate "C",
	"absent_since" bigint,
	"notified_end" bigint,
	"notified_day" bigint,
	"look_every_seconds" bigint NOT NULL,
	"due_at" bigint,
	"registrant_id" text collate "C",
	"admin_id" text collate "C",
	"tech_id" text collate "C",
	"billing_id" text collate "C"
);
--> statement-breakpoint
CREATE TABLE "registrar_account_names" (
	"account_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	CONSTRAINT "registrar_account_names_account_id_name_pk" PRIMARY KEY("account_id","name")
);
--> statement-breakpoint
CREATE TABLE "registrar_accounts" (
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
	"manage_new" text collate "C" NOT NULL,
	"currency" text collate "C",
	"balance" text,
	"monthly_limit" text,
	"order_limit" text,
	"last_sync_at" bigint,
	"next_sync_at" bigint,
	"sync_failures" bigint NOT NULL,
	"sync_error" text,
	"listed_count" bigint NOT NULL,
	"shrunk_since" bigint,
	"left_out_count" bigint NOT NULL,
	"is_balance_low" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "registry_facts" (
	"name" text collate "C" PRIMARY KEY NOT NULL,
	"tld" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"read_at" bigint,
	"facts" text,
	"ends_at" bigint,
	"ends_changed_at" bigint NOT NULL,
	"evidence" text NOT NULL,
	"failures" bigint NOT NULL,
	"next_look_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "registry_hosts" (
	"server" text collate "C" PRIMARY KEY NOT NULL,
	"pace_at" bigint NOT NULL,
	"day" bigint NOT NULL,
	"used_today" bigint NOT NULL,
	"failures" bigint NOT NULL,
	"blocked_until" bigint,
	"last_error" text collate "C",
	"last_ok_at" bigint
);
--> statement-breakpoint
CREATE TABLE "registry_interests" (
	"holder_type" text collate "C" NOT NULL,
	"holder_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"every_seconds" bigint NOT NULL,
	CONSTRAINT "registry_interests_holder_type_holder_id_pk" PRIMARY KEY("holder_type","holder_id")
);
--> statement-breakpoint
DROP INDEX "managed_certificates_issuing";--> statement-breakpoint
ALTER TABLE "certificates" ADD COLUMN "crl_url" text collate "C";--> statement-breakpoint
ALTER TABLE "certificates" ADD COLUMN "crl_due_at" bigint;--> statement-breakpoint
ALTER TABLE "certificates" ADD COLUMN "crl_checked_at" bigint;--> statement-breakpoint
ALTER TABLE "certificates" ADD COLUMN "crl_error" text collate "C";--> statement-breakpoint
ALTER TABLE "certificate_gaps" ADD COLUMN "timeline" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "certificate_gaps" ADD COLUMN "incident_id" text collate "C";--> statement-breakpoint
ALTER TABLE "certificate_settings" ADD COLUMN "ct_kind" text collate "C" DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "certificate_settings" ADD COLUMN "ct_url" text collate "C";--> statement-breakpoint
ALTER TABLE "certificate_settings" ADD COLUMN "ct_token_sealed" text collate "C";--> statement-breakpoint
ALTER TABLE "tls_endpoints" ADD COLUMN "gone_at" bigint;--> statement-breakpoint
ALTER TABLE "tls_endpoints" ADD COLUMN "plain_http" text;--> statement-breakpoint
ALTER TABLE "managed_certificates" ADD COLUMN "deliver_server_id" text collate "C";--> statement-breakpoint
ALTER TABLE "managed_certificates" ADD COLUMN "install_profile" text collate "C";--> statement-breakpoint
ALTER TABLE "managed_certificates" ADD COLUMN "delivered_at" bigint;--> statement-breakpoint
ALTER TABLE "calendar_feeds" ADD CONSTRAINT "calendar_feeds_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crl_parts" ADD CONSTRAINT "crl_parts_crl_id_crls_id_fk" FOREIGN KEY ("crl_id") REFERENCES "public"."crls"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ct_searches" ADD CONSTRAINT "ct_searches_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "domain_history" ADD CONSTRAINT "domain_history_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "domain_readings" ADD CONSTRAINT "domain_readings_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "domains" ADD CONSTRAINT "domains_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "registrar_account_names" ADD CONSTRAINT "registrar_account_names_account_id_registrar_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."registrar_accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "registrar_accounts" ADD CONSTRAINT "registrar_accounts_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "calendar_feeds_workspace" ON "calendar_feeds" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "calendar_feeds_name" ON "calendar_feeds" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE UNIQUE INDEX "calendar_feeds_secret" ON "calendar_feeds" USING btree ("secret_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "crls_url" ON "crls" USING btree ("url");--> statement-breakpoint
CREATE INDEX "crls_kept" ON "crls" USING btree ("kept_until","id");--> statement-breakpoint
CREATE INDEX "contacts_workspace" ON "contacts" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "contacts_label" ON "contacts" USING btree ("workspace_id","label","id");--> statement-breakpoint
CREATE INDEX "ct_searches_workspace" ON "ct_searches" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "domain_history_domain" ON "domain_history" USING btree ("domain_id","id");--> statement-breakpoint
CREATE INDEX "domains_workspace" ON "domains" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "domains_name" ON "domains" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "domains_expires" ON "domains" USING btree ("workspace_id","expires_order","id");--> statement-breakpoint
CREATE INDEX "domains_status" ON "domains" USING btree ("workspace_id","status","id");--> statement-breakpoint
CREATE INDEX "domains_created" ON "domains" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "domains_account" ON "domains" USING btree ("registrar_account_id","id");--> statement-breakpoint
CREATE INDEX "domains_everywhere" ON "domains" USING btree ("name");--> statement-breakpoint
CREATE INDEX "domains_due" ON "domains" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "registrar_accounts_name" ON "registrar_accounts" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "registrar_accounts_workspace" ON "registrar_accounts" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "registrar_accounts_next_sync" ON "registrar_accounts" USING btree ("next_sync_at") WHERE next_sync_at is not null;--> statement-breakpoint
CREATE INDEX "registry_facts_due" ON "registry_facts" USING btree ("next_look_at");--> statement-breakpoint
CREATE INDEX "registry_facts_tld" ON "registry_facts" USING btree ("tld");--> statement-breakpoint
CREATE INDEX "registry_facts_changed" ON "registry_facts" USING btree ("ends_changed_at");--> statement-breakpoint
CREATE INDEX "registry_hosts_blocked" ON "registry_hosts" USING btree ("blocked_until") WHERE blocked_until is not null;--> statement-breakpoint
CREATE INDEX "registry_interests_name" ON "registry_interests" USING btree ("name","every_seconds");--> statement-breakpoint
CREATE INDEX "certificates_crl" ON "certificates" USING btree ("crl_due_at") WHERE crl_due_at is not null and (in_use or is_only_issuer);--> statement-breakpoint
CREATE INDEX "certificate_gaps_endpoint" ON "certificate_gaps" USING btree ("endpoint_id");--> statement-breakpoint
CREATE INDEX "certificate_gaps_certificate" ON "certificate_gaps" USING btree ("certificate_id");--> statement-breakpoint
CREATE UNIQUE INDEX "managed_certificates_delivery" ON "managed_certificates" USING btree ("deliver_server_id","install_profile") WHERE deliver_server_id is not null;--> statement-breakpoint
CREATE INDEX "managed_certificates_issuing" ON "managed_certificates" USING btree ("id") WHERE status in ('issuing', 'delivering');