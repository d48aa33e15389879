CREATE TABLE "audit_checkpoints" (
	"number" bigint PRIMARY KEY NOT NULL,
	"chain" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"seq" bigint NOT NULL,
	"count" bigint NOT NULL,
	"head" text collate "C" NOT NULL,
	"prev_checkpoint" text collate "C",
	"time" bigint NOT NULL,
	"key_id" text collate "C" NOT NULL,
	"signature" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"seq" bigint NOT NULL,
	"occurred_at" bigint NOT NULL,
	"action" text collate "C" NOT NULL,
	"outcome" text collate "C" NOT NULL,
	"actor_type" text collate "C" NOT NULL,
	"actor_id" text collate "C" NOT NULL,
	"actor" text NOT NULL,
	"target_id" text collate "C" NOT NULL,
	"targets" text NOT NULL,
	"context" text NOT NULL,
	"changes" text,
	"reason" text collate "C",
	"prev_hash" "bytea" NOT NULL,
	"hash" "bytea" NOT NULL,
	"mac" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "counters" (
	"name" text collate "C" PRIMARY KEY NOT NULL,
	"value" bigint NOT NULL,
	"head" "bytea"
);
--> statement-breakpoint
CREATE TABLE "data_key_uses" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"key_id" text collate "C" NOT NULL,
	"encryptions" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "data_keys" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"master_key_id" text collate "C" NOT NULL,
	"wrapped" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"position" bigint NOT NULL,
	"message_id" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"resource_type" text collate "C" NOT NULL,
	"resource_id" text collate "C" NOT NULL,
	"sequence" bigint NOT NULL,
	"occurred_at" bigint NOT NULL,
	"body" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "held_lanes" (
	"kind" text collate "C" NOT NULL,
	"lane" text collate "C" NOT NULL,
	"held_until" bigint NOT NULL,
	CONSTRAINT "held_lanes_kind_lane_pk" PRIMARY KEY("kind","lane")
);
--> statement-breakpoint
CREATE TABLE "hubs" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"host" text collate "C" NOT NULL,
	"version" text collate "C" NOT NULL,
	"started_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL,
	"master_key_id" text collate "C"
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"workspace_id" text collate "C" NOT NULL,
	"method" text collate "C" NOT NULL,
	"path" text collate "C" NOT NULL,
	"key" text collate "C" NOT NULL,
	"fingerprint" text collate "C" NOT NULL,
	"running_in" text collate "C",
	"status" bigint,
	"body" text collate "C",
	"location" text collate "C",
	"etag" text collate "C",
	"created_at" bigint NOT NULL,
	CONSTRAINT "idempotency_keys_workspace_id_method_path_key_pk" PRIMARY KEY("workspace_id","method","path","key")
);
--> statement-breakpoint
CREATE TABLE "instance_facts" (
	"name" text collate "C" PRIMARY KEY NOT NULL,
	"value" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"kind" text collate "C" NOT NULL,
	"lane" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"priority" bigint NOT NULL,
	"run_at" bigint NOT NULL,
	"attempts" bigint NOT NULL,
	"lost_runs" bigint NOT NULL,
	"payload" text NOT NULL,
	"unique_key" text collate "C",
	"locked_by" text collate "C",
	"locked_until" bigint,
	"last_error" text collate "C",
	"created_at" bigint NOT NULL,
	"failed_at" bigint
);
--> statement-breakpoint
CREATE TABLE "notices" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"severity" text collate "C" NOT NULL,
	"resource_type" text collate "C",
	"resource_id" text collate "C",
	"resource_name" text collate "C",
	"text" text collate "C" NOT NULL,
	"details" text NOT NULL,
	"dedup_key" text collate "C" NOT NULL,
	"count" bigint NOT NULL,
	"occurred_at" bigint NOT NULL,
	"read_at" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deprecation_uses" (
	"workspace_id" text collate "C" NOT NULL,
	"token_id" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"uses" bigint NOT NULL,
	"last_used_at" bigint NOT NULL,
	CONSTRAINT "deprecation_uses_token_id_subject_pk" PRIMARY KEY("token_id","subject")
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"email" text collate "C" NOT NULL,
	"role" text collate "C" NOT NULL,
	"code_hash" text collate "C" NOT NULL,
	"invited_by" text collate "C" NOT NULL,
	"by_operator" boolean NOT NULL,
	"expires_at" bigint NOT NULL,
	"accepted_at" bigint,
	"accepted_by" text collate "C",
	"sent_to" text collate "C",
	"mailed_at" bigint,
	"mail_error" text collate "C",
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"workspace_id" text collate "C" NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"role" text collate "C" NOT NULL,
	"seen_at" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "memberships_workspace_id_user_id_pk" PRIMARY KEY("workspace_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "one_time_codes" (
	"user_id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"secret_sealed" text collate "C" NOT NULL,
	"confirmed_at" bigint,
	"last_step" bigint,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"credential_id" text collate "C" NOT NULL,
	"public_key" text collate "C" NOT NULL,
	"counter" bigint NOT NULL,
	"transports" text NOT NULL,
	"backed_up" boolean NOT NULL,
	"name" text collate "C" NOT NULL,
	"last_used_at" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "password_resets" (
	"code_hash" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "plans" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"title" text collate "C" NOT NULL,
	"api_access" text collate "C" NOT NULL,
	"limits" text NOT NULL,
	"is_default" boolean NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recovery_codes" (
	"user_id" text collate "C" NOT NULL,
	"tag" text collate "C" NOT NULL,
	"used_at" bigint,
	CONSTRAINT "recovery_codes_user_id_tag_pk" PRIMARY KEY("user_id","tag")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"token_hash" text collate "C" NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"ip" text collate "C" NOT NULL,
	"user_agent" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "spent_challenges" (
	"hash" text collate "C" PRIMARY KEY NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"token_hash" text collate "C" NOT NULL,
	"hint" text collate "C" NOT NULL,
	"mode" text collate "C" NOT NULL,
	"permissions" text NOT NULL,
	"allowed_cidrs" text NOT NULL,
	"resource_ids" text NOT NULL,
	"created_by" text collate "C" NOT NULL,
	"rotated_from" text collate "C",
	"rotated_to" text collate "C",
	"grace_seconds" bigint,
	"expires_at" bigint,
	"last_used_at" bigint,
	"last_used_ip" text collate "C",
	"revoked_at" bigint,
	"warned_end" bigint,
	"warned_days" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"email" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"password_hash" text collate "C" NOT NULL,
	"is_operator" boolean NOT NULL,
	"disabled_at" bigint,
	"preferences" text,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"name" text collate "C" NOT NULL,
	"plan_id" text collate "C" NOT NULL,
	"is_operator" boolean NOT NULL,
	"network_policy" text NOT NULL,
	"limit_overrides" text NOT NULL,
	"suspended_at" bigint,
	"suspension_reason" text collate "C",
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "action_resources" (
	"action_id" text collate "C" NOT NULL,
	"resource_type" text collate "C" NOT NULL,
	"resource_id" text collate "C" NOT NULL,
	"locked" text collate "C",
	CONSTRAINT "action_resources_action_id_resource_id_pk" PRIMARY KEY("action_id","resource_id")
);
--> statement-breakpoint
CREATE TABLE "actions" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"area" text collate "C" NOT NULL,
	"resource_type" text collate "C" NOT NULL,
	"resource_id" text collate "C" NOT NULL,
	"resources" text NOT NULL,
	"status" text collate "C" NOT NULL,
	"cancelable" boolean NOT NULL,
	"cancel_requested_at" bigint,
	"progress" bigint NOT NULL,
	"steps" text NOT NULL,
	"input" text NOT NULL,
	"state" text,
	"chunk_in_progress" boolean NOT NULL,
	"result" text,
	"error" text,
	"actor" text NOT NULL,
	"created_at" bigint NOT NULL,
	"started_at" bigint,
	"finished_at" bigint
);
--> statement-breakpoint
CREATE TABLE "audit_streams" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"url" text collate "C" NOT NULL,
	"actions" text,
	"active" boolean NOT NULL,
	"secret_sealed" text collate "C" NOT NULL,
	"secret_hint" text collate "C" NOT NULL,
	"next_secret_sealed" text collate "C",
	"next_secret_hint" text collate "C",
	"rotates_at" bigint,
	"position" bigint NOT NULL,
	"checkpoint" bigint NOT NULL,
	"retry_position" bigint,
	"retry_checkpoint" bigint,
	"failed_attempts" bigint NOT NULL,
	"failing_since" bigint,
	"next_attempt_at" bigint,
	"last_success_at" bigint,
	"last_error" text collate "C",
	"sender" text collate "C",
	"sender_until" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_past_serials" (
	"name" text collate "C" PRIMARY KEY NOT NULL,
	"serial" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_record_marks" (
	"workspace_id" text collate "C" NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"record_id" text collate "C" NOT NULL,
	"mark" text collate "C" NOT NULL,
	CONSTRAINT "dns_record_marks_record_id_mark_pk" PRIMARY KEY("record_id","mark")
);
--> statement-breakpoint
CREATE TABLE "dns_records" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"rrset_id" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"name_reversed" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"source" text collate "C" NOT NULL,
	"content" text collate "C" NOT NULL,
	"content_key" text collate "C" NOT NULL,
	"target" text collate "C",
	"rdata" "bytea" NOT NULL,
	"rdata_hash" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_rrset_changes" (
	"zone_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"number" bigint NOT NULL,
	CONSTRAINT "dns_rrset_changes_zone_id_name_type_pk" PRIMARY KEY("zone_id","name","type")
);
--> statement-breakpoint
CREATE TABLE "dns_rrsets" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"ttl" bigint NOT NULL,
	"source" text collate "C" NOT NULL,
	"comment" text collate "C" NOT NULL,
	"options" text,
	"locked" boolean NOT NULL,
	"tags" text NOT NULL,
	"expires_at" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_zone_changes" (
	"zone_id" text collate "C" PRIMARY KEY NOT NULL,
	"number" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"whole_number" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_zones" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"unicode_name" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"default_ttl" bigint NOT NULL,
	"soa_mname" text collate "C" NOT NULL,
	"soa_rname" text collate "C" NOT NULL,
	"soa_ttl" bigint NOT NULL,
	"soa_refresh" bigint NOT NULL,
	"soa_retry" bigint NOT NULL,
	"soa_expire" bigint NOT NULL,
	"soa_minimum" bigint NOT NULL,
	"serial" bigint NOT NULL,
	"record_count" bigint NOT NULL,
	"update_limit" bigint,
	"delete_limit" bigint,
	"provider_id" text collate "C" NOT NULL,
	"is_served" boolean NOT NULL,
	"target_count" bigint NOT NULL,
	"sync_state" text collate "C" NOT NULL,
	"is_synced" boolean NOT NULL,
	"apply" text collate "C" NOT NULL,
	"drift_policy" text collate "C" NOT NULL,
	"unmanaged" text collate "C" NOT NULL,
	"ignore_rules" text,
	"blocked_plan_id" text collate "C",
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "flips" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"heartbeat_id" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"from_status" text collate "C" NOT NULL,
	"to_status" text collate "C" NOT NULL,
	"reason" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "heartbeats" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"slug" text collate "C" NOT NULL,
	"tags" text NOT NULL,
	"description" text collate "C" NOT NULL,
	"schedule" text NOT NULL,
	"methods" text collate "C" NOT NULL,
	"manual_resume" boolean NOT NULL,
	"first_ping_within_seconds" bigint,
	"severity" text collate "C" DEFAULT 'critical' NOT NULL,
	"channel_ids" text,
	"uuid_hash" text collate "C" NOT NULL,
	"uuid_sealed" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"alert_held_until" bigint,
	"status_since" bigint NOT NULL,
	"last_ping_at" bigint,
	"open_runs" text NOT NULL,
	"last_duration_ms" bigint,
	"expected_at" bigint,
	"down_at" bigint,
	"ping_count" bigint NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ping_keys" (
	"workspace_id" text collate "C" PRIMARY KEY NOT NULL,
	"key_hash" text collate "C" NOT NULL,
	"key_sealed" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pings" (
	"heartbeat_id" text collate "C" NOT NULL,
	"n" bigint NOT NULL,
	"kind" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"exit_status" bigint,
	"duration_ms" bigint,
	"rid" text collate "C",
	"source" text collate "C" NOT NULL,
	"user_agent" text collate "C" NOT NULL,
	"method" text collate "C" NOT NULL,
	"body" "bytea",
	CONSTRAINT "pings_heartbeat_id_n_pk" PRIMARY KEY("heartbeat_id","n")
);
--> statement-breakpoint
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
	"resolved_ms" bigint NOT NULL,
	"reopen_count" bigint NOT NULL,
	"assignee_id" text collate "C",
	"notes" text collate "C" NOT NULL,
	"postmortem" text collate "C",
	"postmortem_at" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "plan_excesses" (
	"workspace_id" text collate "C" NOT NULL,
	"limit_name" text collate "C" NOT NULL,
	"max" bigint NOT NULL,
	"since" bigint NOT NULL,
	CONSTRAINT "plan_excesses_workspace_id_limit_name_pk" PRIMARY KEY("workspace_id","limit_name")
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
	"certificate_expires_at" bigint,
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
	"is_default" boolean NOT NULL,
	"topics" text NOT NULL,
	"min_severity" text collate "C" NOT NULL,
	"tags" text NOT NULL,
	"remind_every_seconds" bigint,
	"max_reminders" bigint NOT NULL,
	"quiet_hours" text,
	"group_seconds" bigint NOT NULL,
	"active" boolean NOT NULL,
	"status" text collate "C" NOT NULL,
	"disabled_reason" text collate "C",
	"consecutive_failures" bigint NOT NULL,
	"consecutive_gone" bigint NOT NULL,
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
	"dedup_key" text collate "C" NOT NULL,
	"message" text NOT NULL,
	"reminder" boolean NOT NULL,
	"status" text collate "C" NOT NULL,
	"reason" text collate "C",
	"attempt_count" bigint NOT NULL,
	"due_at" bigint NOT NULL,
	"give_up_at" bigint NOT NULL,
	"last_error" text,
	"response" text collate "C",
	"sent_with_id" text collate "C",
	"sent_at" bigint,
	"finished_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_attempts" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"delivery_id" text collate "C" NOT NULL,
	"number" bigint NOT NULL,
	"trigger" text collate "C" NOT NULL,
	"started_at" bigint NOT NULL,
	"duration_ms" bigint NOT NULL,
	"status_code" bigint,
	"error_class" text collate "C",
	"error_message" text collate "C",
	"request" text NOT NULL,
	"response" text,
	"timings" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"endpoint_id" text collate "C" NOT NULL,
	"event_id" text collate "C",
	"message_id" text collate "C" NOT NULL,
	"event" text collate "C" NOT NULL,
	"resource_type" text collate "C",
	"resource_id" text collate "C",
	"sequence" bigint,
	"order_position" bigint,
	"occurred_at" bigint NOT NULL,
	"test_body" text collate "C",
	"status" text collate "C" NOT NULL,
	"reason" text collate "C",
	"attempt_count" bigint NOT NULL,
	"last_status_code" bigint,
	"last_error_class" text collate "C",
	"next_attempt_at" bigint,
	"finished_at" bigint,
	"ended_as" text,
	"expunged_at" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_dispatches" (
	"workspace_id" text collate "C" NOT NULL,
	"resource_id" text collate "C" NOT NULL,
	"position" bigint NOT NULL,
	CONSTRAINT "webhook_dispatches_workspace_id_resource_id_pk" PRIMARY KEY("workspace_id","resource_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"url" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"events" text NOT NULL,
	"resource_ids" text,
	"active" boolean NOT NULL,
	"status" text collate "C" NOT NULL,
	"disabled_reason" text collate "C",
	"secret_sealed" text collate "C" NOT NULL,
	"secret_hint" text collate "C" NOT NULL,
	"next_secret_sealed" text collate "C",
	"next_secret_hint" text collate "C",
	"rotates_at" bigint,
	"headers_sealed" text collate "C",
	"header_names" text NOT NULL,
	"retry_schedule" text,
	"timeout_seconds" bigint NOT NULL,
	"max_per_second" bigint,
	"rate_reserved_until_us" bigint,
	"ordering" text collate "C" NOT NULL,
	"failed_attempts" bigint NOT NULL,
	"consecutive_gone" bigint NOT NULL,
	"consecutive_failures" bigint NOT NULL,
	"breaker_openings" bigint NOT NULL,
	"breaker_until" bigint,
	"failing_since" bigint,
	"last_failed_at" bigint,
	"failing_notice_hours" bigint,
	"last_success_at" bigint,
	"reenabled_at" bigint,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_rate_windows" (
	"workspace_id" text collate "C" PRIMARY KEY NOT NULL,
	"begun" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_providers" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
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
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_alias_addresses" (
	"rrset_id" text collate "C" PRIMARY KEY NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"target" text collate "C" NOT NULL,
	"ipv4" text NOT NULL,
	"ipv6" text NOT NULL,
	"ttl" bigint NOT NULL,
	"highest_ttl" bigint NOT NULL,
	"ttl_since" bigint NOT NULL,
	"failures" bigint NOT NULL,
	"looked_up_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_alias_paths" (
	"rrset_id" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name_reversed" text collate "C" NOT NULL,
	CONSTRAINT "dns_alias_paths_rrset_id_name_reversed_pk" PRIMARY KEY("rrset_id","name_reversed")
);
--> statement-breakpoint
CREATE TABLE "dns_changeset_rrsets" (
	"zone_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"place" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"before" text,
	"after" text,
	CONSTRAINT "dns_changeset_rrsets_zone_id_version_place_pk" PRIMARY KEY("zone_id","version","place")
);
--> statement-breakpoint
CREATE TABLE "dns_changesets" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"serial_before" bigint NOT NULL,
	"serial_after" bigint NOT NULL,
	"soa_before" text,
	"soa_after" text,
	"actor" text NOT NULL,
	"actor_id" text collate "C" NOT NULL,
	"origin" text collate "C" NOT NULL,
	"note" text collate "C",
	"plan_id" text collate "C",
	"created" bigint NOT NULL,
	"updated" bigint NOT NULL,
	"deleted" bigint NOT NULL,
	"rrset_count" bigint NOT NULL,
	"occurred_at" bigint NOT NULL,
	"request_id" text collate "C"
);
--> statement-breakpoint
CREATE TABLE "dns_found_records" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"target_id" text collate "C" NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"name_reversed" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"ttl" bigint NOT NULL,
	"content" text collate "C" NOT NULL,
	"found_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_plans" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"zone_version" bigint NOT NULL,
	"hash" text collate "C" NOT NULL,
	"edits" text,
	"zone_edit" text,
	"targets" text NOT NULL,
	"blocked" text NOT NULL,
	"origin" text collate "C" NOT NULL,
	"source" text collate "C" NOT NULL,
	"note" text collate "C" NOT NULL,
	"allowed" text NOT NULL,
	"enforce" text,
	"created_by" text NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"applied_at" bigint
);
--> statement-breakpoint
CREATE TABLE "dns_target_rrsets" (
	"target_id" text collate "C" NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"agreed" text collate "C",
	"observed" text collate "C",
	"observed_ttl" bigint,
	"observed_values" text,
	"state" text collate "C" NOT NULL,
	"kind" text collate "C",
	"sent" text collate "C",
	"detail" text collate "C",
	"since" bigint NOT NULL,
	CONSTRAINT "dns_target_rrsets_target_id_name_type_pk" PRIMARY KEY("target_id","name","type")
);
--> statement-breakpoint
CREATE TABLE "dns_zone_targets" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"provider_id" text collate "C" NOT NULL,
	"remote_ref" text collate "C",
	"enabled" boolean NOT NULL,
	"state" text collate "C" NOT NULL,
	"last_read_at" bigint,
	"last_good_count" bigint,
	"last_sync_at" bigint,
	"observed_hash" text collate "C",
	"remote_serial" bigint,
	"error" text,
	"is_stale" boolean NOT NULL,
	"consecutive_failures" bigint NOT NULL,
	"failure_notified" boolean NOT NULL,
	"blocked_for" text,
	"next_poll_at" bigint NOT NULL,
	"throttled_until" bigint NOT NULL,
	"claim" text collate "C",
	"claimed_until" bigint NOT NULL,
	"enforced_since" bigint NOT NULL,
	"enforced_runs" bigint NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_template_bindings" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"template_id" text collate "C" NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"host" text collate "C" NOT NULL,
	"mode" text collate "C" NOT NULL,
	"variables" text NOT NULL,
	"template_version" bigint NOT NULL,
	"pending" boolean NOT NULL,
	"modified" boolean NOT NULL,
	"error" text,
	"applied_at" bigint NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_template_rrsets" (
	"binding_id" text collate "C" NOT NULL,
	"zone_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"placed" text NOT NULL,
	CONSTRAINT "dns_template_rrsets_binding_id_name_type_pk" PRIMARY KEY("binding_id","name","type")
);
--> statement-breakpoint
CREATE TABLE "dns_template_versions" (
	"template_id" text collate "C" NOT NULL,
	"version" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"content" text NOT NULL,
	"actor" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "dns_template_versions_template_id_version_pk" PRIMARY KEY("template_id","version")
);
--> statement-breakpoint
CREATE TABLE "dns_templates" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"content" text NOT NULL,
	"content_version" bigint NOT NULL,
	"version" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_secondaries" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"address" text collate "C" NOT NULL,
	"port" bigint NOT NULL,
	"key_id" text collate "C",
	"notified_at" bigint,
	"acknowledged_at" bigint,
	"error" text collate "C",
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_serving" (
	"workspace_id" text collate "C" PRIMARY KEY NOT NULL,
	"transfer_key_ids" text,
	"catalog_enabled" boolean NOT NULL,
	"catalog_name" text collate "C" NOT NULL,
	"catalog_key_id" text collate "C",
	"catalog_serial" bigint NOT NULL,
	"version" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dns_transfers" (
	"workspace_id" text collate "C" NOT NULL,
	"zone" text collate "C" NOT NULL,
	"address" text collate "C" NOT NULL,
	"key_id" text collate "C" NOT NULL,
	"serial" bigint NOT NULL,
	"type" text collate "C" NOT NULL,
	"transferred_at" bigint NOT NULL,
	CONSTRAINT "dns_transfers_workspace_id_zone_address_key_id_pk" PRIMARY KEY("workspace_id","zone","address","key_id")
);
--> statement-breakpoint
CREATE TABLE "dns_tsig_keys" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"workspace_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"algorithm" text collate "C" NOT NULL,
	"secret_sealed" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "data_key_uses" ADD CONSTRAINT "data_key_uses_key_id_data_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."data_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deprecation_uses" ADD CONSTRAINT "deprecation_uses_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deprecation_uses" ADD CONSTRAINT "deprecation_uses_token_id_tokens_id_fk" FOREIGN KEY ("token_id") REFERENCES "public"."tokens"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "one_time_codes" ADD CONSTRAINT "one_time_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "one_time_codes" ADD CONSTRAINT "one_time_codes_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_plan_id_plans_id_fk" FOREIGN KEY ("plan_id") REFERENCES "public"."plans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "action_resources" ADD CONSTRAINT "action_resources_action_id_actions_id_fk" FOREIGN KEY ("action_id") REFERENCES "public"."actions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions" ADD CONSTRAINT "actions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_streams" ADD CONSTRAINT "audit_streams_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_record_marks" ADD CONSTRAINT "dns_record_marks_record_id_dns_records_id_fk" FOREIGN KEY ("record_id") REFERENCES "public"."dns_records"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_records" ADD CONSTRAINT "dns_records_rrset_id_dns_rrsets_id_fk" FOREIGN KEY ("rrset_id") REFERENCES "public"."dns_rrsets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_zones" ADD CONSTRAINT "dns_zones_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "flips" ADD CONSTRAINT "flips_heartbeat_id_heartbeats_id_fk" FOREIGN KEY ("heartbeat_id") REFERENCES "public"."heartbeats"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heartbeats" ADD CONSTRAINT "heartbeats_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ping_keys" ADD CONSTRAINT "ping_keys_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pings" ADD CONSTRAINT "pings_heartbeat_id_heartbeats_id_fk" FOREIGN KEY ("heartbeat_id") REFERENCES "public"."heartbeats"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_subjects" ADD CONSTRAINT "incident_subjects_incident_id_incidents_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incidents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_updates" ADD CONSTRAINT "incident_updates_incident_id_incidents_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incidents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incidents" ADD CONSTRAINT "incidents_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "plan_excesses" ADD CONSTRAINT "plan_excesses_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "maintenance_windows" ADD CONSTRAINT "maintenance_windows_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "monitor_transitions" ADD CONSTRAINT "monitor_transitions_monitor_id_monitors_id_fk" FOREIGN KEY ("monitor_id") REFERENCES "public"."monitors"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "monitors" ADD CONSTRAINT "monitors_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification_channels" ADD CONSTRAINT "notification_channels_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification_threads" ADD CONSTRAINT "notification_threads_channel_id_notification_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."notification_channels"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_id_webhook_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."webhook_deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_rate_windows" ADD CONSTRAINT "webhook_rate_windows_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_providers" ADD CONSTRAINT "dns_providers_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_alias_addresses" ADD CONSTRAINT "dns_alias_addresses_rrset_id_dns_rrsets_id_fk" FOREIGN KEY ("rrset_id") REFERENCES "public"."dns_rrsets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_alias_paths" ADD CONSTRAINT "dns_alias_paths_rrset_id_dns_rrsets_id_fk" FOREIGN KEY ("rrset_id") REFERENCES "public"."dns_rrsets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_found_records" ADD CONSTRAINT "dns_found_records_target_id_dns_zone_targets_id_fk" FOREIGN KEY ("target_id") REFERENCES "public"."dns_zone_targets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_plans" ADD CONSTRAINT "dns_plans_zone_id_dns_zones_id_fk" FOREIGN KEY ("zone_id") REFERENCES "public"."dns_zones"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_target_rrsets" ADD CONSTRAINT "dns_target_rrsets_target_id_dns_zone_targets_id_fk" FOREIGN KEY ("target_id") REFERENCES "public"."dns_zone_targets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_zone_targets" ADD CONSTRAINT "dns_zone_targets_zone_id_dns_zones_id_fk" FOREIGN KEY ("zone_id") REFERENCES "public"."dns_zones"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_zone_targets" ADD CONSTRAINT "dns_zone_targets_provider_id_dns_providers_id_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."dns_providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_template_bindings" ADD CONSTRAINT "dns_template_bindings_zone_id_dns_zones_id_fk" FOREIGN KEY ("zone_id") REFERENCES "public"."dns_zones"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_template_rrsets" ADD CONSTRAINT "dns_template_rrsets_binding_id_dns_template_bindings_id_fk" FOREIGN KEY ("binding_id") REFERENCES "public"."dns_template_bindings"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_template_versions" ADD CONSTRAINT "dns_template_versions_template_id_dns_templates_id_fk" FOREIGN KEY ("template_id") REFERENCES "public"."dns_templates"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_templates" ADD CONSTRAINT "dns_templates_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_secondaries" ADD CONSTRAINT "dns_secondaries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_serving" ADD CONSTRAINT "dns_serving_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_transfers" ADD CONSTRAINT "dns_transfers_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dns_tsig_keys" ADD CONSTRAINT "dns_tsig_keys_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_checkpoints_chain" ON "audit_checkpoints" USING btree ("chain","number");--> statement-breakpoint
