import { refuseTooManyRequests } from '../../../access/limiter'
import { ScanInterrupted } from '../../../checks/engine/pending-scans'
import { change } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { validMembers } from '../endpoints'
import { reportView } from './scans'
import { reportOf, type StoredReport } from '../grades/report'
import { ScanPostponed, scanHost } from './scan-host'
import type { TlsGradeInput, TlsGradeView } from '../grades/shapes'

const maxPerMinute = 10

/** Scans and grades a server, and keeps nothing. @throws Problem 422, 429 */
export async function gradeNow(ctx: Ctx, input: TlsGradeInput): Promise<TlsGradeView> {
  const { host, port, protocol, servername } = await validMembers(ctx, input)
  refuseTooManyRequests(ctx, 'tls-grades', ctx.workspaceId, maxPerMinute)
  const startedAt = ctx.hub.clock.now()
  const target = { host, port, protocol, servername }
  const scan = scanHost(ctx.hub, ctx.workspaceId, target, { mayDownloadCrls: true })
  const { durationMs, report } = await scan.catch(interrupted)
  const result: TlsGradeView = {
    ...{ host, port, protocol, servername },
    ...reportView(report, protocol),
    scanned_at: instant(startedAt),
    duration_ms: durationMs,
  }
  return await change(ctx, 'certificates.tls_grade', async () => ({ result, target: [], unchanged: true }))
}

function interrupted(error: unknown): { durationMs: number; report: StoredReport } {
  if (!(error instanceof ScanInterrupted || error instanceof ScanPostponed)) throw error
  return { durationMs: 0, report: reportOf([{ address: '', error: `${error.message} Try again.` }]) }
}
