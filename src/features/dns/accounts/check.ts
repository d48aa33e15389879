import { and, eq } from 'drizzle-orm'
import { suspendedPauseMs } from '../../../access/suspension'
import { workspaces } from '../../../access/tables'
import { change, jobContext, systemActor, type Recorded } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { locking } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import type { NoticeDraft } from '../../../core/notices'
import { conflict } from '../../../core/problem'
import { NotOpened } from '../../../core/secrets'
import { checkedSettings } from '../../../core/sealed-settings'
import { openProvider, openWith } from './open'
import { providerOf, refuseBuiltin } from './accounts'
import { refuseAskedTooOften } from '../../../access/asked-too-often'
import { checkJobFor, checkKind } from './check-job'
import type { DnsProviderCheckInput, DnsProviderChecked, DnsProviderView } from './shapes'
import { dnsProviders } from './tables'
import { providerTarget, providerView, type ProviderRow } from './view'
import { providerKindOf } from '../providers'
import { ProviderError, type DnsProvider, type ProviderCheck, type ProviderFailure } from '../providers/provider'
import { toldLine } from '../../../core/told-line'
import { wakeTargets } from '../sync/wake-targets'

/** What is well is looked at this often. */
const checkEveryMs = 10 * 60_000
// What is not well is looked at sooner at first, and ever more seldom: it must not be hammered while it is down.
const afterFailureMs = [1, 2, 5, 10, 20, 40, 60].map(minutes => minutes * 60_000)

/** Looks whether a provider is well, now and from then on. */
export const checkProviderJob: JobKind<{ provider_id: string }> = {
  kind: checkKind,
  concurrency: 8,
  leaseMs: 5 * 60_000,
  retryAfter: attempts => Math.min(attempts, 10) * 60_000,
  async run(hub, job) {
    const [found] = await hub.read
      .select({ provider: dnsProviders, suspendedAt: workspaces.suspendedAt })
      .from(dnsProviders)
      .innerJoin(workspaces, eq(workspaces.id, dnsProviders.workspaceId))
      .where(eq(dnsProviders.id, job.payload.provider_id))
    if (!found) return undefined
    const { provider } = found
    if (found.suspendedAt !== null)
      return async () => ({ result: undefined, jobs: [checkJobFor(provider.id, hub.clock.now() + suspendedPauseMs)] })
    const looked = await look(() => openProvider(hub, provider))
    return tx => settled(tx, hub, provider, looked)
  },
}

/**
 * Asks a provider now whether it can be reached, and answers with what came of it: that it cannot is no error of this call.
 * Five a minute and provider.
 * @throws Problem 404, 409, 429
 */
export async function checkProvider(ctx: Ctx, id: string): Promise<DnsProviderView> {
  refuseBuiltin(id)
  const { hub } = ctx
  const before = await providerOf(hub.read, ctx, id)
  refuseAskedTooOften(ctx, 'provider-checks', id, 5)
  const looked = await look(() => openProvider(hub, before))
  return await change(ctx, 'dns.provider.check', async tx => {
    const written = await write(tx, hub, before, looked)
    if (!written) throw conflict('The provider was edited while it was checked. Check it again.')
    const { row, nextAt } = written
    return {
      result: providerView(row),
      target: providerTarget(row),
      before: { state: before.state, last_error: before.lastError },
      after: { state: row.state, last_error: row.lastError },
      reason: row.lastError === null ? row.detail : `${row.lastError.failure}: ${row.lastError.detail}`,
      jobs: [checkJobFor(id, nextAt), ...(row.state === 'ok' ? await wakeTargets(tx, id) : [])],
      notices: fell(before, row) ? [failingNotice(row)] : [],
    }
  })
}

/**
 * Asks a provider that is not made yet whether it can be reached with these settings; they are kept nowhere. Ten a minute and workspace.
 * @throws Problem 422, 429
 */
export async function tryProvider(ctx: Ctx, input: DnsProviderCheckInput): Promise<DnsProviderChecked> {
  const kind = providerKindOf(input.kind)!
  const settings = checkedSettings(kind, input.settings)
  refuseAskedTooOften(ctx, 'provider-tries', ctx.workspaceId, 10)
  const looked = await look(() => openWith(ctx.hub, kind, settings, { workspaceId: ctx.workspaceId, id: 'untold' }))
  const result: DnsProviderChecked =
    looked.failure === undefined
      ? { state: 'ok', ...looked.found, error: null }
      : { state: 'failing', detail: null, warnings: [], error: { failure: looked.failure, detail: looked.detail } }
  return await change(ctx, 'dns.provider.try', async () => ({ result, target: [], unchanged: true }))
}