CREATE INDEX "audit_checkpoints_kind" ON "audit_checkpoints" USING btree ("chain","kind","seq");--> statement-breakpoint
CREATE UNIQUE INDEX "audit_entries_chain" ON "audit_entries" USING btree ("workspace_id","seq");--> statement-breakpoint
CREATE INDEX "audit_entries_target" ON "audit_entries" USING btree ("workspace_id","target_id","seq");--> statement-breakpoint
CREATE INDEX "audit_entries_action" ON "audit_entries" USING btree ("workspace_id","action","seq");--> statement-breakpoint
CREATE INDEX "data_key_uses_key" ON "data_key_uses" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "data_keys_workspace" ON "data_keys" USING btree ("workspace_id","created_at");--> statement-breakpoint
CREATE INDEX "events_workspace" ON "events" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "events_position" ON "events" USING btree ("workspace_id","position");--> statement-breakpoint
CREATE UNIQUE INDEX "events_sequence" ON "events" USING btree ("resource_id","kind","sequence");--> statement-breakpoint
CREATE INDEX "events_resource" ON "events" USING btree ("workspace_id","resource_id","position");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "jobs_due" ON "jobs" USING btree ("state","kind","lane","priority","run_at");--> statement-breakpoint
CREATE INDEX "jobs_next" ON "jobs" USING btree ("state","kind","run_at");--> statement-breakpoint
CREATE INDEX "jobs_leases" ON "jobs" USING btree ("state","locked_until");--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_unique" ON "jobs" USING btree ("kind","unique_key");--> statement-breakpoint
CREATE UNIQUE INDEX "notices_dedup_key" ON "notices" USING btree ("workspace_id","dedup_key");--> statement-breakpoint
CREATE INDEX "notices_workspace" ON "notices" USING btree ("workspace_id","occurred_at","id");--> statement-breakpoint
CREATE INDEX "notices_occurred" ON "notices" USING btree ("occurred_at");--> statement-breakpoint
CREATE INDEX "deprecation_uses_workspace" ON "deprecation_uses" USING btree ("workspace_id");--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_code_hash" ON "invitations" USING btree ("code_hash");--> statement-breakpoint
CREATE INDEX "invitations_workspace" ON "invitations" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "memberships_user" ON "memberships" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "passkeys_credential" ON "passkeys" USING btree ("credential_id");--> statement-breakpoint
CREATE INDEX "passkeys_user" ON "passkeys" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "password_resets_user" ON "password_resets" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "password_resets_expires" ON "password_resets" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_token_hash" ON "sessions" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_expires" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "spent_challenges_expires" ON "spent_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "tokens_hash" ON "tokens" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "tokens_workspace" ON "tokens" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "tokens_expires" ON "tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email" ON "users" USING btree ("email");--> statement-breakpoint
CREATE UNIQUE INDEX "workspaces_name" ON "workspaces" USING btree ("name");--> statement-breakpoint
CREATE INDEX "action_resources_resource" ON "action_resources" USING btree ("resource_id","action_id");--> statement-breakpoint
CREATE UNIQUE INDEX "action_resources_locked" ON "action_resources" USING btree ("locked");--> statement-breakpoint
CREATE INDEX "actions_workspace" ON "actions" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "actions_status" ON "actions" USING btree ("status","created_at");--> statement-breakpoint
CREATE INDEX "actions_finished" ON "actions" USING btree ("finished_at");--> statement-breakpoint
CREATE INDEX "audit_streams_workspace" ON "audit_streams" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "dns_record_marks_workspace" ON "dns_record_marks" USING btree ("workspace_id","mark","record_id");--> statement-breakpoint
CREATE INDEX "dns_record_marks_zone" ON "dns_record_marks" USING btree ("zone_id","mark","record_id");--> statement-breakpoint
CREATE UNIQUE INDEX "dns_records_rdata" ON "dns_records" USING btree ("rrset_id","rdata_hash");--> statement-breakpoint
CREATE INDEX "dns_records_workspace" ON "dns_records" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "dns_records_type" ON "dns_records" USING btree ("workspace_id","type","id");--> statement-breakpoint
CREATE INDEX "dns_records_name" ON "dns_records" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE INDEX "dns_records_name_reversed" ON "dns_records" USING btree ("workspace_id","name_reversed","id");--> statement-breakpoint
CREATE INDEX "dns_records_content" ON "dns_records" USING btree ("workspace_id","content_key","id");--> statement-breakpoint
CREATE INDEX "dns_records_source" ON "dns_records" USING btree ("workspace_id","source","id");--> statement-breakpoint
CREATE INDEX "dns_records_updated" ON "dns_records" USING btree ("workspace_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "dns_records_zone" ON "dns_records" USING btree ("zone_id","id");--> statement-breakpoint
CREATE INDEX "dns_records_zone_type" ON "dns_records" USING btree ("zone_id","type","id");--> statement-breakpoint
CREATE INDEX "dns_records_zone_name" ON "dns_records" USING btree ("zone_id","name","id");--> statement-breakpoint
CREATE INDEX "dns_records_zone_name_reversed" ON "dns_records" USING btree ("zone_id","name_reversed","id");--> statement-breakpoint
CREATE INDEX "dns_records_zone_content" ON "dns_records" USING btree ("zone_id","content_key","id");--> statement-breakpoint
CREATE INDEX "dns_records_zone_updated" ON "dns_records" USING btree ("zone_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "dns_records_zone_target" ON "dns_records" USING btree ("zone_id","target");--> statement-breakpoint
CREATE INDEX "dns_rrset_changes_number" ON "dns_rrset_changes" USING btree ("zone_id","number");--> statement-breakpoint
CREATE UNIQUE INDEX "dns_rrsets_name" ON "dns_rrsets" USING btree ("zone_id","name","type");--> statement-breakpoint
CREATE INDEX "dns_rrsets_expiring" ON "dns_rrsets" USING btree ("expires_at") WHERE expires_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "dns_zone_changes_number" ON "dns_zone_changes" USING btree ("number");--> statement-breakpoint
CREATE UNIQUE INDEX "dns_zones_name" ON "dns_zones" USING btree ("name");--> statement-breakpoint
CREATE INDEX "dns_zones_workspace" ON "dns_zones" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "dns_zones_by_name" ON "dns_zones" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE INDEX "dns_zones_by_state" ON "dns_zones" USING btree ("workspace_id","sync_state","id");--> statement-breakpoint
CREATE INDEX "dns_zones_by_synced" ON "dns_zones" USING btree ("workspace_id","is_synced","id");--> statement-breakpoint
CREATE INDEX "dns_zones_by_provider" ON "dns_zones" USING btree ("workspace_id","provider_id","id");--> statement-breakpoint
CREATE INDEX "dns_zones_blocked" ON "dns_zones" USING btree ("workspace_id","id") WHERE blocked_plan_id is not null;--> statement-breakpoint
CREATE INDEX "flips_heartbeat" ON "flips" USING btree ("heartbeat_id","id");--> statement-breakpoint
CREATE INDEX "heartbeats_workspace" ON "heartbeats" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "heartbeats_slug" ON "heartbeats" USING btree ("workspace_id","slug");--> statement-breakpoint
CREATE INDEX "heartbeats_name" ON "heartbeats" USING btree ("workspace_id","name","id");--> statement-breakpoint
CREATE INDEX "heartbeats_down" ON "heartbeats" USING btree ("down_at");--> statement-breakpoint
CREATE INDEX "heartbeats_alert_held_until" ON "heartbeats" USING btree ("alert_held_until");--> statement-breakpoint
CREATE UNIQUE INDEX "heartbeats_uuid" ON "heartbeats" USING btree ("uuid_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "ping_keys_hash" ON "ping_keys" USING btree ("key_hash");--> statement-breakpoint
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
CREATE INDEX "monitors_certificate" ON "monitors" USING btree ("workspace_id","certificate_expires_at","id") WHERE certificate_expires_at is not null;--> statement-breakpoint
CREATE INDEX "monitors_updated" ON "monitors" USING btree ("updated_at");--> statement-breakpoint
CREATE UNIQUE INDEX "monitors_number" ON "monitors" USING btree ("number");--> statement-breakpoint
CREATE UNIQUE INDEX "monitors_key" ON "monitors" USING btree ("workspace_id","key");--> statement-breakpoint
CREATE UNIQUE INDEX "notification_channels_name" ON "notification_channels" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "notification_channels_workspace" ON "notification_channels" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "notification_threads_thread" ON "notification_threads" USING btree ("thread");--> statement-breakpoint
CREATE INDEX "notification_threads_updated" ON "notification_threads" USING btree ("updated_at");--> statement-breakpoint
CREATE UNIQUE INDEX "notifications_dedup_key" ON "notifications" USING btree ("channel_id","dedup_key");--> statement-breakpoint
CREATE INDEX "notifications_workspace" ON "notifications" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "notifications_channel" ON "notifications" USING btree ("channel_id","id");--> statement-breakpoint
CREATE INDEX "notifications_due" ON "notifications" USING btree ("channel_id","status","due_at");--> statement-breakpoint
CREATE INDEX "notifications_thread" ON "notifications" USING btree ("channel_id","thread","id");--> statement-breakpoint
CREATE INDEX "notifications_finished" ON "notifications" USING btree ("finished_at");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_attempts_number" ON "webhook_attempts" USING btree ("delivery_id","number");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_event_endpoint" ON "webhook_deliveries" USING btree ("event_id","endpoint_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_workspace" ON "webhook_deliveries" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_endpoint" ON "webhook_deliveries" USING btree ("endpoint_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_status" ON "webhook_deliveries" USING btree ("workspace_id","status","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_line" ON "webhook_deliveries" USING btree ("endpoint_id","resource_id","order_position") WHERE "webhook_deliveries"."order_position" is not null and "webhook_deliveries"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "webhook_endpoints_workspace" ON "webhook_endpoints" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "webhook_endpoints_failing" ON "webhook_endpoints" USING btree ("failing_since");--> statement-breakpoint
CREATE UNIQUE INDEX "dns_providers_name" ON "dns_providers" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE INDEX "dns_providers_workspace" ON "dns_providers" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "dns_alias_addresses_zone" ON "dns_alias_addresses" USING btree ("zone_id","name");--> statement-breakpoint
CREATE INDEX "dns_alias_paths_name" ON "dns_alias_paths" USING btree ("workspace_id","name_reversed");--> statement-breakpoint
CREATE INDEX "dns_changeset_rrsets_name" ON "dns_changeset_rrsets" USING btree ("zone_id","name","type","version");--> statement-breakpoint
CREATE UNIQUE INDEX "dns_changesets_version" ON "dns_changesets" USING btree ("zone_id","version");--> statement-breakpoint
CREATE INDEX "dns_changesets_time" ON "dns_changesets" USING btree ("workspace_id","occurred_at");--> statement-breakpoint
CREATE INDEX "dns_found_records_workspace" ON "dns_found_records" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "dns_found_records_zone" ON "dns_found_records" USING btree ("zone_id","id");--> statement-breakpoint
CREATE INDEX "dns_found_records_rrset" ON "dns_found_records" USING btree ("target_id","name","type");--> statement-breakpoint
CREATE INDEX "dns_plans_zone" ON "dns_plans" USING btree ("zone_id","id");--> statement-breakpoint
CREATE INDEX "dns_plans_expires" ON "dns_plans" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "dns_target_rrsets_zone" ON "dns_target_rrsets" USING btree ("zone_id","name","type");--> statement-breakpoint
CREATE INDEX "dns_target_rrsets_state" ON "dns_target_rrsets" USING btree ("target_id","state","name","type");--> statement-breakpoint
CREATE UNIQUE INDEX "dns_zone_targets_provider" ON "dns_zone_targets" USING btree ("zone_id","provider_id");--> statement-breakpoint
CREATE INDEX "dns_zone_targets_poll" ON "dns_zone_targets" USING btree ("next_poll_at");--> statement-breakpoint
CREATE INDEX "dns_zone_targets_of_provider" ON "dns_zone_targets" USING btree ("provider_id");--> statement-breakpoint
CREATE INDEX "dns_template_bindings_workspace" ON "dns_template_bindings" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "dns_template_bindings_template" ON "dns_template_bindings" USING btree ("workspace_id","template_id","id");--> statement-breakpoint
CREATE INDEX "dns_template_bindings_zone" ON "dns_template_bindings" USING btree ("zone_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "dns_template_bindings_linked" ON "dns_template_bindings" USING btree ("template_id","zone_id","host") WHERE "dns_template_bindings"."mode" = 'linked';--> statement-breakpoint
CREATE INDEX "dns_template_rrsets_name" ON "dns_template_rrsets" USING btree ("zone_id","name");--> statement-breakpoint
CREATE INDEX "dns_templates_workspace" ON "dns_templates" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "dns_secondaries_workspace" ON "dns_secondaries" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "dns_serving_catalog" ON "dns_serving" USING btree ("catalog_name");--> statement-breakpoint
CREATE INDEX "dns_transfers_at" ON "dns_transfers" USING btree ("transferred_at");--> statement-breakpoint
CREATE UNIQUE INDEX "dns_tsig_keys_name" ON "dns_tsig_keys" USING btree ("name");--> statement-breakpoint
CREATE INDEX "dns_tsig_keys_workspace" ON "dns_tsig_keys" USING btree ("workspace_id","id");