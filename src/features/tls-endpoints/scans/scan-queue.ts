import type { JobDraft } from '../../../core/jobs/draft'
import type { TlsEndpointRow } from '../view'
import type { scanTriggers } from './shapes'

export const scanKind = 'tls.scan'

export type ScanPayload = { tls_endpoint_id: string; trigger: (typeof scanTriggers)[number] }

/** The job that scans an endpoint. Scans of one host share a lane, and those of a workspace a group of lanes. */
export const scanJobFor = (
  { id, workspaceId, host }: Pick<TlsEndpointRow, 'id' | 'workspaceId' | 'host'>,
  trigger: ScanPayload['trigger'],
): JobDraft => ({
  kind: scanKind,
  payload: { tls_endpoint_id: id, trigger } satisfies ScanPayload,
  lane: `${workspaceId}/${host}`,
  uniqueKey: id,
  replaces: true,
})