type Looked =
  { found: ProviderCheck; failure?: undefined } | { failure: ProviderFailure; detail: string; retryAfterMs: number | null }

async function look(open: () => Promise<DnsProvider>): Promise<Looked> {
  try {
    const provider = await open()
    const { detail, warnings } = await provider.check()
    return { found: { detail: toldLine(detail), warnings: warnings.map(one => toldLine(one)) } }
  } catch (error) {
    if (error instanceof ProviderError) return { failure: error.failure, detail: error.message, retryAfterMs: error.retryAfterMs }
    if (error instanceof NotOpened)
      return { failure: 'unauthorized', detail: 'Its secrets cannot be opened with the keys that are here.', retryAfterMs: null }
    throw error
  }
}

/** What a check by itself found; told to the log where it is another thing than before. */
async function settled(tx: Tx, hub: Hub, before: ProviderRow, looked: Looked): Promise<Recorded<undefined>> {
  const written = await write(tx, hub, before, looked)
  // It was edited meanwhile, perhaps in its name alone, which asks for no check; or it is gone, and so is the next check.
  if (!written) return { result: undefined, jobs: [checkJobFor(before.id, hub.clock.now())] }
  const { row, nextAt } = written
  const isBack = row.state === 'ok' && before.state !== 'ok'
  const jobs = [checkJobFor(row.id, nextAt), ...(isBack ? await wakeTargets(tx, row.id) : [])]
  const rose = row.state === 'ok' && before.state === 'failing'
  if (!fell(before, row) && !rose) return { result: undefined, jobs }
  return {
    result: undefined,
    jobs,
    notices: rose ? [] : [failingNotice(row)],
    audits: [
      {
        workspaceId: row.workspaceId,
        action: rose ? 'dns.provider.recover' : 'dns.provider.fail',
        actor: systemActor(checkKind),
        context: jobContext,
        targets: [providerTarget(row)],
        before: { state: before.state, last_error: before.lastError },
        after: { state: row.state, last_error: row.lastError },
      },
    ],
  }
}

const fell = (before: ProviderRow, row: ProviderRow): boolean => row.state === 'failing' && before.state !== 'failing'

const failingNotice = (row: ProviderRow): NoticeDraft => ({
  workspaceId: row.workspaceId,
  kind: 'dns_provider.failing',
  resource: providerTarget(row),
  text: `The provider ${row.name} cannot be used: ${row.lastError!.detail}`,
  details: { provider_id: row.id, failure: row.lastError!.failure },
  matter: row.id,
})

/** Writes down what a check found; null where the provider is gone or another one by now. */
async function write(
  tx: Tx,
  hub: Hub,
  before: ProviderRow,
  looked: Looked,
): Promise<{ row: ProviderRow; nextAt: number } | null> {
  const [held] = await locking(
    tx
      .select()
      .from(dnsProviders)
      .where(and(eq(dnsProviders.id, before.id), eq(dnsProviders.version, before.version))),
  )
  if (!held) return null
  const now = hub.clock.now()
  const failures = looked.failure === undefined ? 0 : held.failuresInARow + 1
  const [row] = await tx
    .update(dnsProviders)
    .set({
      lastCheckedAt: now,
      failuresInARow: failures,
      ...(looked.failure === undefined
        ? {
            state: 'ok' as const,
            detail: looked.found.detail,
            warnings: looked.found.warnings,
            lastOkAt: now,
            lastError: null,
          }
        : { state: 'failing' as const, lastError: { failure: looked.failure, detail: looked.detail } }),
    })
    .where(eq(dnsProviders.id, before.id))
    .returning()
  const pauseMs = failures === 0 ? checkEveryMs : afterFailureMs[Math.min(failures, afterFailureMs.length) - 1]!
  const askedMs = looked.failure === undefined ? 0 : (looked.retryAfterMs ?? 0)
  return { row: row!, nextAt: now + Math.max(pauseMs, askedMs) }
}
