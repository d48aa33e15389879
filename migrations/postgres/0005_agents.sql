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
ALTER TABLE "agent_commands" ADD CONSTRAINT "agent_commands_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "agent_commands_action" ON "agent_commands" USING btree ("action_id") WHERE action_id is not null;--> statement-breakpoint
CREATE INDEX "agent_commands_open" ON "agent_commands" USING btree ("agent_id") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "agent_commands_due" ON "agent_commands" USING btree ("send_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "agent_commands_expiry" ON "agent_commands" USING btree ("expires_at");