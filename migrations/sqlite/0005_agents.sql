CREATE TABLE `agent_commands` (
	`id` text PRIMARY KEY NOT NULL,
	`agent_id` text NOT NULL,
	`action_id` text,
	`name` text NOT NULL,
	`payload` text NOT NULL,
	`signature` text NOT NULL,
	`send_at` integer,
	`expires_at` integer NOT NULL,
	`sent_at` integer,
	`sends` integer NOT NULL,
	`finished_at` integer,
	`outcome` text,
	`detail` text,
	`output` text,
	FOREIGN KEY (`agent_id`) REFERENCES `agents`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agent_commands_action` ON `agent_commands` (`action_id`) WHERE action_id is not null;--> statement-breakpoint
CREATE INDEX `agent_commands_open` ON `agent_commands` (`agent_id`) WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX `agent_commands_due` ON `agent_commands` (`send_at`) WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX `agent_commands_expiry` ON `agent_commands` (`expires_at`);