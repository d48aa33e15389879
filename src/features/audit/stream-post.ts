import { storedPolicy } from '../../access/network-policy'
import { sha256Hex } from '../../core/crypto'
import type { Hub } from '../../core/hub'
import { postSigned, type Posted } from '../../core/outgoing/signed-post'
import { streamEvent } from './stream-batch'
import type { StreamRow } from './stream-view'
import { auditStreams } from './tables'

export const streamTimeoutSeconds = 15

/**
 * Posts a message of a stream once, signed like a webhook.
 * @throws DecryptionFailed if the secret can't be decrypted
 */
export async function postBatch(
  hub: Hub,
  stream: StreamRow,
  body: string,
  { attempt, test: isTest = false }: { attempt: number; test?: boolean },
): Promise<Posted> {
  const { url, id: streamId, workspaceId } = stream
  const startedAt = hub.clock.now()
  // The same body has the same ID, so that receivers can detect duplicates.
  const id = `msg_${sha256Hex(`${isTest ? startedAt : ''}${streamId}${body}`).slice(0, 26)}`
  return await postSigned(hub, {
    url,
    message: { id, event: streamEvent, attempt, workspaceId, resource: { type: 'audit_stream', id: streamId }, isTest },
    body,
    table: auditStreams,
    row: stream,
    startedAt,
    timeoutSeconds: streamTimeoutSeconds,
    policy: await storedPolicy(hub.read, workspaceId),
  })
}
