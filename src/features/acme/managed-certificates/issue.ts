import { and, eq, isNotNull } from 'drizzle-orm'
import { AdapterError } from '../../../adapters/failure'
import { jobContext } from '../../../core/change'
import type { Consequences } from '../../../core/change-result'
import { inSavepoint } from '../../../core/db/savepoint'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { sealedIn } from '../../../core/outgoing/signing-secrets'
import { Problem } from '../../../core/problem'
import { targetOf } from '../../../core/rows'
import { DecryptionFailed } from '../../../core/secrets'
import { certificateRequest } from '../../../core/x509/certificate-request'
import { createPrivateKey, type KeyType } from '../../../core/x509/private-key'
import type { ActionKind } from '../../actions/kind'
import { challengeLifetimeMs, publishChallenges, type ChallengeValue } from '../../dns/challenges/challenges'
import { missingChallenge } from '../../dns/challenges/visible'
import { acmeProblem, withAccount } from '../accounts/accounts'
import { acmeAccounts } from '../accounts/tables'
import type { AcmeError } from '../client/acme-error'
import type { AcmeOrder } from '../client/orders'
import { readDirectory, withAcme, type AcmeSession } from '../client/session'
import { parseCsr } from './csr'
import { agentMs, awaitAgent, deliver, requestFromAgent } from './delivery'
import { changerOf, failIssuing, lockManaged, storeIssued, withdraw } from './finish'
import { checkIssued } from './issued'
import { baseName } from './names'
import {
  firstState,
  next,
  type IssueCommit as Commit,
  type IssueInput,
  type IssueState,
  type IssueWork,
  type Scene,
} from './order-state'
import { placesOf, refuseByCaa } from './prerequisites'
import { managedRows, managedView } from './rows'
import { issuing } from './start'
import { acmeChallenges, managedCertificates, type ManagedCertificateRow } from './tables'

/** How long to wait until all name servers respond with the records. */
const visibleMs = 300_000
const lookAgainMs = 5_000
/** How long to wait for the authority, in each step. */
const authorityMs = 600_000
const defaultPollMs = 2_000
const maxPollMs = 60_000
/** A chunk is repeated this often if the authority can’t be reached. */
const maxTries = 5
const passing = new Set(['unreachable', 'timeout', 'incomplete', 'throttled'])
/** From the certificate request on, the order is continued as long, because its certificate may have been issued. */
const finalizeMs = 6 * 3_600_000
const maxRetryMs = 300_000

/**
 * Issues a certificate (RFC 8555 section 7.4). Each chunk makes calls to the authority for one step, and its result is stored before
 * the next call, so that the same order continues after a crash.
 */
export const issueAction: ActionKind<IssueInput, IssueState> = {
  ...issuing,
  steps: [...issuing.steps],
  failureNotice: ({ workspaceId, resourceId }, problem) => ({
    workspaceId,
    kind: 'certificate.issue_failed',
    resource: { type: 'managed_certificate', id: resourceId, name: null },
    text: `A certificate could not be issued or installed. ${problem.detail}`,
    details: { managed_certificate_id: resourceId, code: problem.code },
    dedupKey: resourceId,
  }),
  async run(hub, work) {
    const id = work.resources[0]!.id
    const [row] = await hub.read.select().from(managedCertificates).where(eq(managedCertificates.id, id))
    if (!row) return async () => ({ result: { failed: new Problem('not_found', 'The managed certificate was deleted.') } })
    const state = work.state ?? beginning(work, hub.clock.now())
    try {
      const accountId = state.accountId ?? row.acmeAccountId
      const [account] = await hub.read.select().from(acmeAccounts).where(eq(acmeAccounts.id, accountId))
      if (!account) throw new Problem('conflict', 'The ACME account was deleted while it issued the certificate.')
      const scene = { hub, work, row, account, state }
      return await steps[state.step](scene)
    } catch (error) {
      return onError(hub, work, id, state, error)
    }
  },
}

/** Where the action begins. */
const beginning = ({ input }: IssueWork, now: number): IssueState =>
  input.is_delivery ? { ...firstState, step: 'deliver', deadline: now + agentMs } : firstState

/** Whether the authority may have received the certificate request. */
const isLate = ({ step }: IssueState): boolean => step === 'finalize' || step === 'store'

/** Whether the same request can succeed later. An unreadable response can be the error page of a proxy. */
const mayPass = ({ failure, ambiguous }: AdapterError<string>): boolean =>
  passing.has(failure) || (failure === 'invalid_response' && ambiguous !== false)

