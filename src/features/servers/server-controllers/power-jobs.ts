import type { JobDraft } from '../../../core/jobs/draft'

export const powerKind = 'cloud.read-power'

/** The job that reads the power of a server. @param at ms UTC */
export const powerJobFor = (controllerId: string, at: number): JobDraft => ({
  kind: powerKind,
  payload: { server_controller_id: controllerId },
  runAt: at,
  uniqueKey: controllerId,
  replaces: true,
  earliest: true,
})
