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
ALTER TABLE "ssh_keys" ADD CONSTRAINT "ssh_keys_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "ssh_keys_name" ON "ssh_keys" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "ssh_keys_fingerprint" ON "ssh_keys" USING btree ("workspace_id","fingerprint");