/** Repeats the chunk after a passing failure; other failures end the action. */
function onError(hub: Hub, work: IssueWork, id: string, state: IssueState, error: unknown): Commit {
  const now = hub.clock.now()
  const by = changerOf(hub, work.workspaceId, work.actor)
  if (error instanceof AdapterError) {
    const { failure, retryAfterMs, message } = error as AdapterError<string>
    if (passing.has(failure) && state.tries < maxTries && (retryAfterMs ?? 0) <= maxPollMs) {
      const at = now + Math.max(retryAfterMs ?? 0, lookAgainMs * 2 ** state.tries)
      return async () => ({ result: { state: { ...state, tries: state.tries + 1 }, at, detail: message } })
    }
    const lateAt = now + Math.max(retryAfterMs ?? 0, Math.min(lookAgainMs * 2 ** state.tries, maxRetryMs))
    if (isLate(state) && mayPass(error) && lateAt < state.deadline)
      return async () => ({ result: { state: { ...state, tries: state.tries + 1 }, at: lateAt, detail: message } })
    return tx => failIssuing(tx, by, id, { problem: acmeProblem(error), retryAfterMs })
  }
  const problem =
    error instanceof Problem
      ? error
      : error instanceof DecryptionFailed
        ? new Problem('conflict', 'The key of the ACME account can’t be decrypted with the available keys.')
        : null
  if (!problem) throw error
  return tx => failIssuing(tx, by, id, { problem, retryAfterMs: null })
}

const session = <T>({ hub, account }: Scene, run: (session: AcmeSession) => Promise<T>): Promise<T> =>
  withAccount(hub, account, (context, access) => withAcme(context, access, run))

/** Checks zones and CAA records. */
async function check(scene: Scene): Promise<Commit> {
  const { hub, row, account, work, state } = scene
  await work.report({ step: 'check', progress: 0 })
  const waiting = await awaitAgent(scene)
  if (waiting) return waiting
  await placesOf(hub.read, row.workspaceId, row.names)
  await withAccount(hub, account, async (context, access) => {
    const { caaIdentities } = await readDirectory(context, access)
    const issuer = { identities: caaIdentities, accountUrl: access.accountUrl! }
    await refuseByCaa(hub.read, row.workspaceId, row.names, issuer)
  })
  return async () => ({ result: next(state, { step: 'order', accountId: account.id }, { step: 'order', progress: 10 }) })
}

/** The error of authorities that issued a replacement for the certificate already (RFC 9773 section 5). */
const alreadyReplaced = (error: unknown): boolean =>
  error instanceof AdapterError && ['alreadyReplaced', 'malformed'].includes((error as Partial<AcmeError>).type ?? '')

async function order(scene: Scene): Promise<Commit> {
  const { hub, row, account, state, work } = scene
  const hasRenewalInfo = await withAccount(
    hub,
    account,
    async (context, access) => (await readDirectory(context, access)).renewalInfoUrl !== null,
  )
  const isSuccessor = row.ari !== null && row.revokedAt === null && row.issuedByAccountId === account.id
  const replaces = hasRenewalInfo && isSuccessor ? row.ariId : null
  const { profile } = row
  const create = (one: AcmeSession) =>
    one.createOrder(row.names, { profile, replaces }).catch(error => {
      if (replaces === null || !alreadyReplaced(error)) throw error
      return one.createOrder(row.names, { profile, replaces: null })
    })
  // An earlier attempt may have created one, without a response.
  const mayExist = work.isRepeated || state.tries > 0 || row.attempts > 0
  const created = await session(scene, async one => {
    const found = mayExist ? await one.findOrder(row, await knownOrders(hub, row.workspaceId)) : null
    return found ?? (await create(one))
  })
  return async tx => {
    await tx.update(managedCertificates).set({ orderUrl: created.url }).where(eq(managedCertificates.id, row.id))
    return { result: next(state, { step: 'publish', orderUrl: created.url }, { step: 'publish', progress: 20 }) }
  }
}

/** URLs of the latest orders of all managed certificates. The account of one may have been changed since. */
async function knownOrders({ read }: Hub, workspaceId: string): Promise<Set<string>> {
  const { orderUrl } = managedCertificates
  const own = and(eq(managedCertificates.workspaceId, workspaceId), isNotNull(orderUrl))
  const rows = await read.select({ orderUrl }).from(managedCertificates).where(own)
  return new Set(rows.flatMap(one => one.orderUrl ?? []))
}

/** The error of an order or an authorization that the authority rejected. */
const rejected = (detail: string): Problem => new Problem('provider_failed', detail, { fields: { failure: 'refused' } })

