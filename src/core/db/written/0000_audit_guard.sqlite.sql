-- The audit log is written once. Whoever rebuilds one of these tables makes its triggers again: SQLite drops them with the table.
CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
BEGIN
	SELECT RAISE(ABORT, 'audit entries are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
WHEN old.seq > coalesce((SELECT max(seq) FROM audit_checkpoints WHERE chain = old.workspace_id AND kind = 'boundary'), 0)
BEGIN
	SELECT RAISE(ABORT, 'audit entries are deleted below the boundary of their chain only');
END;
--> statement-breakpoint
CREATE TRIGGER audit_checkpoints_no_update BEFORE UPDATE ON audit_checkpoints
BEGIN
	SELECT RAISE(ABORT, 'audit checkpoints are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER audit_checkpoints_no_delete BEFORE DELETE ON audit_checkpoints
BEGIN
	SELECT RAISE(ABORT, 'audit checkpoints are never deleted');
END;
