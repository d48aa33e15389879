CREATE TABLE "certificate_authorities" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"sha256" text collate "C" NOT NULL,
	"der" "bytea" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"not_before" bigint NOT NULL,
	"not_after" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "certificate_names" (
	"certificate_id" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	CONSTRAINT "certificate_names_certificate_id_name_pk" PRIMARY KEY("certificate_id","name")
);
--> statement-breakpoint
CREATE TABLE "certificate_presences" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"certificate_id" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"scope_id" text collate "C" NOT NULL,
	"place" text collate "C" NOT NULL,
	"label" text collate "C" NOT NULL,
	"is_use" boolean NOT NULL,
	"data" text NOT NULL,
	"first_seen_at" bigint NOT NULL,
	"last_seen_at" bigint NOT NULL,
	"ended_at" bigint
);
--> statement-breakpoint
CREATE TABLE "certificates" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"tags" text NOT NULL,
	"notes" text collate "C" NOT NULL,
	"sha256" text collate "C" NOT NULL,
	"tbs_sha256" text collate "C" NOT NULL,
	"der" "bytea" NOT NULL,
	"serial_number" text collate "C" NOT NULL,
	"common_name" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"issuer" text collate "C" NOT NULL,
	"subject_hash" text collate "C" NOT NULL,
	"issuer_hash" text collate "C" NOT NULL,
	"not_before" bigint NOT NULL,
	"not_after" bigint NOT NULL,
	"key_type" text collate "C",
	"key_bits" bigint,
	"spki_sha256" text collate "C",
	"signature_algorithm" text collate "C" NOT NULL,
	"contents" text NOT NULL,
	"is_ca" boolean NOT NULL,
	"is_only_issuer" boolean NOT NULL,
	"is_precertificate" boolean NOT NULL,
	"trust" text collate "C" NOT NULL,
	"chain" text NOT NULL,
	"lineage_id" text collate "C" NOT NULL,
	"revoked_at" bigint,
	"revocation_reason" text collate "C",
	"last_seen_at" bigint NOT NULL,
	"superseded_by" text collate "C",
	"in_use" boolean NOT NULL,
	"sources" text NOT NULL,
	"presence_count" bigint NOT NULL,
	"auto_renewing" boolean NOT NULL,
	"renewal_due_at" bigint NOT NULL,
	"expiring_from" bigint NOT NULL,
	"critical_from" bigint NOT NULL,
	"alarm_level" text collate "C",
	"alarm_at" bigint
);
--> statement-breakpoint
CREATE TABLE "certificate_coverage" (
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"zone_id" text collate "C",
	"because" text NOT NULL,
	"covered" text collate "C" NOT NULL,
	"certificate_id" text collate "C",
	"valid_until" bigint,
	"endpoint_ids" text NOT NULL,
	CONSTRAINT "certificate_coverage_workspace_id_name_pk" PRIMARY KEY("workspace_id","name")
);
--> statement-breakpoint
CREATE TABLE "certificate_gaps" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"key" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"severity" text collate "C" NOT NULL,
	"rank" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"zone_id" text collate "C",
	"endpoint_id" text collate "C",
	"certificate_id" text collate "C",
	"server_id" text collate "C",
	"detail" text collate "C" NOT NULL,
	"fix" text collate "C" NOT NULL,
	"evidence" text NOT NULL,
	"is_issuable" boolean NOT NULL,
	"observed_at" bigint,
	"opened_at" bigint NOT NULL,
	"acknowledged_at" bigint,
	"acknowledged_until" bigint,
	"acknowledged_by" text,
	"note" text collate "C" NOT NULL,
	"resolved_at" bigint
);
--> statement-breakpoint
CREATE TABLE "certificate_settings" (
	"workspace_id" text collate "C" PRIMARY KEY NOT NULL,
	"coverage" text collate "C" NOT NULL,
	"ignore" text NOT NULL,
	"ports" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tls_endpoints" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"host" text collate "C" NOT NULL,
	"port" bigint NOT NULL,
	"protocol" text collate "C" NOT NULL,
	"servername" text collate "C",
	"interval_seconds" bigint NOT NULL,
	"active" boolean NOT NULL,
	"tags" text NOT NULL,
	"location" text collate "C" NOT NULL,
	"origin" text collate "C" NOT NULL,
	"uncounted_at" bigint,
	"grade" text collate "C",
	"grade_rank" bigint NOT NULL,
	"previous_grade" text collate "C",
	"grade_changed_at" bigint,
	"score" bigint,
	"profile" text collate "C",
	"chain" text collate "C",
	"reasons" text NOT NULL,
	"addresses" text NOT NULL,
	"certificate_id" text collate "C",
	"last_scan_id" text collate "C",
	"last_scan_at" bigint,
	"next_scan_at" bigint,
	"failures" bigint NOT NULL,
	"last_error" text collate "C"
);
--> statement-breakpoint
CREATE TABLE "tls_scans" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"endpoint_id" text collate "C" NOT NULL,
	"trigger" text collate "C" NOT NULL,
	"started_at" bigint NOT NULL,
	"duration_ms" bigint NOT NULL,
	"grade" text collate "C",
	"score" bigint,
	"profile" text collate "C",
	"chain" text collate "C",
	"rules" text NOT NULL,
	"error" text collate "C",
	"report" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "acme_accounts" (
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
	"status" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "acme_challenges" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"managed_certificate_id" text collate "C" NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"zone_name" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"value" text collate "C" NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "managed_certificates" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"profile" text collate "C",
	"renew" text collate "C" NOT NULL,
	"tags" text NOT NULL,
	"notes" text collate "C" NOT NULL,
	"names" text NOT NULL,
	"names_text" text collate "C" NOT NULL,
	"acme_account_id" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"paused" boolean NOT NULL,
	"key_mode" text collate "C" NOT NULL,
	"key_type" text collate "C" NOT NULL,
	"key_retention" text collate "C",
	"csr" text collate "C",
	"key_sealed" text collate "C",
	"key_taken_at" bigint,
	"next_key_sealed" text collate "C",
	"certificate_id" text collate "C",
	"chain" text collate "C",
	"issued_by_account_id" text collate "C",
	"not_before" bigint,
	"not_after" bigint,
	"issued_at" bigint,
	"revoked_at" bigint,
	"ari_id" text collate "C",
	"ari" text,
	"ari_check_at" bigint,
	"next_renewal_at" bigint,
	"attempts" bigint NOT NULL,
	"last_error" text,
	"order_url" text collate "C",
	"action_id" text collate "C"
);
--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "certificates_pending" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "certificate_authorities" ADD CONSTRAINT "certificate_authorities_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "certificate_names" ADD CONSTRAINT "certificate_names_certificate_id_certificates_id_fk" FOREIGN KEY ("certificate_id") REFERENCES "public"."certificates"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "certificate_presences" ADD CONSTRAINT "certificate_presences_certificate_id_certificates_id_fk" FOREIGN KEY ("certificate_id") REFERENCES "public"."certificates"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "certificate_presences" ADD CONSTRAINT "certificate_presences_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "certificates" ADD CONSTRAINT "certificates_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "certificate_coverage" ADD CONSTRAINT "certificate_coverage_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "certificate_gaps" ADD CONSTRAINT "certificate_gaps_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "certificate_settings" ADD CONSTRAINT "certificate_settings_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tls_endpoints" ADD CONSTRAINT "tls_endpoints_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tls_scans" ADD CONSTRAINT "tls_scans_endpoint_id_tls_endpoints_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."tls_endpoints"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "acme_accounts" ADD CONSTRAINT "acme_accounts_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "acme_challenges" ADD CONSTRAINT "acme_challenges_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "managed_certificates" ADD CONSTRAINT "managed_certificates_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "managed_certificates" ADD CONSTRAINT "managed_certificates_acme_account_id_acme_accounts_id_fk" FOREIGN KEY ("acme_account_id") REFERENCES "public"."acme_accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "certificate_authorities_sha256" ON "certificate_authorities" USING btree ("workspace_id","sha256");--> statement-breakpoint
CREATE INDEX "certificate_authorities_workspace" ON "certificate_authorities" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "certificate_names_name" ON "certificate_names" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "certificate_presences_certificate" ON "certificate_presences" USING btree ("certificate_id");--> statement-breakpoint
CREATE INDEX "certificate_presences_scope" ON "certificate_presences" USING btree ("workspace_id","kind","scope_id");--> statement-breakpoint
CREATE INDEX "certificate_presences_ended" ON "certificate_presences" USING btree ("ended_at") WHERE ended_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "certificates_sha256" ON "certificates" USING btree ("workspace_id","sha256");--> statement-breakpoint
CREATE INDEX "certificates_workspace" ON "certificates" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "certificates_created" ON "certificates" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "certificates_not_after" ON "certificates" USING btree ("workspace_id","not_after","id");--> statement-breakpoint
CREATE INDEX "certificates_common_name" ON "certificates" USING btree ("workspace_id","common_name","id");--> statement-breakpoint
CREATE INDEX "certificates_tbs" ON "certificates" USING btree ("workspace_id","tbs_sha256");--> statement-breakpoint
CREATE INDEX "certificates_subject" ON "certificates" USING btree ("workspace_id","subject_hash");--> statement-breakpoint
CREATE INDEX "certificates_issuer" ON "certificates" USING btree ("workspace_id","issuer_hash");--> statement-breakpoint
CREATE INDEX "certificates_spki" ON "certificates" USING btree ("workspace_id","spki_sha256");--> statement-breakpoint
CREATE INDEX "certificates_serial" ON "certificates" USING btree ("workspace_id","serial_number");--> statement-breakpoint
CREATE INDEX "certificates_lineage" ON "certificates" USING btree ("workspace_id","lineage_id","not_before");--> statement-breakpoint
CREATE INDEX "certificates_expiring" ON "certificates" USING btree ("workspace_id","expiring_from") WHERE in_use;--> statement-breakpoint
CREATE INDEX "certificates_unseen" ON "certificates" USING btree ("last_seen_at") WHERE not in_use;--> statement-breakpoint
CREATE INDEX "certificates_alarm" ON "certificates" USING btree ("alarm_at") WHERE alarm_at is not null;--> statement-breakpoint
CREATE INDEX "certificate_coverage_zone" ON "certificate_coverage" USING btree ("workspace_id","zone_id","name");--> statement-breakpoint
CREATE INDEX "certificate_coverage_covered" ON "certificate_coverage" USING btree ("workspace_id","covered","name");--> statement-breakpoint
CREATE UNIQUE INDEX "certificate_gaps_key" ON "certificate_gaps" USING btree ("workspace_id","key");--> statement-breakpoint
CREATE INDEX "certificate_gaps_workspace" ON "certificate_gaps" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "certificate_gaps_rank" ON "certificate_gaps" USING btree ("workspace_id","rank","id");--> statement-breakpoint
CREATE INDEX "certificate_gaps_opened" ON "certificate_gaps" USING btree ("workspace_id","opened_at","id");--> statement-breakpoint
CREATE INDEX "certificate_gaps_name" ON "certificate_gaps" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE INDEX "certificate_gaps_resolved" ON "certificate_gaps" USING btree ("resolved_at") WHERE resolved_at is not null;--> statement-breakpoint
CREATE INDEX "tls_endpoints_workspace" ON "tls_endpoints" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "tls_endpoints_host" ON "tls_endpoints" USING btree ("workspace_id","host","id");--> statement-breakpoint
CREATE INDEX "tls_endpoints_grade" ON "tls_endpoints" USING btree ("workspace_id","grade_rank","id");--> statement-breakpoint
CREATE INDEX "tls_endpoints_origin" ON "tls_endpoints" USING btree ("origin","workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "tls_endpoints_location" ON "tls_endpoints" USING btree ("workspace_id","location");--> statement-breakpoint
CREATE INDEX "tls_endpoints_due" ON "tls_endpoints" USING btree ("next_scan_at") WHERE next_scan_at is not null;--> statement-breakpoint
CREATE INDEX "tls_endpoints_counted" ON "tls_endpoints" USING btree ("workspace_id") WHERE uncounted_at is null;--> statement-breakpoint
CREATE INDEX "tls_scans_endpoint" ON "tls_scans" USING btree ("endpoint_id","id");--> statement-breakpoint
CREATE INDEX "tls_scans_started" ON "tls_scans" USING btree ("started_at");--> statement-breakpoint
CREATE UNIQUE INDEX "acme_accounts_name" ON "acme_accounts" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "acme_accounts_workspace" ON "acme_accounts" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "acme_challenges_certificate" ON "acme_challenges" USING btree ("managed_certificate_id");--> statement-breakpoint
CREATE INDEX "acme_challenges_expiry" ON "acme_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "managed_certificates_workspace" ON "managed_certificates" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "managed_certificates_account" ON "managed_certificates" USING btree ("acme_account_id");--> statement-breakpoint
CREATE INDEX "managed_certificates_issuer" ON "managed_certificates" USING btree ("issued_by_account_id");--> statement-breakpoint
CREATE INDEX "managed_certificates_renewal" ON "managed_certificates" USING btree ("next_renewal_at") WHERE next_renewal_at is not null;--> statement-breakpoint
CREATE INDEX "managed_certificates_issuing" ON "managed_certificates" USING btree ("id") WHERE status = 'issuing';--> statement-breakpoint
CREATE INDEX "managed_certificates_ari" ON "managed_certificates" USING btree ("ari_check_at") WHERE ari_check_at is not null;--> statement-breakpoint
CREATE INDEX "agents_certificates_pending" ON "agents" USING btree ("id") WHERE certificates_pending;