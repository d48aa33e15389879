import type { JobDraft } from '../../../core/jobs/draft'
import type { TlsEndpointRow } from '../view'
import type { scanTriggers } from './shapes'

export const scanKind = 'tls.scan'

export type ScanPayload = { tls_endpoint_id: string; trigger: (typeof scanTriggers)[number] }

/** The job that scans an endpoint. Scans of one host share a lane. */
export const scanJobFor = ({ id, host }: Pick<TlsEndpointRow, 'id' | 'host'>, trigger: ScanPayload['trigger']): JobDraft => ({
  kind: scanKind,
  payload: { tls_endpoint_id: id, trigger } satisfies ScanPayload,
  lane: host,
  uniqueKey: id,
  replaces: true,
})
