import { lt } from 'drizzle-orm'
import type { Hub } from '../../core/hub'
import { pruneRows } from '../../core/rows'
import { certificatePresences } from './tables'
import { endedForMs } from './view'

/** Deletes places where certificates are no longer. */
export const pruneCertificates = (hub: Hub): Promise<void> =>
  pruneRows(
    hub,
    certificatePresences,
    lt(certificatePresences.endedAt, hub.clock.now() - endedForMs),
    certificatePresences.endedAt,
  )
