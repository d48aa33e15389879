import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { invalid } from '../../core/problem'
import type { Place } from '../../core/secrets'
import type { webhookEndpoints } from './tables'

type Endpoint = typeof webhookEndpoints.$inferSelect
/** The part of an endpoint that its secrets are in. */
export type SecretRow = Pick<
  Endpoint,
  'id' | 'workspaceId' | 'secretSealed' | 'secretHint' | 'nextSecretSealed' | 'nextSecretHint' | 'rotatesAt'
>

/** Where one of the sealed values of an endpoint lives, or of what is signed for alike. */
export const sealedIn = (
  endpoint: Pick<Endpoint, 'id' | 'workspaceId'>,
  column: 'secret_sealed' | 'next_secret_sealed' | 'headers_sealed',
  table: 'webhook_endpoints' | 'audit_streams' = 'webhook_endpoints',
): Place => ({ table, column, row: endpoint.id, workspaceId: endpoint.workspaceId })

/** A secret as it is shown: by its last four characters. */
export const hintOf = (secret: string): string => `whsec_…${secret.slice(-4)}`

/**
 * Whether two secrets are live at `now` (ms UTC). An overlap ends at its time to the millisecond, also while the job that drops the
 * old secret has not run yet.
 */
export const overlaps = (endpoint: Pick<Endpoint, 'rotatesAt'>, now: number): boolean =>
  endpoint.rotatesAt !== null && now < endpoint.rotatesAt

/**
 * What an endpoint's messages are signed with at `now` (ms UTC): during an overlap the old secret and the next, else the one that
 * is left.
 * @throws NotOpened
 */
export async function liveSecrets(
  hub: Hub,
  endpoint: SecretRow,
  now: number,
  table?: Parameters<typeof sealedIn>[2],
  read?: Reader,
): Promise<{ secret: string; nextSecret: string | null }> {
  const { nextSecretSealed } = endpoint
  const open = (column: 'secret_sealed' | 'next_secret_sealed', sealed: string) =>
    hub.keys.open(sealedIn(endpoint, column, table), sealed, read)
  const next = nextSecretSealed === null ? null : await open('next_secret_sealed', nextSecretSealed)
  if (next !== null && !overlaps(endpoint, now)) return { secret: next, nextSecret: null }
  return { secret: await open('secret_sealed', endpoint.secretSealed), nextSecret: next }
}

/**
 * Refuses to rotate to a secret that signs already: whoever rotates wants what leaked to end.
 * @param given the caller's own secret; undefined for one that is made now
 * @throws Problem 422 at `#/secret`
 */
export async function refuseLive(
  read: Reader,
  hub: Hub,
  endpoint: SecretRow,
  given: string | undefined,
  now: number,
  table?: Parameters<typeof sealedIn>[2],
): Promise<void> {
  if (given === undefined) return
  const { secret, nextSecret } = await liveSecrets(hub, endpoint, now, table, read)
  if (given === secret || given === nextSecret)
    throw invalid([{ pointer: '#/secret', code: 'not_changed', detail: 'must be another secret than the one in use.' }])
}
