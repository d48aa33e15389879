import { eq } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { sha256Hex } from '../../core/crypto'
import type { Hub } from '../../core/hub'
import { version } from '../../core/version'
import { liveSecrets } from '../webhooks/live-secrets'
import { postSigned, type Posted } from '../webhooks/signed-post'
import { streamEvent } from './stream-batch'
import type { StreamRow } from './stream-view'

export const streamTimeoutSeconds = 15

/**
 * Posts a message of a stream once, signed like those of webhooks.
 * @throws NotOpened when the secret does not open
 */
export async function postBatch(
  hub: Hub,
  stream: StreamRow,
  body: string,
  how: { attempt: number; test?: boolean },
): Promise<Posted> {
  const now = hub.clock.now()
  const timestampSeconds = Math.floor(now / 1_000)
  const [workspace] = await hub.read
    .select({ policy: workspaces.networkPolicy })
    .from(workspaces)
    .where(eq(workspaces.id, stream.workspaceId))
  // The same bytes have the same id: a receiver sees that it has a message already.
  const id = `msg_${sha256Hex(`${how.test ? now : ''}${stream.id}${body}`).slice(0, 26)}`
  return await postSigned(hub, {
    url: stream.url,
    body: new TextEncoder().encode(body),
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'User-Agent': `Bailiwick-Webhooks/${version}`,
      'X-Service-Event': streamEvent,
      'X-Service-Timestamp': String(timestampSeconds),
      'X-Service-Attempt': String(how.attempt),
      'X-Service-Workspace': stream.workspaceId,
      'X-Service-Resource': `audit_stream/${stream.id}`,
      ...(how.test && { 'X-Service-Test': '1' }),
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
    },
    id,
    timestampSeconds,
    ...(await liveSecrets(hub, stream, now, 'audit_streams')),
    timeoutSeconds: streamTimeoutSeconds,
    policy: workspace!.policy,
  })
}