async function readOrder(one: AcmeSession, { orderUrl }: IssueState): Promise<AcmeOrder> {
  const found = await one.order(orderUrl!)
  if (found.status !== 'invalid') return found
  const authorizations = await one.authorizations(found)
  const details = authorizations.flatMap(({ name, error }) => (error ? [`${name}: ${error.detail}`] : []))
  throw rejected(
    `The certificate authority rejected the order. ${[found.error?.detail, ...details].filter(Boolean).slice(0, 5).join('; ')}`,
  )
}

/** Publishes the TXT records of all names that the authority has not validated recently. */
async function publish(scene: Scene): Promise<Commit> {
  const { hub, row, work, state } = scene
  const places = await placesOf(hub.read, row.workspaceId, row.names)
  const { found, pending } = await session(scene, async one => {
    const found = await readOrder(one, state)
    const authorizations = found.status === 'pending' ? await one.authorizations(found) : []
    return { found, pending: authorizations.filter(({ status }) => status === 'pending') }
  })
  if (found.status !== 'pending') return afterValidation(scene, found)
  const now = hub.clock.now()
  const values = pending.map(({ name, challenge }): ChallengeValue => {
    const place = places.get(baseName(name))
    if (!place) throw rejected(`The certificate authority asked to validate the name ${name}, which was not ordered.`)
    if (!challenge) throw rejected(`The certificate authority offers no DNS-01 challenge for ${name}.`)
    return { ...place, value: challenge.value }
  })
  return async tx => {
    const by = changerOf(hub, row.workspaceId, work.actor)
    let consequences: Consequences
    try {
      consequences = await inSavepoint(tx, () => publishChallenges(tx, by, values))
    } catch (error) {
      // Such as locked records.
      if (!(error instanceof Problem)) throw error
      const detail = `The TXT records can’t be published. ${error.extras.errors?.[0]?.detail ?? error.detail}`
      return await failIssuing(tx, by, row.id, { problem: new Problem(error.code, detail), retryAfterMs: null })
    }
    const expiresAt = now + challengeLifetimeMs
    for (const one of values)
      await tx.insert(acmeChallenges).values({
        id: newId('chal'),
        ...{ workspaceId: row.workspaceId, managedCertificateId: row.id, expiresAt },
        ...{ zoneId: one.zoneId, zoneName: one.zoneName, name: one.name, value: one.value },
      })
    const waiting = { step: 'wait', values, deadline: now + visibleMs } as const
    return { ...consequences, result: next(state, waiting, { step: 'wait', progress: 30 }) }
  }
}

async function wait({ hub, row, state }: Scene): Promise<Commit> {
  const missing = await missingChallenge(hub, row.workspaceId, state.values)
  const now = hub.clock.now()
  if (missing === null) {
    const validating = { step: 'validate', isAsked: false, deadline: now + authorityMs } as const
    return async () => ({ result: next(state, validating, { step: 'validate', progress: 50 }) })
  }
  if (now >= state.deadline) throw new Problem('provider_failed', missing, { fields: { failure: 'timeout' } })
  return async () => ({ result: next(state, {}, { at: now + lookAgainMs, detail: missing }) })
}

const pollAt = (now: number, retryAfterMs: number | null): number =>
  now + Math.min(Math.max(retryAfterMs ?? defaultPollMs, 1000), maxPollMs)

/** @throws Problem if the authority took too long */
function refuseLate({ hub, state }: Scene, what: string): void {
  if (hub.clock.now() >= state.deadline)
    throw new Problem('provider_failed', `The certificate authority did not ${what} in time.`, { fields: { failure: 'timeout' } })
}

async function validate(scene: Scene): Promise<Commit> {
  const { hub, state } = scene
  const { found, retryAfterMs } = await session(scene, async one => {
    const found = await readOrder(one, state)
    const retryAfterMs = one.retryAfterMs()
    if (found.status === 'pending' && !state.isAsked)
      for (const { status, challenge } of await one.authorizations(found))
        if (status === 'pending' && challenge?.status === 'pending') await one.completeChallenge(challenge.url)
    return { found, retryAfterMs }
  })
  if (found.status !== 'pending') return afterValidation(scene, found)
  refuseLate(scene, 'validate the names')
  const at = pollAt(hub.clock.now(), state.isAsked ? retryAfterMs : 1000)
  return async () => ({ result: next(state, { isAsked: true }, { at }) })
}

