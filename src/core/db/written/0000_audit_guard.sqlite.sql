-- The audit log is append-only. A migration that rebuilds one of these tables must create its triggers again: SQLite drops them
-- with the table.
CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
BEGIN
	SELECT RAISE(ABORT, 'audit entries can''t be changed');
END;
--> statement-breakpoint
CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
WHEN old.seq > coalesce((SELECT max(seq) FROM audit_checkpoints WHERE chain = old.workspace_id AND kind = 'boundary'), 0)
BEGIN
	SELECT RAISE(ABORT, 'audit entries can only be deleted below the boundary of their chain');
END;
--> statement-breakpoint
CREATE TRIGGER audit_checkpoints_no_update BEFORE UPDATE ON audit_checkpoints
BEGIN
	SELECT RAISE(ABORT, 'audit checkpoints can''t be changed');
END;
--> statement-breakpoint
CREATE TRIGGER audit_checkpoints_no_delete BEFORE DELETE ON audit_checkpoints
BEGIN
	SELECT RAISE(ABORT, 'audit checkpoints can''t be deleted');
END;
