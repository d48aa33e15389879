-- Certificates that are already known are checked for revocation like new ones (newRow in features/certificates/record.ts).
update certificates set crl_url = json_extract(contents, '$.crl_urls[0]'), crl_due_at = 0 where json_extract(contents, '$.crl_urls[0]') is not null;
--> statement-breakpoint
-- The notice agents.unheard was renamed to agents.disconnected. The key identifies the issue, so that it continues with the same notice.
update notices set kind = 'agents.disconnected', dedup_key = replace(dedup_key, 'agents.unheard', 'agents.disconnected') where kind = 'agents.unheard';
--> statement-breakpoint
update notification_channels set topics = replace(topics, '"agents.unheard"', '"agents.disconnected"') where topics like '%"agents.unheard"%';
--> statement-breakpoint
update notifications set kind = 'agents.disconnected', dedup_key = replace(dedup_key, 'agents.unheard', 'agents.disconnected'),
  message = replace(message, '"kind":"agents.unheard"', '"kind":"agents.disconnected"')
  where kind = 'agents.unheard';