function afterValidation({ hub, row, state }: Scene, { status }: AcmeOrder): Commit {
  const step = status === 'ready' ? 'key' : 'finalize'
  const deadline = hub.clock.now() + (step === 'key' && row.keyMode === 'agent' ? agentMs : finalizeMs)
  if (step === 'finalize' && state.csr === null)
    throw rejected('The certificate authority finished an order that was not completed here.')
  return async () => ({ result: next(state, { step, deadline }, { step: 'finalize', progress: 70 }) })
}

/** Stores the key and the certificate request before it is sent. */
async function key(scene: Scene): Promise<Commit> {
  const { hub, row, state } = scene
  const finalizing = { step: 'finalize', deadline: hub.clock.now() + finalizeMs, commandId: null } as const
  if (row.keyMode === 'agent')
    return await requestFromAgent(scene, csr => async () => ({ result: next(state, { ...finalizing, csr }, { progress: 75 }) }))
  const privateKey = row.keyMode === 'hub' ? await createPrivateKey(row.keyType as KeyType) : null
  const csr = privateKey === null ? row.csr! : certificateRequest(row.names, privateKey)
  return async tx => {
    const sealed = privateKey && (await hub.keys.seal(tx, sealedIn(managedCertificates, row, 'next_key_sealed'), privateKey))
    await tx.update(managedCertificates).set({ nextKeySealed: sealed }).where(eq(managedCertificates.id, row.id))
    return { result: next(state, { ...finalizing, csr }, { progress: 75 }) }
  }
}

async function finalize(scene: Scene): Promise<Commit> {
  const { hub, state } = scene
  const { found, retryAfterMs } = await session(scene, async one => {
    const before = await readOrder(one, state)
    const found = before.status === 'ready' ? await one.finalize(before, state.csr!) : before
    return { found, retryAfterMs: one.retryAfterMs() }
  })
  if (found.status === 'valid') return async () => ({ result: next(state, { step: 'store' }, { step: 'store', progress: 90 }) })
  if (found.status === 'invalid') throw rejected(`The certificate authority rejected the request. ${found.error?.detail ?? ''}`)
  refuseLate(scene, 'issue the certificate')
  return async () => ({ result: next(state, {}, { at: pollAt(hub.clock.now(), retryAfterMs) }) })
}

async function store(scene: Scene): Promise<Commit> {
  const { hub, row, account, work, state } = scene
  const pem = await session(scene, async one => await one.certificate(await readOrder(one, state)))
  const issued = checkIssued(pem, row.names, parseCsr(state.csr!).spki, hub.clock.now())
  const hasRenewalInfo = await withAccount(
    hub,
    account,
    async (context, access) => (await readDirectory(context, access)).renewalInfoUrl !== null,
  )
  return async tx => {
    const consequences = await withdraw(tx, changerOf(hub, row.workspaceId, work.actor), row.id)
    const current = await lockManaged(tx, row.id)
    if (!current) return { ...consequences, result: { failed: new Problem('not_found', 'The managed certificate was deleted.') } }
    const keySealed = current.nextKeySealed && (await moveKey(tx, hub, current))
    const { stored, events } = await storeIssued(tx, hub, current, issued, { keySealed, hasRenewalInfo, accountId: account.id })
    const audit = {
      ...{ workspaceId: row.workspaceId, action: issuing.audit, actor: work.actor, context: jobContext },
      targets: [targetOf(managedRows, row), { type: 'action', id: work.actionId, name: issuing.type }],
      ...{ before: managedView(current), after: managedView(stored) },
    }
    return {
      ...consequences,
      events: [...(consequences.events ?? []), ...events],
      audits: [...(consequences.audits ?? []), audit],
      result:
        row.keyMode === 'agent'
          ? next(
              state,
              { step: 'deliver', deadline: hub.clock.now() + agentMs, commandId: null },
              { step: 'deliver', progress: 95 },
            )
          : { done: { not_after: new Date(stored.notAfter!).toISOString() } },
    }
  }
}

/** Seals the key of the order again, because a sealed value belongs to its column. */
async function moveKey(tx: Parameters<Commit>[0], hub: Hub, row: ManagedCertificateRow): Promise<string> {
  const opened = await hub.keys.open(sealedIn(managedCertificates, row, 'next_key_sealed'), row.nextKeySealed!, tx)
  return await hub.keys.seal(tx, sealedIn(managedCertificates, row, 'key_sealed'), opened)
}

const steps: Record<IssueState['step'], (scene: Scene) => Promise<Commit>> = {
  ...{ check, order, publish, wait, validate, key, finalize, store, deliver },
}
